//! After a power loss, everything that was acknowledged is there, and no file is torn.
//!
//! The disk of these tests loses all or part of the data that was not synced; see [`disk`]. Each
//! scenario also runs on a disk that ignores some syncs, and has to fail there.

mod dedup;
mod disk;
mod files;
mod index;

use disk::{Disk, Loss, Point};

/// Runs `check` on possible states after a power loss at each of the disk's points: without all
/// unsynced data, without all unsynced contents, and `turns` - 1 times without a random part of it.
/// Returns the errors.
fn failures(
    disk: &Disk,
    turns: u64,
    check: impl Fn(&Point, &std::path::Path) -> Result<(), String>,
) -> Vec<String> {
    let mut failures = Vec::new();
    for (number, point) in disk.points().iter().enumerate() {
        let random = (1..turns).map(|turn| Loss::Random(number as u64 * 1000 + turn));
        for loss in [Loss::All, Loss::Contents].into_iter().chain(random) {
            let temporary = tempfile::tempdir().unwrap();
            let root = temporary.path().join("root");
            point.materialise(loss, &root);
            if let Err(what) = check(point, &root) {
                failures.push(format!("{loss:?} at {}: {what}", point.what));
            }
        }
    }
    failures
}
