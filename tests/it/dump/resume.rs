//! Killed runs: after a kill at any moment, the same command completes with the same bytes. It changes
//! no file that it did not make.

mod finished;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use simtool::corpus::{Source, discover};
use simtool::engine::Progress;
use simtool::io::{Faults, Operation};
use simtool::jobs::dedup::{DedupJob, DedupSummary, PairForms, WriteMode};
use simtool::jobs::shards::{ShardSettings, WriteFormat};
use simtool::jobs::{Against, BeginOutcome, CheckedJob, Invocation};
use simtool::sketch::registry::Spec;
use simtool::{ErrorKind, Result};

use crate::dump::documents::documents;
use crate::dump::setup::{Form, check, contents, job, resources, walk, write};

const WORK: &str = ".simtool";

/// Three inputs, and a job on them.
struct Case {
    inputs: tempfile::TempDir,
    sources: Vec<Source>,
    job: DedupJob,
}

impl Case {
    /// Many files of one document in nested directories, of which most are duplicates.
    fn with_small_files() -> Case {
        let inputs = tempfile::tempdir().unwrap();
        let all = documents(7, 40);
        for (number, document) in all.iter().enumerate() {
            let directory = inputs.path().join(format!("{}/{}", number % 2, number % 5));
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join(format!("{number}.txt")), &document.text).unwrap();
        }
        let job = DedupJob {
            write: WriteMode::Kept,
            removed: true,
            page: true,
            ..job()
        };
        let sources = discover(&[inputs.path().to_owned()], &[], &job.reading).unwrap();
        Case {
            inputs,
            sources,
            job,
        }
    }

    fn new(job: DedupJob) -> Case {
        let inputs = tempfile::tempdir().unwrap();
        let all = documents(7, 300);
        for (number, form) in [Form::Jsonl, Form::JsonlGzip, Form::JsonlZstd]
            .into_iter()
            .enumerate()
        {
            let path = inputs.path().join(format!("{number}"));
            write(&path, form, &all[number * 100..number * 100 + 100]);
        }
        let paths = [0, 1, 2].map(|number| inputs.path().join(format!("{number}")));
        let sources = discover(&paths, &[], &job.reading).unwrap();
        Case {
            inputs,
            sources,
            job: DedupJob { page: true, ..job },
        }
    }

    /// With corpus statistics, annotated documents and a list of pairs in CSV.
    fn with_statistics() -> Case {
        Case::new(DedupJob {
            method: Spec::parse("simhash:distance=8,stop-words=keep,weights=tf-idf").unwrap(),
            write: WriteMode::Annotated,
            pairs: PairForms {
                csv: true,
                parquet: false,
            },
            ..job()
        })
    }

    /// With several shards of the kept and of the removed documents.
    fn with_shards() -> Case {
        let mut job = DedupJob {
            write: WriteMode::Kept,
            removed: true,
            shards: ShardSettings {
                format: WriteFormat::JsonlZstd,
                bytes: 25_000,
                ..ShardSettings::default()
            },
            ..job()
        };
        job.reading.fields = job.fields();
        Case::new(job)
    }

    /// The output file of an input.
    fn written(&self, number: u32) -> PathBuf {
        let input = self.inputs.path().join(format!("{number}"));
        Path::new("annotated").join(input.strip_prefix("/").unwrap())
    }

    fn invocation<'a>(&'a self, out: &'a Path, restart: bool) -> Invocation<'a> {
        Invocation {
            against: Against::Itself,
            arguments: &[],
            sources: &self.sources,
            left_out: &[],
            also_read: &[],
            out,
            remote: None,
            restart,
        }
    }

    /// Runs the job; the summary, and whether the output was complete before.
    fn run(&self, out: &Path, restart: bool, faults: &Faults) -> Result<(DedupSummary, bool)> {
        self.run_observed(out, restart, faults, &Progress::new())
    }

    /// [`run`](Self::run), which `progress` may stop.
    fn run_observed(
        &self,
        out: &Path,
        restart: bool,
        faults: &Faults,
        progress: &Progress,
    ) -> Result<(DedupSummary, bool)> {
        let mut resources = resources(2, self.inputs.path());
        // A row group of Parquet needs more than the least.
        resources.memory_bytes += 1 << 30;
        let invocation = self.invocation(out, restart);
        let checked = CheckedJob::new(&self.job)?;
        match checked.begin_with_faults(&invocation, &resources, faults)? {
            BeginOutcome::Complete(summary) => Ok((*summary, true)),
            BeginOutcome::Unfinished(run) => Ok((run.run(progress)?, false)),
        }
    }

    /// The files of an undisturbed run.
    fn expected(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let out = tempfile::tempdir().unwrap();
        self.run(out.path(), false, &Faults::default()).unwrap();
        check(out.path());
        contents(out.path())
    }

    /// Runs into `out` until the `nth` `change` of a file for which `matches` holds: that fails, and so
    /// do all later changes.
    fn stop_at(
        &self,
        out: &Path,
        change: Operation,
        nth: u32,
        matches: impl Fn(&Path) -> bool + Send + Sync + 'static,
    ) {
        let count = Mutex::new(0);
        let faults = Faults::decided_by(move |operation, path| {
            let mut count = count.lock().unwrap();
            *count += u32::from(operation == change && matches(path));
            match *count >= nth {
                true => Err(io::Error::other("stopped")),
                false => Ok(()),
            }
        });
        let error = self.run(out, false, &faults).err().unwrap();
        assert!(error.to_string().contains("stopped"), "{error}");
    }

    /// Stops when all documents have been read, before the first reading is marked as complete.
    fn stop_gathering(&self, out: &Path) {
        self.stop_at(out, Operation::Create, 1, |path| path.ends_with("gathered"));
    }

    /// Stops when two of three annotated files have their names.
    fn stop_writing(&self, out: &Path) {
        let is_dump = |path: &Path| path.iter().any(|part| part == "annotated");
        self.stop_at(out, Operation::Rename, 3, is_dump);
    }
}

