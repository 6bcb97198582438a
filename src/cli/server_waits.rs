//! Tells of waits for servers while no progress is shown.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use simtool::io::remote;
use simtool::{Result, threads};

use super::message;

/// The interval between looks at the waits.
const INTERVAL: Duration = Duration::from_millis(100);

/// Tells each wait once, when it begins.
#[derive(Default)]
pub struct Waits {
    is_waiting: bool,
}

impl Waits {
    /// Writes a message about each server that asked for fewer requests since the last call.
    pub fn tell(&mut self) {
        let waits = remote::waits();
        for wait in waits.iter().filter(|_| !self.is_waiting) {
            message::say(wait);
        }
        self.is_waiting = !waits.is_empty();
    }
}

/// Does `work`, which shows no progress; tells of its waits if it asks servers.
///
/// # Errors
/// Those of `work`, and of a thread that cannot be started.
pub fn telling_waits<T>(asks_servers: bool, work: impl FnOnce() -> Result<T>) -> Result<T> {
    if !asks_servers {
        return work();
    }
    thread::scope(|scope| {
        let (end, ended) = mpsc::channel::<()>();
        threads::start_scoped(scope, "waits", move || {
            let mut waits = Waits::default();
            while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                waits.tell();
            }
        })?;
        let result = work();
        drop(end);
        result
    })
}
