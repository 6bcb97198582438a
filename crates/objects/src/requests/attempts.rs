//! Attempts: which failures are tried again, when, and how long.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::SemaphorePermit;
use tokio::time::sleep;

use super::answer::{Advice, Failure};
use super::hosts::Host;
use super::meter::Meter;
use crate::environment::Settings;
use crate::{Error, ErrorKind, Result};

/// The maximum number of attempts if access may be denied.
const MAX_DOUBTFUL: u32 = 3;

/// The maximum number of attempts to connect to a host that was never reached: its name is probably
/// wrong.
const MAX_UNREACHED: u32 = 4;

/// The attempts of one request. They end after the timeout of the [`Settings`] without progress.
pub(crate) struct Attempts<'a> {
    host: &'a Arc<Host>,
    settings: &'a Settings,
    /// The name of the object, for messages.
    name: PathBuf,
    /// What to do if access is denied.
    advice: &'static str,
    /// The kind of an error without another kind.
    kind: ErrorKind,
    /// The number of this attempt since the last progress, from 1.
    number: u32,
    /// Held from the first attempt on.
    permit: Option<SemaphorePermit<'a>>,
    meter: Arc<Meter>,
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
            permit: None,
            meter: Arc::new(Meter::new(settings.timeout)),
        }
    }

    /// The same for a request that writes.
    pub(crate) fn for_writing(self) -> Attempts<'a> {
        Attempts {
            kind: ErrorKind::Write,
            ..self
        }
    }

    /// The progress of the request.
    pub(crate) fn meter(&self) -> Arc<Meter> {
        Arc::clone(&self.meter)
    }

    /// Waits until the next attempt may begin.
    pub(crate) async fn begin(&mut self) {
        self.number += 1;
        match self.permit {
            Some(_) => self.host.pass_pause().await,
            None => {
                self.permit = self.host.enter().await;
                self.meter.restart();
                self.host.watch(&self.meter);
            }
        }
    }

    /// Waits after a failed attempt.
    ///
    /// # Errors
    /// The failure, if it is final, or if there will have been no progress for too long.
    pub(crate) async fn failed(&mut self, failure: Failure) -> Result<()> {
        if self.meter.take_progress() {
            self.number = 1;
        }
        let wait = self.wait();
        if !matches!(failure, Failure::Unreachable { .. }) {
            self.host.reached();
        }
        match failure {
            Failure::Final {
                kind,
                detail,
                advice,
            } => Err(self.error(kind, &detail, advice)),
            Failure::Missing { detail } if self.kind == ErrorKind::Write => {
                Err(self.error(ErrorKind::Write, &detail, Advice::None))
            }
            Failure::Missing { detail } => {
                let cause = io::Error::new(io::ErrorKind::NotFound, detail);
                let error = Error::new(ErrorKind::Read, "does not exist");
                Err(error.in_file(&self.name).caused_by(cause))
            }
            Failure::Slow {
                detail,
                after,
                is_doubtful,
            } => {
                if is_doubtful && !self.host.limits_clients() && self.number >= MAX_DOUBTFUL {
                    return Err(self.error(ErrorKind::Read, &detail, Advice::Access));
                }
                if let Some(after) = after.filter(|after| *after >= self.meter.left()) {
                    let detail = format!("{detail}; it asks to wait {} s", after.as_secs());
                    return Err(self.error(ErrorKind::Read, &detail, Advice::None));
                }
                // A server that asks for no wait at all still gets one.
                let min = wait.min(self.settings.first_wait());
                let time = after.map_or(wait, |after| after.max(min));
                let advice = match is_doubtful {
                    true => Advice::Access,
                    false => Advice::None,
                };
                self.check_time(time, &detail, advice)?;
                self.host.pause(time, &detail);
                Ok(())
            }
            Failure::Unreachable { detail } => {
                if self.number >= MAX_UNREACHED && !self.host.was_reached() {
                    let detail = format!("{detail}; check the name of the server and the network");
                    return Err(self.error(ErrorKind::Read, &detail, Advice::None));
                }
                self.check_time(wait, &detail, Advice::None)?;
                sleep(wait).await;
                Ok(())
            }
            Failure::Broken { detail } => {
                self.check_time(wait, &detail, Advice::None)?;
                sleep(wait).await;
                Ok(())
            }
        }
    }

    /// Checks that there is time for another attempt after a wait.
    fn check_time(&self, wait: Duration, detail: &str, advice: Advice) -> Result<()> {
        if wait >= self.meter.left() {
            let seconds = self.settings.timeout.as_secs_f64();
            let detail = format!("{detail}; given up after {seconds} s without progress");
            return Err(self.error(ErrorKind::Read, &detail, advice));
        }
        self.meter.set_reason(detail);
        Ok(())
    }

    fn error(&self, kind: ErrorKind, detail: &str, advice: Advice) -> Error {
        let host = self.host.name();
        let mut message = match kind {
            ErrorKind::Changed => detail.to_owned(),
            _ => {
                let done = match self.kind {
                    ErrorKind::Write => "written",
                    _ => "read",
                };
                format!(
                    "cannot be {done} (attempt {}, {host}): {detail}",
                    self.number
                )
            }
        };
        let kind = match kind {
            ErrorKind::Read => self.kind,
            kind => kind,
        };
        let advice = match advice {
            Advice::None => "",
            Advice::Access => self.advice,
            Advice::LargerParts => "this store wants larger parts: unset SIMTOOL_PART_BYTES",
        };
        if !advice.is_empty() {
            message.push_str("; ");
            message.push_str(advice);
        }
        Error::new(kind, message).in_file(&self.name)
    }

    /// The wait after this attempt: twice that of the previous one, varied at random by half, so
    /// that requests that failed together do not return together.
    fn wait(&self) -> Duration {
        let doublings = self.number.saturating_sub(1).min(20);
        let whole = self.settings.first_wait().saturating_mul(1 << doublings);
        let whole = whole.min(self.settings.max_wait());
        let random = RandomState::new().hash_one(doublings) >> 11;
        whole.mul_f64(0.5 + random as f64 / (1u64 << 53) as f64)
    }
}
