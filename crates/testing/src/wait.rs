//! Waiting for another process.

use std::time::{Duration, Instant};

/// The time after which a condition counts as one that will not be met. A slow machine needs a small
/// part of it.
const HANGS: Duration = Duration::from_secs(1800);

/// Waits until `is_met`.
pub fn wait_until(what: &str, mut is_met: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_met() {
        assert!(begin.elapsed() < HANGS, "waited for {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
