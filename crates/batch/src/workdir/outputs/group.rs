//! Outputs that are published together.
//!
//! ```text
//! directories ─► temporary files ─► record ─► names ─► syncs of directories
//!  made, and      written and        one       one      in parallel
//!  recorded by    synced in          append    after
//!  one append     parallel                     another
//! ```
//!
//! The promise is that of a file that is published alone: what has its final name is complete, durable
//! and recorded. A file costs a sync of its own, at the same time as others, instead of three in a row.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::output_files::Outputs;
use crate::Result;
use simtool_engine::Progress;
use simtool_files::AtomicFile;

/// The most files of a group.
const MOST_FILES: usize = 1024;
/// The most bytes of a group in memory.
const MOST_HELD_BYTES: usize = 8 << 20;

/// Outputs that are complete and not published yet. Dropping the group removes them.
pub struct OutputGroup<'a> {
    outputs: &'a Outputs,
    progress: &'a Progress,
    held: Mutex<HeldFiles>,
}

/// Files in memory.
#[derive(Default)]
struct HeldFiles {
    files: Vec<AtomicFile>,
    bytes: usize,
}

impl<'a> OutputGroup<'a> {
    /// An empty group.
    pub fn new(outputs: &'a Outputs, progress: &'a Progress) -> OutputGroup<'a> {
        OutputGroup {
            outputs,
            progress,
            held: Mutex::default(),
        }
    }

    /// Adds a file that [`Outputs::create_later`] made. Publishes the group if it is large. A file that
    /// is too large to be held in memory is published alone, as it has a descriptor.
    ///
    /// # Errors
    /// Errors of [`publish`](OutputGroup::publish).
    pub fn add(&self, file: AtomicFile) -> Result<()> {
        if file.is_open() {
            return self.outputs.publish(vec![file], self.progress);
        }
        let mut held = self.held();
        held.bytes += file.held_bytes();
        held.files.push(file);
        match held.files.len() >= MOST_FILES || held.bytes >= MOST_HELD_BYTES {
            true => self.publish_held(&mut held),
            false => Ok(()),
        }
    }

    /// Publishes the files that were added since the last time.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write) naming a file that could not be written, or a
    /// file of the user that has the name of one; then none of the files is published.
    /// [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
    pub fn publish(&self) -> Result<()> {
        self.publish_held(&mut self.held())
    }

    fn held(&self) -> MutexGuard<'_, HeldFiles> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes one group at a time: each opens several files at once.
    fn publish_held(&self, held: &mut HeldFiles) -> Result<()> {
        let HeldFiles { files, .. } = std::mem::take(held);
        self.outputs.publish(files, self.progress)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::io::Write;
    use std::path::{Path, PathBuf};
    use std::sync::{Arc, Mutex};

    use serde_json::json;

    use super::*;
    use crate::ErrorKind;
    use crate::workdir::outputs::output_state::StartOptions;
    use crate::workdir::{Opened, Work};
    use simtool_files::Faults;
    use simtool_files::output::BUFFER_BYTES;

    type Counts = Arc<Mutex<BTreeMap<String, usize>>>;

    /// A work directory in `out`, and the number of changes of each kind.
    fn open(out: &Path) -> (Work, Counts) {
        let counts = Counts::default();
        let counted = Arc::clone(&counts);
        let faults = Faults::decided_by(move |operation, _| {
            let mut counts = counted.lock().unwrap();
            *counts.entry(format!("{operation:?}")).or_default() += 1;
            Ok(())
        });
        let opened = Work::open(out, &json!({}), StartOptions::default(), &faults).unwrap();
        let Opened::Unfinished(work) = opened else {
            panic!("finished");
        };
        counts.lock().unwrap().clear();
        (work, counts)
    }

    fn add(group: &OutputGroup<'_>, path: &Path, bytes: &[u8]) -> Result<()> {
        let mut file = group.outputs.create_later(path);
        file.write_all(bytes).unwrap();
        group.add(file)
    }

    /// The number of appends to the record and of syncs depends on groups and directories, not on files.
    /// Promise (Deduplication): Small files are published in groups with the promise of single
    /// ones: after a kill at any change and after a power loss, each is complete or written again;
    /// one that cannot be published prevents the others of its group
    #[test]
    fn many_files_share_records_and_syncs() {
        let out = tempfile::tempdir().unwrap();
        let (work, counts) = open(out.path());
        let progress = Progress::new();
        let name = |number: usize| -> PathBuf { format!("kept/{}/x/{number}", number % 3).into() };
        let group = OutputGroup::new(work.outputs(), &progress);
        let files = 2 * MOST_FILES + 10;
        for number in 0..files {
            let path = out.path().join(name(number));
            add(&group, &path, number.to_string().as_bytes()).unwrap();
        }
        let path = out.path().join("kept/large");
        add(&group, &path, &vec![7; 3 * BUFFER_BYTES]).unwrap();
        group.publish().unwrap();
        let counts = counts.lock().unwrap();
        assert_eq!((counts["Create"], counts["Rename"]), (files + 1, files + 1));
        // The directories, then the files of three groups; the directory of the large file, and itself.
        assert_eq!(counts["Write"], 6);
        assert!(counts["Sync"] < 40, "{counts:?}");
        let written = |name: &Path| work.outputs().is_written(&out.path().join(name));
        for number in 0..files {
            let bytes = fs::read(out.path().join(name(number))).unwrap();
            assert_eq!(bytes, number.to_string().as_bytes());
            assert!(written(&name(number)));
        }
        assert!(written(Path::new("kept/large")));
        let entries = |name: &str| fs::read_dir(out.path().join(name)).unwrap().count();
        let all: usize = (0..3).map(|part| entries(&format!("kept/{part}/x"))).sum();
        assert_eq!((all, entries("kept")), (files, 4));
        work.outputs().verify(&progress).unwrap();
    }

    /// A file of the user, and a run that is stopped.
    /// Promise (Deduplication): Small files are published in groups …
    #[test]
    fn nothing_of_a_group_that_fails_is_published() {
        let out = tempfile::tempdir().unwrap();
        let (work, _) = open(out.path());
        let progress = Progress::new();
        let path = |number: usize| out.path().join(format!("kept/{number}"));
        let filled = || {
            let group = OutputGroup::new(work.outputs(), &progress);
            (0..9).for_each(|number| add(&group, &path(number), b"1").unwrap());
            group
        };
        let group = filled();
        fs::create_dir(out.path().join("kept")).unwrap();
        fs::write(path(5), "mine").unwrap();
        let error = group.publish().unwrap_err();
        assert_eq!(error.file(), Some(&*path(5)), "{error}");
        fs::remove_file(path(5)).unwrap();
        let group = filled();
        progress.stop();
        assert_eq!(group.publish().unwrap_err().kind(), ErrorKind::Interrupted);
        assert_eq!(fs::read_dir(out.path().join("kept")).unwrap().count(), 0);
    }
}