/// Files of the work directory that grow in place.
const GROWING: [&str; 3] = ["outputs", "segments", "segment-index"];

/// A copy of a directory with hard links to its files, which keep their inodes and times. Files that
/// grow in place are copied. Other threads may change the directory meanwhile: then it is copied again.
fn snapshot(from: &Path, to: &Path) {
    loop {
        let before = files_of(from);
        if copy_files(from, to).is_ok() && files_of(from) == before {
            return;
        }
        fs::remove_dir_all(to).unwrap();
    }
}

/// The names, inodes and lengths of the files in a directory, as far as they exist.
fn files_of(directory: &Path) -> BTreeSet<(PathBuf, u64, u64)> {
    let mut files = BTreeSet::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(files_of(&path));
        } else if let Ok(file) = entry.metadata() {
            files.insert((path, file.ino(), file.len()));
        }
    }
    files
}

fn copy_files(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_files(&path, &target)?;
        } else if from.ends_with(WORK) && GROWING.iter().any(|name| path.ends_with(name)) {
            fs::copy(&path, &target)?;
        } else {
            fs::hard_link(&path, &target)?;
        }
    }
    Ok(())
}

/// Files of the user whose names look like temporary files.
const USER_FILES: [&str; 9] = [
    ".env.sample",
    ".cache.sqlite",
    "sub/.key.secret",
    ".duplicates.jsonl.a1B2c3",
    "annotated/.0.Zz09aa",
    ".simtool-0123456789abcdef-0",
    "annotated/.simtool-0123456789abcdef-1",
    "segments",
    "sketch/0-0",
];
/// The same in the work directory.
const USER_WORK_FILES: [&str; 4] = [
    "notes.txt",
    ".segments.a1B2c3",
    "segments.bak",
    "sketch/.0-0.a1B2c3",
];

