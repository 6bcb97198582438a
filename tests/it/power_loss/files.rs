//! Files that are replaced atomically.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use simtool::io::{AtomicFile, Faults, directory};

use crate::power_loss::disk::{Disk, Ignored};
use crate::power_loss::failures;

const STEPS: usize = 6;

/// The contents after a step.
fn content(step: usize) -> Vec<u8> {
    vec![step as u8 + 1; 1000 + 700 * step]
}

fn scenario(every: u64, ignored: Ignored) -> Vec<String> {
    let root = tempfile::tempdir().unwrap();
    let names = ["atomic", "small"];
    for name in names {
        fs::write(root.path().join(name), content(0)).unwrap();
    }
    let disk = Disk::new(root.path(), every, ignored);
    for step in 1..STEPS {
        let mut file = AtomicFile::create(&root.path().join("atomic")).unwrap();
        file.write_all(&content(step)).unwrap();
        file.publish().unwrap();
        disk.acknowledge();
        directory::write(
            &root.path().join("small"),
            &content(step),
            &Faults::default(),
        )
        .unwrap();
        disk.acknowledge();
    }
    failures(&disk, 4, |point, root: &Path| {
        for (number, name) in names.into_iter().enumerate() {
            let found = fs::read(root.join(name)).map_err(|error| error.to_string())?;
            // The steps alternate between the files.
            let mut allowed = point.steps().map(|steps| content((steps + 1 - number) / 2));
            if !allowed.any(|content| content == found) {
                return Err(format!("{name} has {} bytes", found.len()));
            }
        }
        Ok(())
    })
}

/// Promise (Complete outputs): After a power loss, an output is either the earlier or the published
/// one; published output is not lost
#[test]
fn a_file_has_its_old_or_its_new_content() {
    assert_eq!(scenario(1, |_| false), Vec::<String>::new());
}

/// Promise (Complete outputs): After a power loss, an output …
#[test]
fn missing_syncs_are_noticed() {
    for ignored in [(|path| path.is_dir()) as Ignored, |path| path.is_file()] {
        assert!(!scenario(1, ignored).is_empty());
    }
}
