//! Reports of waits for servers.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use clap::ArgMatches;
use simtool::io::remote::Client;
use simtool::{Result, threads};

use crate::cli::process::machine;
use crate::cli::screen::message;

/// The memory for listings of servers, if no flag bounds that of the command.
const MAX_LISTING_BYTES: u64 = 4 << 30;

/// Prepares a client: users are notified of servers that make no progress, and listings take no more
/// memory than the flags `matches` allow.
pub fn set(client: &Client, matches: &ArgMatches) {
    client.set_notify(message::notify);
    let memory = matches.try_get_one::<u64>("memory").ok().flatten().copied();
    // Looking for the memory takes time, and most commands list nothing.
    let usual = || machine::half_of_memory().min(MAX_LISTING_BYTES);
    client.set_listing_bytes(move || memory.unwrap_or_else(usual));
}

/// The interval between looks at the waits.
const INTERVAL: Duration = Duration::from_millis(100);

/// Tells each wait once, when it begins.
#[derive(Default)]
pub struct Waits {
    is_waiting: bool,
}

impl Waits {
    /// Writes a message about each server that asked for fewer requests since the last call.
    pub fn tell(&mut self, client: &Client) {
        let waits = client.waits();
        for wait in waits.iter().filter(|_| !self.is_waiting) {
            message::say(wait);
        }
        self.is_waiting = !waits.is_empty();
    }
}

/// Does `work`, which shows no progress; reports the waits of `client` if it asks servers.
///
/// # Errors
/// Errors of `work`, and of a thread that cannot be started.
pub fn report_waits<T>(
    client: &Client,
    asks_servers: bool,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    if !asks_servers {
        return work();
    }
    thread::scope(|scope| {
        let (end, ended) = mpsc::channel::<()>();
        threads::start_scoped(scope, "waits", move || {
            let mut waits = Waits::default();
            while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                waits.tell(client);
            }
        })?;
        let result = work();
        drop(end);
        result
    })
}
