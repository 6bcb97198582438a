//! Panics of the decoder become errors.

use std::fmt::Display;

use crate::corpus::contained::contained;

/// What `work` returns, or what went wrong with it, a panic included.
///
/// What `work` holds must not be used after an error.
pub(super) fn contain<T, E: Display>(work: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    match contained(work) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(error.to_string()),
        Err(panic) => {
            let message = panic.downcast_ref::<String>().map(String::as_str);
            let message = message.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(format!(
                "the decoder gave up: {}",
                message.unwrap_or("no reason given")
            ))
        }
    }
}