/// Creates the files of the user; returns their paths.
fn create_user_files(out: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = USER_FILES.iter().map(|name| out.join(name)).collect();
    let work = out.join(WORK);
    if work.join("job.json").exists() {
        files.extend(USER_WORK_FILES.iter().map(|name| work.join(name)));
    }
    for path in &files {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "mine").unwrap();
    }
    files
}

/// Removes the files of the user, which have to be unchanged.
fn remove_user_files(files: &[PathBuf], what: &str) {
    for path in files {
        let found = fs::read(path).unwrap_or_else(|_| panic!("{what}: {} is gone", path.display()));
        assert_eq!(found, b"mine", "{what}: {}", path.display());
        fs::remove_file(path).unwrap();
    }
}

/// Runs a job into `directory/out`. Before each change it copies the output to `directory/0`,
/// `directory/1`, ...: the state after a kill at that moment. Returns the number of copies.
fn run_with_snapshots(case: &Case, directory: &Path) -> usize {
    let out = directory.join("out");
    let count = Arc::new(Mutex::new(0));
    let faults = {
        let (count, out) = (Arc::clone(&count), out.clone());
        let directory = directory.to_owned();
        Faults::decided_by(move |_, _| {
            let mut count = count.lock().unwrap();
            snapshot(&out, &directory.join(format!("{count}")));
            *count += 1;
            Ok(())
        })
    };
    case.run(&out, false, &faults).unwrap();
    *count.lock().unwrap()
}

/// Promise (Deduplication): A run that is killed just before any change of its output directory
/// resumes to the same bytes. It removes its temporary files, and no file that it did not make,
/// whatever its name
/// Promise (Methods and their evaluation): The bytes of the HTML page …
#[test]
fn a_run_killed_at_any_change_resumes_to_the_same_bytes_and_keeps_files_of_the_user() {
    kill_at_any_change(&Case::with_statistics(), 1);
}

/// Promise (Deduplication): Small files are published in groups …
#[test]
fn a_run_killed_while_it_writes_many_files_resumes_to_the_same_bytes() {
    kill_at_any_change(&Case::with_small_files(), 1);
}

/// A run that is stopped at any change of its output directory makes few further changes, and resumes
/// to the same bytes. In its last steps it completes instead. Of shards and small files, it is stopped
/// at every third change.
/// Promise (Deduplication): A run that is stopped at any change of its output directory makes few
/// further changes, and resumes to the same bytes
#[test]
fn a_run_stopped_at_any_change_ends_after_few_others() {
    for (case, step) in [
        (Case::with_statistics(), 1),
        (Case::with_shards(), 3),
        (Case::with_small_files(), 3),
    ] {
        let expected = case.expected();
        for stop in (0..).step_by(step) {
            let out = tempfile::tempdir().unwrap();
            let progress = Arc::new(Progress::new());
            let changes = Arc::new(Mutex::new(Vec::new()));
            let faults = {
                let (progress, changes) = (Arc::clone(&progress), Arc::clone(&changes));
                Faults::decided_by(move |operation, path| {
                    let mut changes = changes.lock().unwrap();
                    if changes.len() == stop {
                        progress.stop();
                    }
                    changes.push((operation, path.to_owned()));
                    Ok(())
                })
            };
            let result = case.run_observed(out.path(), false, &faults, &progress);
            let changes = changes.lock().unwrap();
            match result {
                Ok(_) => {
                    // The last check is before the summary.
                    let late = changes.get(stop).map(|(_, path)| path.clone());
                    let written = out.path().join("timings.json");
                    let begin = changes.iter().position(|(_, path)| *path == written);
                    assert!(begin.unwrap() <= stop + 4, "{stop}: {late:?}");
                }
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Interrupted, "{stop}: {error}");
                    // Files of a group get their names together.
                    let further = &changes[stop..];
                    let renames = further
                        .iter()
                        .filter(|(done, _)| *done == Operation::Rename);
                    let others = further.len() - renames.count();
                    assert!(others <= 30, "{stop}: {further:?}");
                    case.run(out.path(), false, &Faults::default()).unwrap();
                }
            }
            assert!(contents(out.path()) == expected, "{stop}");
            if changes.len() <= stop {
                break;
            }
        }
    }
}

