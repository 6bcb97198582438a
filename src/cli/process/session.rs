//! The run of a command: progress and timings on standard error, and its end by a signal.

use std::sync::Arc;
use std::time::{Duration, Instant};

use simtool::Result;
use simtool::corpus::Source;
use simtool::engine::Progress;
use simtool::io::remote::Client;

use super::interrupt::{Stoppable, stoppable};
use crate::cli::screen::log::Log;
use crate::cli::screen::timings;
use crate::cli::screen::watch::Watch;

/// The run of a command, from its start.
pub struct Session {
    begin: Instant,
    /// How the command reports.
    pub log: Log,
    /// What the job has done.
    pub progress: Arc<Progress>,
    /// Its requests to servers.
    pub client: Client,
    /// Inputs in memory: an input with the path of one of these is not a file.
    pub rows: Vec<Source>,
}

/// Shows the progress of a run, and lets the first signal stop it, until it is dropped.
pub struct Running {
    _watch: Watch,
    _stoppable: Stoppable,
}

impl Session {
    /// Starts the clock of a command that reports in the form of `log`, and asks servers by `client`.
    pub fn new(log: Log, client: &Client) -> Session {
        Session {
            begin: Instant::now(),
            log,
            progress: Arc::new(Progress::new()),
            client: client.clone(),
            rows: Vec::new(),
        }
    }

    /// A session that reports nothing, for a caller that watches `progress`, which has the inputs `rows`
    /// in memory.
    pub fn silent(progress: &Arc<Progress>, client: &Client, rows: &[Source]) -> Session {
        Session {
            progress: Arc::clone(progress),
            rows: rows.to_vec(),
            ..Session::new(Log::SILENT, client)
        }
    }

    /// Starts showing progress, after the text `plan`; the first signal stops the run.
    ///
    /// # Errors
    /// Errors of [`Watch::start`].
    pub fn start(&self, plan: Option<String>) -> Result<Running> {
        Ok(Running {
            _stoppable: stoppable(&self.progress, &self.client),
            _watch: Watch::start(&self.progress, &self.client, self.log, plan)?,
        })
    }

    /// Runs `job` with progress; the first signal stops it.
    ///
    /// # Errors
    /// Errors of `job` and of [`start`](Self::start).
    pub fn run<T>(&self, job: impl FnOnce(&Progress) -> Result<T>) -> Result<T> {
        let _running = self.start(None)?;
        job(&self.progress)
    }

    /// The time since the start of the command.
    pub fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }

    /// Writes the timings of the stages, if they are `requested`.
    pub fn report_timings(&self, requested: bool) {
        if requested {
            timings::write(&self.progress.finished(), self.elapsed(), self.log.form);
        }
    }
}
