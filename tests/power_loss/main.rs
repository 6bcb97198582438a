//! What a loss of power leaves: everything that was acknowledged, and nothing torn.
//!
//! The disk of these tests forgets whatever was not synced, wholly or in part; see [`disk`]. Each
//! scenario is also run on a disk on which some syncs do nothing, and has to notice that.

#![allow(clippy::unwrap_used)]

mod dedup;
mod disk;
#[path = "../dump/documents.rs"]
#[allow(dead_code)]
mod documents;
mod files;
mod index;
#[path = "../index_model/mod.rs"]
mod index_model;
#[path = "../dump/setup.rs"]
#[allow(dead_code)]
mod setup;

use disk::{Disk, Loss, Point};

/// Runs `check` on what a loss of power leaves at each of the disk's points, `turns` times with
/// other parts lost; returns what is wrong.
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