/// Promise (Deduplication): Shards have the same bytes for …
#[test]
fn a_run_killed_while_it_writes_shards_resumes_to_the_same_bytes() {
    kill_at_any_change(&Case::with_shards(), 1);
}

/// Promise (Deduplication): Shards have the same bytes for …
#[cfg(feature = "parquet")]
#[test]
fn a_run_killed_while_it_writes_tables_resumes_to_the_same_bytes() {
    let mut case = Case::with_shards();
    case.job.shards.format = WriteFormat::Parquet;
    case.job.write = WriteMode::Text;
    kill_at_any_change(&case, 3);
}

/// Resumes after a kill before every change, or before every `step`th.
fn kill_at_any_change(case: &Case, step: usize) {
    let expected = case.expected();
    let temporary = tempfile::tempdir().unwrap();
    let out = temporary.path().join("out");
    let count = run_with_snapshots(case, temporary.path());
    assert_eq!(contents(&out), expected);
    assert!(count > 60, "{count} changes");

    let (mut complete, mut continued) = (0usize, 0usize);
    for number in (0..count).step_by(step) {
        let what = format!("killed before change {number}");
        let left = temporary.path().join(format!("{number}"));
        let user_files = create_user_files(&left);
        // One in five is restarted instead.
        let restart = number % 5 == 4;
        let is_published = left.join("summary.json").exists();
        let (summary, was_complete) = case.run(&left, restart, &Faults::default()).unwrap();
        assert_eq!(was_complete, is_published && !restart, "{what}");
        assert!(summary.dropped() > 0);
        complete += usize::from(was_complete);
        continued += usize::from(!was_complete && !restart);
        // The same command again finds it complete.
        assert!(
            case.run(&left, false, &Faults::default()).unwrap().1,
            "{what}"
        );
        remove_user_files(&user_files, &what);
        let found = contents(&left);
        let names: Vec<_> = found.keys().collect();
        assert!(found == expected, "{what}: other bytes in {names:?}");
        fs::remove_dir_all(left).unwrap();
    }
    assert!(
        complete > 5 / step && continued > 40 / step,
        "{complete} complete, {continued} continued"
    );
}

/// Promise (Deduplication): A resumed run does not repeat decisions, reports and dump files that
/// are complete
#[test]
fn complete_outputs_are_not_written_again() {
    let case = Case::with_statistics();
    let expected = case.expected();
    let out = tempfile::tempdir().unwrap();
    case.stop_writing(out.path());
    let (first, second) = (case.written(0), case.written(1));
    let written = [
        Path::new("duplicates.jsonl"),
        Path::new("duplicates.csv"),
        Path::new("clusters.jsonl"),
        Path::new("page.html"),
        Path::new("skipped.jsonl"),
        &first,
        &second,
    ];
    let files = written.map(|name| fs::File::open(out.path().join(name)).unwrap());
    // A file that the run replaces has no links afterwards.
    let links = |file: &fs::File| file.metadata().unwrap().nlink();
    let resources = resources(1, case.inputs.path());
    let invocation = case.invocation(out.path(), false);
    let checked = CheckedJob::new(&case.job).unwrap();
    let BeginOutcome::Unfinished(run) = checked.begin(&invocation, &resources).unwrap() else {
        panic!("complete");
    };
    assert_eq!(
        run.found().unwrap(),
        "continuing an interrupted run: first reading complete, decisions complete, reports \
         written, 2 files of annotated/ written"
    );
    run.run(&Progress::new()).unwrap();
    assert!(files.iter().all(|file| links(file) == 1));
    assert_eq!(contents(out.path()), expected);
}

