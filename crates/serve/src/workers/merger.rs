//! Threads that merge segments, so that additions do not wait for merges.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use simtool_batch::seen::Seen;
use simtool_core::Result;
use simtool_core::threads::start;

/// The most documents of a merge for each thread: one merges small segments as they appear, the
/// other one segments of any size.
const MAX_DOCUMENTS: [u64; 2] = [1 << 22, u64::MAX];
/// The interval of the checks for segments to merge.
const PAUSE: Duration = Duration::from_millis(500);
/// The pause after a failure: the disk may be full.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(30);

/// The threads.
pub struct Merger {
    ended: Arc<(Mutex<bool>, Condvar)>,
}

impl Merger {
    /// Starts the threads; none if the index is open for reading only.
    pub fn start(seen: &Arc<Seen>) -> Result<Merger> {
        let merger = Merger {
            ended: Arc::default(),
        };
        if seen.index().info().read_only {
            return Ok(merger);
        }
        for most in MAX_DOCUMENTS {
            let (seen, ended) = (Arc::clone(seen), Arc::clone(&merger.ended));
            start("merger", move || work(&seen, most, &ended))?;
        }
        Ok(merger)
    }
}

/// Starts no more merges. A merge under way ends with the process: its segment is not listed yet,
/// and nothing is lost.
impl Drop for Merger {
    fn drop(&mut self) {
        *self.ended.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.ended.1.notify_all();
    }
}

fn work(seen: &Seen, most_documents: u64, (ended, wake): &(Mutex<bool>, Condvar)) {
    loop {
        let merged = || seen.index().merge(most_documents);
        let pause = match catch_unwind(AssertUnwindSafe(merged)) {
            Ok(Ok(true)) => Duration::ZERO,
            Ok(Ok(false)) => PAUSE,
            // The index records the error; a panic prints its message.
            Ok(Err(_)) | Err(_) => PAUSE_AFTER_FAILURE,
        };
        let ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = wake.wait_timeout_while(ended, pause, |ended| !*ended);
        if *waited.unwrap_or_else(PoisonError::into_inner).0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::test_service::{TestService, addition, run, until};

    #[test]
    fn segments_are_merged_in_the_background() {
        run(async {
            let mut trial = TestService::new();
            trial.options.seal_documents = 4;
            let service = trial.service();
            let segments = || service.seen.index().info().segments.len();
            for number in 0..36 {
                let one = addition(&format!("page {number}"), number << 7);
                service.writer.add(vec![one], None).await.unwrap();
            }
            until("few segments", || segments() < 8).await;
            assert_eq!(service.seen.index().info().trouble, None);
        });
    }
}
