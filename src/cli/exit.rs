//! How the process ends.

use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::process::ExitCode;

use simtool::{Error, ErrorKind, Result, corpus};

use super::message;

/// An error; nothing was published.
const FAILED: u8 = 2;
/// Published, but some of the input was skipped.
const SKIPPED: u8 = 3;
/// Stopped by a signal.
pub const INTERRUPTED: u8 = 130;

/// How a command ends that succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// With everything.
    Complete,
    /// With all but some of the input, which is listed in the output.
    Skipped,
}

/// Runs the command; what goes wrong becomes a message and an exit code, a panic too.
pub fn with(command: impl FnOnce() -> Result<Finish>) -> ExitCode {
    panic::set_hook(Box::new(|info| {
        if let Some(text) = internal_error(info) {
            message::error(&text);
        }
    }));
    // What a panic leaves behind is dropped, never looked at.
    match panic::catch_unwind(AssertUnwindSafe(command)) {
        Ok(Ok(Finish::Complete)) => ExitCode::SUCCESS,
        Ok(Ok(Finish::Skipped)) => ExitCode::from(SKIPPED),
        Ok(Err(error)) => {
            message::error(&error.to_string());
            ExitCode::from(code(&error))
        }
        Err(_) => ExitCode::from(FAILED),
    }
}

/// What to say of a panic; nothing if it becomes an error of a damaged document.
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

    #[test]
    fn a_panic_is_an_error() {
        let code = with(|| panic!("on purpose"));
        let _ = panic::take_hook();
        assert_eq!(code, ExitCode::from(FAILED));
    }

    #[test]
    fn interruption_has_its_own_code() {
        assert_eq!(code(&Error::new(ErrorKind::Interrupted, "")), 130);
        assert_eq!(code(&Error::new(ErrorKind::Write, "")), 2);
    }
}