/// All outputs of a job.
fn names(case: &Case) -> Vec<PathBuf> {
    case.expected()
        .into_keys()
        .chain(["timings.json".into()])
        .collect()
}

/// Promise (Deduplication): A file with the name of an output that no run made, or that has changed
/// since, is neither replaced nor removed: after a kill at any moment, during a run, and with
/// `--restart`
#[test]
fn a_file_of_the_user_with_the_name_of_an_output_is_never_replaced() {
    let case = Case::with_statistics();
    let expected = case.expected();
    let names = names(&case);
    let temporary = tempfile::tempdir().unwrap();
    let count = run_with_snapshots(&case, temporary.path());
    let (mut refused, none) = (0, Faults::default());
    for number in 0..count {
        let left = temporary.path().join(format!("{number}"));
        if left.join("summary.json").exists() {
            continue;
        }
        // In turn, each of them, whether an output is there or not.
        let name = &names[number % names.len()];
        let path = left.join(name);
        let saved = temporary.path().join("saved");
        let was_there = fs::rename(&path, &saved).is_ok();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "mine").unwrap();
        for restart in [false, true] {
            let what = format!("{} before change {number}", name.display());
            let error = case.run(&left, restart, &none).err().unwrap();
            assert_eq!(error.file(), Some(&*path), "{what}: {error}");
            assert!(
                error.to_string().contains("move it away"),
                "{what}: {error}"
            );
            assert_eq!(fs::read(&path).unwrap(), b"mine", "{what}");
            refused += 1;
        }
        fs::remove_file(&path).unwrap();
        if was_there {
            fs::rename(&saved, &path).unwrap();
        }
        case.run(&left, false, &none).unwrap();
        assert!(contents(&left) == expected, "change {number}");
        fs::remove_dir_all(left).unwrap();
    }
    assert!(refused > 100, "{refused} refused");
}

/// Promise (Deduplication): A file with the name of an …
#[test]
fn a_file_of_the_user_that_appears_during_a_run_is_not_replaced() {
    let case = Case::with_statistics();
    for name in names(&case) {
        let out = tempfile::tempdir().unwrap();
        let path = out.path().join(&name);
        let planted = path.clone();
        // When `gathered` is created, the checks of the output directory have passed.
        let faults = Faults::decided_by(move |operation, changed| {
            if operation == Operation::Create && changed.ends_with("gathered") {
                fs::create_dir_all(planted.parent().unwrap()).unwrap();
                fs::write(&planted, "mine").unwrap();
            }
            Ok(())
        });
        let error = case.run(out.path(), false, &faults).err().unwrap();
        assert_eq!(error.file(), Some(&*path), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"mine");
        assert!(!out.path().join("summary.json").exists() || name.ends_with("summary.json"));
    }
}

/// Promise (Deduplication): A file with the name of an …
#[test]
fn a_changed_output_is_kept_and_a_copy_of_an_output_is_accepted() {
    let case = Case::with_statistics();
    let expected = case.expected();
    let none = Faults::default();
    for name in [Path::new("duplicates.jsonl"), &case.written(0)] {
        let out = tempfile::tempdir().unwrap();
        case.stop_writing(out.path());
        let path = out.path().join(name);
        let bytes = fs::read(&path).unwrap();
        let changed = [&bytes[..], b"changed"].concat();
        fs::write(&path, &changed).unwrap();
        for restart in [false, true] {
            let error = case.run(out.path(), restart, &none).err().unwrap();
            assert!(error.to_string().contains("was changed since"), "{error}");
            assert_eq!(fs::read(&path).unwrap(), changed);
        }
        // A file with the bytes that were recorded, as in a directory that was copied.
        fs::remove_file(&path).unwrap();
        fs::write(&path, &bytes).unwrap();
        case.run(out.path(), false, &none).unwrap();
        assert_eq!(contents(out.path()), expected);
    }
}

