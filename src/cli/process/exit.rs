//! Exit codes of the process.

use std::panic::{self, AssertUnwindSafe, PanicHookInfo};

use simtool::{Error, ErrorKind, Result, corpus};

use crate::cli::screen::message;

/// An error.
const FAILED: u8 = 2;
/// Complete, but more of the input was skipped than is allowed.
const SKIPPED: u8 = 3;
/// Stopped by a signal.
pub const INTERRUPTED: u8 = 130;

/// The result of a successful command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// All input was used, or no more was skipped than `--max-skipped` allows.
    Complete,
    /// More input was skipped than is allowed, by default none.
    Skipped,
}

impl Finish {
    /// The result of a command that skipped this number of documents.
    pub fn of_skipped(documents: u64) -> Finish {
        match documents {
            0 => Finish::Complete,
            _ => Finish::Skipped,
        }
    }
}

/// Runs the command; errors and panics become a message and an exit code.
pub fn with(command: impl FnOnce() -> Result<Finish>) -> u8 {
    panic::set_hook(Box::new(|info| {
        if let Some(text) = internal_error(info) {
            message::error(&text);
        }
    }));
    // Data that a panic leaves incomplete is dropped, never used.
    match panic::catch_unwind(AssertUnwindSafe(command)) {
        Ok(Ok(Finish::Complete)) => 0,
        Ok(Ok(Finish::Skipped)) => SKIPPED,
        Ok(Err(error)) => {
            message::error(&error.to_string());
            code(&error)
        }
        Err(_) => FAILED,
    }
}

/// The message for a panic; `None` if it becomes an error of a damaged document.
fn internal_error(panic: &PanicHookInfo<'_>) -> Option<String> {
    let is_internal = !corpus::is_contained();
    is_internal.then(|| format!("internal error, please report it: {panic}"))
}

fn code(error: &Error) -> u8 {
    match error.kind() {
        ErrorKind::Interrupted => INTERRUPTED,
        _ => FAILED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Promise (Errors and interruptions): A panic is an error with code 2, not a result
    #[test]
    fn a_panic_is_an_error() {
        let code = with(|| panic!("on purpose"));
        let _ = panic::take_hook();
        assert_eq!(code, FAILED);
    }

    #[test]
    fn interruption_has_its_own_code() {
        assert_eq!(code(&Error::new(ErrorKind::Interrupted, "")), 130);
        assert_eq!(code(&Error::new(ErrorKind::Write, "")), 2);
    }
}
