//! The progress of a request, which decides how long its server may take.

use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::answer::Failure;

/// The minimum rate of a server, in bytes a second: less is no progress.
pub(crate) const MIN_RATE: u64 = 1024;

/// The time since the last progress of a request, over all its attempts.
///
/// Bytes are progress as soon as they are at least [`MIN_RATE`] for each second since the progress
/// before them.
pub(crate) struct Meter {
    timeout: Duration,
    state: Mutex<MeterState>,
}

struct MeterState {
    /// The time of the last progress.
    last: Instant,
    /// The bytes since then.
    bytes: u64,
    /// Whether there was progress since it was [taken](Meter::take_progress).
    has_progress: bool,
    /// Why there is none.
    reason: String,
}

impl Meter {
    /// A meter of a request that begins now, and is given up after `timeout` without progress.
    pub(crate) fn new(timeout: Duration) -> Meter {
        Meter {
            timeout,
            state: Mutex::new(MeterState {
                last: Instant::now(),
                bytes: 0,
                has_progress: false,
                reason: "no answer".to_owned(),
            }),
        }
    }

    /// Starts the clock again.
    pub(crate) fn restart(&self) {
        let mut state = self.state();
        (state.last, state.bytes) = (Instant::now(), 0);
    }

    /// Counts bytes that arrived.
    pub(crate) fn received(&self, bytes: usize) {
        let mut state = self.state();
        state.bytes += bytes as u64;
        let now = Instant::now();
        let expected = MIN_RATE as f64 * (now - state.last).as_secs_f64();
        if state.bytes as f64 >= expected {
            (state.last, state.bytes, state.has_progress) = (now, 0, true);
        }
    }

    /// Whether there was progress since the last call.
    pub(crate) fn take_progress(&self) -> bool {
        std::mem::take(&mut self.state().has_progress)
    }

    /// The time since the last progress.
    pub(crate) fn elapsed(&self) -> Duration {
        self.state().last.elapsed()
    }

    /// The time without progress that is left.
    pub(crate) fn left(&self) -> Duration {
        self.timeout.saturating_sub(self.elapsed())
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Why there is no progress.
    pub(crate) fn reason(&self) -> String {
        let state = self.state();
        match state.bytes {
            0 => state.reason.clone(),
            _ => format!("it sends less than {MIN_RATE} bytes a second"),
        }
    }

    pub(crate) fn set_reason(&self, reason: &str) {
        reason.clone_into(&mut self.state().reason);
    }

    /// The result of `work`.
    ///
    /// # Errors
    /// Errors of `work`; [`Failure::Broken`] as soon as the time without progress is over.
    pub(crate) async fn within<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let mut work = pin!(work);
        loop {
            let end = self.end();
            match timeout_at(end, &mut work).await {
                Ok(result) => return result,
                Err(_) if self.end() > end => {}
                Err(_) => return Err(Failure::broken(self.silence())),
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, MeterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self) -> Instant {
        self.state().last + self.timeout
    }

    fn silence(&self) -> String {
        let (state, seconds) = (self.state(), self.timeout.as_secs_f64());
        match state.bytes {
            0 => format!("the server sent nothing for {seconds} s"),
            bytes => format!(
                "the server is too slow: it sent {bytes} bytes in {seconds} s, less than {MIN_RATE} \
                 bytes a second"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{advance, sleep};

    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(60);

    /// The result of a transfer of `bytes` bytes every `interval`.
    async fn transfer(bytes: usize, interval: Duration) -> (Result<(), Failure>, Duration) {
        let (meter, begin) = (Meter::new(TIMEOUT), Instant::now());
        let receive = async {
            for _ in 0..1000 {
                sleep(interval).await;
                meter.received(bytes);
            }
            Ok(())
        };
        (meter.within(receive).await, begin.elapsed())
    }

    /// Promise (Inputs on servers): A server without progress for a minute …
    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn only_transfers_below_the_minimum_rate_are_given_up() {
        let second = Duration::from_secs(1);
        for (bytes, interval, is_slow) in [
            (1024, second, false),
            (1023, second, true),
            (1, second / 2, true),
            (60 << 10, 59 * second, false),
            (70 << 10, 61 * second, true),
            (16 << 10, second / 100, false),
        ] {
            let (result, time) = transfer(bytes, interval).await;
            assert_eq!(result.is_err(), is_slow, "{bytes} bytes every {interval:?}");
            assert!(!is_slow || time == TIMEOUT, "{time:?}");
        }
    }

    #[tokio::test(flavor = "current_thread", start_paused = true)]
    async fn progress_starts_the_clock_again() {
        let meter = Meter::new(TIMEOUT);
        advance(TIMEOUT / 2).await;
        meter.received(10);
        assert!(!meter.take_progress());
        assert_eq!(meter.left(), TIMEOUT / 2);
        meter.received(1 << 20);
        assert!(meter.take_progress() && !meter.take_progress());
        assert_eq!(meter.left(), TIMEOUT);
    }
}
