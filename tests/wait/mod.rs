//! Waiting for another process.

use std::time::{Duration, Instant};

/// Waits until `is_met`, for a minute at most.
pub fn wait_until(what: &str, mut is_met: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_met() {
        let elapsed = begin.elapsed();
        assert!(elapsed < Duration::from_secs(60), "waited for {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
