//! Ctrl-C and a polite end (SIGTERM): first cleanly, then at once.

use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use simtool::run::Progress;
use simtool::{Error, ErrorKind, Result};

use super::exit;

/// The run that the next signal stops. Without one, a signal ends the process at once: nothing
/// with a name is being written then.
static RUNNING: Mutex<Option<Arc<Progress>>> = Mutex::new(None);

/// Listens to SIGINT, SIGTERM and SIGHUP from now on, in a thread of its own.
///
/// Where somebody decided that one of them should be ignored (`nohup`), all stay as they were.
///
/// # Errors
/// [`ErrorKind::Parameter`] if the system refuses.
pub fn install() -> Result<()> {
    match ctrlc::try_set_handler(on_signal) {
        Ok(()) | Err(ctrlc::Error::MultipleHandlers) => Ok(()),
        Err(cause) => Err(Error::new(
            ErrorKind::Parameter,
            format!("signals cannot be listened to: {cause}"),
        )),
    }
}

fn on_signal() {
    match running().take() {
        Some(progress) => progress.stop(),
        None => process::exit(exit::INTERRUPTED.into()),
    }
}

/// While this lives, the first signal stops a run.
pub struct Stoppable(());

/// Lets the first signal stop the run that `progress` belongs to.
pub fn stoppable(progress: &Arc<Progress>) -> Stoppable {
    *running() = Some(Arc::clone(progress));
    Stoppable(())
}

impl Drop for Stoppable {
    fn drop(&mut self) {
        *running() = None;
    }
}

fn running() -> MutexGuard<'static, Option<Arc<Progress>>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}
