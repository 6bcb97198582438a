//! The attempts of a request: which failures are tried again, and after which wait.
//!
//! This is the only such loop: those of the libraries are switched off.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::SemaphorePermit;
use tokio::time::sleep;

use crate::answer::{Failure, MOST_RETRY_AFTER};
use crate::environment::Settings;
use crate::hosts::Host;
use crate::{Error, ErrorKind, Result};

/// The most attempts without any progress.
const MOST_ATTEMPTS: u32 = 10;
/// The most attempts if access may be denied.
const MOST_DOUBTFUL: u32 = 3;

/// The most attempts to connect to a host that was never reached: its name is probably wrong.
const MOST_UNREACHED: u32 = 4;

/// The attempts of one request.
pub(crate) struct Attempts<'a> {
    host: &'a Arc<Host>,
    settings: &'a Settings,
    /// The name of the object, for messages.
    name: PathBuf,
    /// What to do if access is denied.
    advice: &'static str,
    /// The kind of an error without another kind.
    kind: ErrorKind,
    number: u32,
}

impl<'a> Attempts<'a> {
    pub(crate) fn new(
        host: &'a Arc<Host>,
        settings: &'a Settings,
        name: PathBuf,
        advice: &'static str,
    ) -> Attempts<'a> {
        Attempts {
            host,
            settings,
            name,
            advice,
            kind: ErrorKind::Read,
            number: 0,
        }
    }

    /// The same for a request that writes.
    pub(crate) fn for_writing(self) -> Attempts<'a> {
        Attempts {
            kind: ErrorKind::Write,
            ..self
        }
    }

    /// Waits until the next attempt may begin. The result is held during the attempt.
    pub(crate) async fn begin(&mut self) -> Option<SemaphorePermit<'a>> {
        self.number += 1;
        self.host.enter().await
    }

    /// Waits after a failed attempt.
    ///
    /// # Errors
    /// The failure, if it is final or there were enough attempts.
    pub(crate) async fn failed(&mut self, failure: Failure) -> Result<()> {
        let wait = self.wait();
        if !matches!(failure, Failure::Unreachable { .. }) {
            self.host.reached();
        }
        match failure {
            Failure::Final { kind, said } => Err(self.error(kind, &said, kind == ErrorKind::Read)),
            Failure::Missing { said } if self.kind == ErrorKind::Write => {
                Err(self.error(ErrorKind::Write, &said, false))
            }
            Failure::Missing { said } => {
                let cause = io::Error::new(io::ErrorKind::NotFound, said);
                let error = Error::new(ErrorKind::Read, "does not exist");
                Err(error.in_file(&self.name).caused_by(cause))
            }
            Failure::Slow {
                said,
                after,
                is_doubtful,
            } => {
                let most = match is_doubtful && !self.host.is_careful() {
                    true => MOST_DOUBTFUL,
                    false => MOST_ATTEMPTS,
                };
                if let Some(after) = after.filter(|after| *after > MOST_RETRY_AFTER) {
                    let said = format!("{said}; it asks to wait {} s", after.as_secs());
                    return Err(self.error(ErrorKind::Read, &said, false));
                }
                if self.number >= most {
                    return Err(self.error(ErrorKind::Read, &said, is_doubtful));
                }
                // A server that asks for no wait at all still gets one.
                let time =
                    after.map_or(wait, |after| after.max(wait.min(self.settings.first_wait)));
                self.host.pause(time, &said);
                Ok(())
            }
            Failure::Unreachable { said } => {
                let is_known = self.host.was_reached();
                if self.number
                    >= if is_known {
                        MOST_ATTEMPTS
                    } else {
                        MOST_UNREACHED
                    }
                {
                    let said = match is_known {
                        true => said,
                        false => format!("{said}; check the name of the server and the network"),
                    };
                    return Err(self.error(ErrorKind::Read, &said, false));
                }
                sleep(wait).await;
                Ok(())
            }
            Failure::Broken { said, has_progress } => {
                if has_progress {
                    self.number = 1;
                }
                if self.number >= MOST_ATTEMPTS {
                    return Err(self.error(ErrorKind::Read, &said, false));
                }
                sleep(wait).await;
                Ok(())
            }
        }
    }

    fn error(&self, kind: ErrorKind, said: &str, is_denied: bool) -> Error {
        let host = self.host.name();
        let mut message = match kind {
            ErrorKind::Changed => said.to_owned(),
            _ => {
                let done = match self.kind {
                    ErrorKind::Write => "written",
                    _ => "read",
                };
                format!("cannot be {done} (attempt {}, {host}): {said}", self.number)
            }
        };
        let kind = match kind {
            ErrorKind::Read => self.kind,
            kind => kind,
        };
        let advice = match said.contains("EntityTooSmall") {
            true => "this store wants larger parts: unset SIMTOOL_PART_BYTES",
            false => self.advice,
        };
        if is_denied && !advice.is_empty() {
            message.push_str("; ");
            message.push_str(advice);
        }
        Error::new(kind, message).in_file(&self.name)
    }

    /// The wait after this attempt: twice that of the previous one, varied at random by half, so
    /// that requests that failed together do not return together.
    fn wait(&self) -> Duration {
        let doublings = self.number.saturating_sub(1).min(20);
        let whole = self.settings.first_wait.saturating_mul(1 << doublings);
        let whole = whole.min(self.settings.longest_wait);
        let random = RandomState::new().hash_one(doublings) >> 11;
        whole.mul_f64(0.5 + random as f64 / (1u64 << 53) as f64)
    }
}