/// A complete output is compared with its digest, as a failing disk or a careful program changes bytes
/// without the length and the time.
/// Promise (Deduplication): A complete output whose bytes changed between an interruption and the
/// resumed run is noticed, also if its length and time did not change
#[test]
fn an_output_with_other_bytes_and_the_same_time_is_not_taken_for_complete() {
    let case = Case::with_statistics();
    let expected = case.expected();
    let none = Faults::default();
    for name in [Path::new("duplicates.jsonl"), Path::new("page.html")] {
        let out = tempfile::tempdir().unwrap();
        case.stop_writing(out.path());
        let path = out.path().join(name);
        let file = fs::File::options()
            .read(true)
            .write(true)
            .open(&path)
            .unwrap();
        let modified = file.metadata().unwrap().modified().unwrap();
        let mut byte = [0];
        file.read_exact_at(&mut byte, 9).unwrap();
        file.write_all_at(&[byte[0] ^ 1], 9).unwrap();
        file.set_modified(modified).unwrap();
        let error = case.run(out.path(), false, &none).err().unwrap();
        assert_eq!(error.file(), Some(&*path), "{error}");
        assert!(error.to_string().contains("was changed since"), "{error}");
        fs::remove_file(&path).unwrap();
        case.run(out.path(), false, &none).unwrap();
        assert_eq!(contents(out.path()), expected);
    }
}

/// Promise (Deduplication): A file with the name of an …
#[test]
fn changed_outputs_of_a_finished_run_are_kept() {
    let case = Case::with_statistics();
    let expected = case.expected();
    let none = Faults::default();
    for name in expected.keys().filter(|name| !name.ends_with("run.json")) {
        let out = tempfile::tempdir().unwrap();
        case.run(out.path(), false, &none).unwrap();
        let path = out.path().join(name);
        let mut bytes = fs::read(&path).unwrap();
        bytes.push(b' ');
        // The same length, and another one.
        for changed in [&bytes[1..], &bytes[..]] {
            if changed.is_empty() {
                continue;
            }
            fs::write(&path, changed).unwrap();
            let error = case.run(out.path(), true, &none).err().unwrap();
            assert_eq!(error.file(), Some(&*path), "{error}");
            assert!(error.to_string().contains("was changed since"), "{error}");
            assert_eq!(fs::read(&path).unwrap(), changed);
        }
        fs::remove_file(&path).unwrap();
        case.run(out.path(), true, &none).unwrap();
        assert_eq!(contents(out.path()), expected);
    }
}

/// Promise (Deduplication): If the record of outputs is truncated or damaged, no temporary file is
/// left behind and no output is removed: the run resumes, or it is an error, which names an output
/// that is no longer recorded if there is one
#[test]
fn a_shortened_record_of_outputs_leaves_no_temporary_file() {
    let case = Case::with_statistics();
    let expected = case.expected();
    let temporary = tempfile::tempdir().unwrap();
    let left = temporary.path().join("left");
    case.stop_writing(&left);
    let record = Path::new(WORK).join("outputs");
    let complete = fs::read_to_string(left.join(&record)).unwrap();
    let first_line = complete.lines().next().unwrap();
    let run = &first_line[first_line.rfind(':').unwrap() + 2..first_line.len() - 2];
    // A file that was being written when the process was killed.
    let stray = case.written(0).with_file_name(format!(".simtool-{run}-7"));
    fs::write(left.join(&stray), "half").unwrap();
    let mut resumed = 0;
    for end in (0..=complete.len()).rev().step_by(7) {
        let out = temporary.path().join("out");
        snapshot(&left, &out);
        fs::write(out.join(&record), &complete[..end]).unwrap();
        match case.run(&out, false, &Faults::default()) {
            Ok(_) => {
                assert!(contents(&out) == expected, "{end} bytes");
                resumed += 1;
            }
            Err(error) if error.kind() == ErrorKind::Content => {
                assert!(end <= first_line.len(), "{end} bytes: {error}");
                assert!(error.to_string().contains("--restart"), "{error}");
            }
            // An output that is not recorded any more.
            Err(error) => {
                assert!(error.to_string().contains("move it away"), "{error}");
                for name in expected.keys() {
                    let _ = fs::remove_file(out.join(name));
                }
                case.run(&out, false, &Faults::default()).unwrap();
                assert!(contents(&out) == expected, "{end} bytes");
            }
        }
        fs::remove_dir_all(out).unwrap();
    }
    // At least with the complete record.
    assert!(resumed >= 1);
}

