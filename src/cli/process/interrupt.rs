//! SIGINT, SIGTERM and SIGHUP: the first stops a run cleanly, the next ends the process.

use std::fs;
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use simtool::engine::Progress;
use simtool::io::remote::Client;
use simtool::{Error, ErrorKind, Result, threads};

use super::exit;

/// The run that the next signal stops. Without a run, a signal ends the process immediately, as no
/// named file is being written.
static RUNNING: Mutex<Option<(Arc<Progress>, Client)>> = Mutex::new(None);

/// Handles SIGINT, SIGTERM and SIGHUP from now on, in a thread of its own.
///
/// A signal that the process was started to ignore stays ignored: `nohup` ignores SIGHUP, and a
/// shell ignores SIGINT of commands in the background.
///
/// # Errors
/// [`ErrorKind::Parameter`] if the system refuses; [`ErrorKind::Memory`] if it does not start a
/// thread.
pub fn install() -> Result<()> {
    let failed =
        |cause| Error::new(ErrorKind::Parameter, "signals cannot be listened to").caused_by(cause);
    let ignored = ignored_signals();
    let is_heard = |signal: &i32| ignored & (1 << (signal - 1)) == 0;
    let heard = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(is_heard);
    let mut signals = Signals::new(heard).map_err(failed)?;
    let listen = move || signals.forever().for_each(|_| on_signal());
    threads::start("signals", listen).map(drop)
}

/// The set of ignored signals: signal n is bit n - 1. It is empty if the system does not report it.
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.unwrap_or_default()
}

fn on_signal() {
    match running().take() {
        Some((progress, client)) => {
            progress.stop();
            client.stop();
        }
        None => process::exit(exit::INTERRUPTED.into()),
    }
}

/// Lets the first signal stop a run until it is dropped.
pub struct Stoppable(());

/// Lets the first signal stop the run of `progress`, and the requests of `client`.
pub fn stoppable(progress: &Arc<Progress>, client: &Client) -> Stoppable {
    *running() = Some((Arc::clone(progress), client.clone()));
    Stoppable(())
}

impl Drop for Stoppable {
    fn drop(&mut self) {
        *running() = None;
    }
}

fn running() -> MutexGuard<'static, Option<(Arc<Progress>, Client)>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}
