//! Merges segments while documents are added, so that nobody who adds waits for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use simtool::run::seen::Seen;
use simtool::{Error, ErrorKind, Result};

/// At most so many documents at a time for one thread, so that it keeps up with what comes in;
/// any number for the other.
const MOST_DOCUMENTS: [u64; 2] = [1 << 22, u64::MAX];
/// How often to look for something to merge.
const PAUSE: Duration = Duration::from_millis(500);
/// How long to wait after a failure: the disk may be full.
const PATIENCE: Duration = Duration::from_secs(30);

/// The threads.
pub struct Merger {
    ended: Arc<(Mutex<bool>, Condvar)>,
}

impl Merger {
    /// Starts the threads; none for an index that is open for reading only.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`] if they cannot be started.
    pub fn start(seen: &Arc<Seen>) -> Result<Merger> {
        let merger = Merger {
            ended: Arc::default(),
        };
        if seen.index().info().read_only {
            return Ok(merger);
        }
        for most in MOST_DOCUMENTS {
            let (seen, ended) = (Arc::clone(seen), Arc::clone(&merger.ended));
            Builder::new()
                .name("merger".into())
                .spawn(move || work(&seen, most, &ended))
                .map_err(|cause| {
                    Error::new(ErrorKind::Memory, "cannot start threads").caused_by(cause)
                })?;
        }
        Ok(merger)
    }
}

/// They begin nothing more. What they have begun ends with the process: the index does not list
/// it yet, and nothing is lost.
impl Drop for Merger {
    fn drop(&mut self) {
        *self.ended.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.ended.1.notify_all();
    }
}

fn work(seen: &Seen, most_documents: u64, (ended, told): &(Mutex<bool>, Condvar)) {
    loop {
        let merged = || seen.index().merge(most_documents);
        let pause = match catch_unwind(AssertUnwindSafe(merged)) {
            Ok(Ok(true)) => Duration::ZERO,
            Ok(Ok(false)) => PAUSE,
            // The index tells why, and a panic is told where it happens.
            Ok(Err(_)) | Err(_) => PATIENCE,
        };
        let ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = told.wait_timeout_while(ended, pause, |ended| !*ended);
        if *waited.unwrap_or_else(PoisonError::into_inner).0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::serve::trial::{Trial, addition, run, until};

    #[test]
    fn segments_become_fewer_by_themselves() {
        run(async {
            let mut trial = Trial::new();
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