/// Damaged forms of some bytes: flipped bits, zeros, cuts, and more at the end.
fn damages(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new(), [bytes, b"0000000000000000"].concat()];
    for part in 0..4 {
        let at = bytes.len() * part / 4;
        let mut flipped = bytes.to_vec();
        let mut zeroed = bytes.to_vec();
        if let Some(byte) = flipped.get_mut(at) {
            *byte ^= 1 << part;
        }
        zeroed
            .iter_mut()
            .skip(at)
            .take(16)
            .for_each(|byte| *byte = 0);
        all.extend([flipped, zeroed, bytes[..at].to_vec()]);
    }
    all.push(bytes[..bytes.len().saturating_sub(1)].to_vec());
    all.retain(|damaged| damaged != bytes);
    all
}

/// Promise (Deduplication): A damaged file of the work directory is an error or has no effect
#[test]
fn damaged_work_files_are_an_error_or_change_nothing() {
    let case = Case::with_statistics();
    let expected = case.expected();
    let mut refused = BTreeMap::<String, u32>::new();
    for late in [false, true] {
        let temporary = tempfile::tempdir().unwrap();
        let left = temporary.path().join("left");
        match late {
            false => case.stop_gathering(&left),
            true => case.stop_writing(&left),
        }
        for path in walk(&left.join(WORK)) {
            let name = path.strip_prefix(&left).unwrap();
            for damaged in damages(&fs::read(&path).unwrap()) {
                let out = temporary.path().join("out");
                snapshot(&left, &out);
                fs::remove_file(out.join(name)).unwrap();
                fs::write(out.join(name), &damaged).unwrap();
                match case.run(&out, false, &Faults::default()) {
                    Ok(_) => assert!(contents(&out) == expected, "{}", name.display()),
                    Err(error) => {
                        if error.kind() == ErrorKind::Content {
                            assert!(error.to_string().contains("--restart"), "{error}");
                            *refused.entry(name.display().to_string()).or_default() += 1;
                        }
                        // The advice of the message can be followed.
                        if let Err(error) = case.run(&out, true, &Faults::default()) {
                            // If the record of outputs is damaged, the outputs have to be moved away.
                            assert!(name.ends_with("outputs"), "{error}");
                            assert!(error.to_string().contains("move it away"), "{error}");
                            for name in expected.keys() {
                                let _ = fs::remove_file(out.join(name));
                            }
                            case.run(&out, true, &Faults::default()).unwrap();
                        }
                        assert!(contents(&out) == expected, "{}", name.display());
                    }
                }
                fs::remove_dir_all(out).unwrap();
            }
        }
    }
    for name in ["segments", "decisions", "decided", "reported"] {
        let name = format!("{WORK}/{name}");
        assert!(
            refused.get(&name).is_some_and(|&count| count > 5),
            "{name}: {refused:?}"
        );
    }
    for name in [
        "job.json",
        "frequencies-0",
        "segment-index",
        "outputs",
        "gathered",
    ] {
        let name = format!("{WORK}/{name}");
        assert!(refused.contains_key(&name), "{name}: {refused:?}");
    }
}
