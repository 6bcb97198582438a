//! Conversion of decoder panics to errors.

use std::fmt::Display;

use crate::contained::contained;

/// The result of `work`, or the message of its error or panic.
///
/// State that `work` changed must not be used after an error.
pub(super) fn catch_panic<T, E: Display>(work: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    match contained(work) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(error.to_string()),
        Err(panic) => {
            let message = panic.downcast_ref::<String>().map(String::as_str);
            let message = message.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(format!(
                "the decoder failed: {}",
                message.unwrap_or("no reason given")
            ))
        }
    }
}
