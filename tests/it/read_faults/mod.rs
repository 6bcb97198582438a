//! A read error of any input ends every command with exit code 2 and the system's message, whatever
//! the format. It is never taken for damage, for the end of a file, or for a text that is not there.
//!
//! A preloaded library makes all reads from some number on fail. Each command is repeated until it
//! ends without a failed read.

mod formats;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{fs, io};

use crate::sandbox::SIMTOOL;
use formats::{FORMATS, documents, json_lines};
use simtool_testing::skipped::skipped;
use tempfile::TempDir;

/// The most reads of a command that are tried one by one. Of later ones, some are left out.
const ALL_READS: u64 = 24;

/// The library that makes reads fail, or `None` if there is no C compiler.
fn library() -> Option<&'static Path> {
    static LIBRARY: OnceLock<Option<(TempDir, PathBuf)>> = OnceLock::new();
    let compile = || {
        let directory = tempfile::tempdir().unwrap();
        let library = directory.path().join("preload.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/read_faults/preload.c");
        let mut compiler = Command::new("cc");
        let arguments = ["-shared", "-fPIC", "-O1", "-o"].map(Path::new);
        compiler
            .args(arguments)
            .arg(&library)
            .arg(source)
            .arg("-ldl");
        match compiler.output() {
            Ok(output) if output.status.success() => Some((directory, library)),
            Ok(output) => panic!("{}", String::from_utf8_lossy(&output.stderr)),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => None,
            Err(cause) => panic!("cc: {cause}"),
        }
    };
    let library = LIBRARY.get_or_init(compile).as_ref();
    library.map(|(_, path)| path.as_path())
}

/// A directory with the inputs `in`, whose reads fail, and others in `ref`.
struct Case {
    directory: TempDir,
    library: &'static Path,
}

impl Case {
    fn new(library: &'static Path) -> Case {
        // In memory, as each command makes many files.
        let shared = Path::new("/dev/shm");
        let directory = match shared.is_dir() {
            true => tempfile::tempdir_in(shared),
            false => tempfile::tempdir(),
        };
        let case = Case {
            directory: directory.unwrap(),
            library,
        };
        fs::create_dir(case.path("in")).unwrap();
        fs::create_dir(case.path("ref")).unwrap();
        let some = json_lines(&documents()[..4]);
        fs::write(case.path("ref/ref.jsonl"), some).unwrap();
        case
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(SIMTOOL);
        command
            .args(line.split(' '))
            .current_dir(self.directory.path());
        command
    }

    /// Lets the first read of `line` fail, then the second, and so on, until none fails. Returns the
    /// number of reads.
    fn check(&self, line: &str) -> u64 {
        let mut number = 1;
        loop {
            let _ = fs::remove_dir_all(self.path("out"));
            let _ = fs::remove_file(self.path("out"));
            let _ = fs::remove_file(self.path("mark"));
            if self.path("ref/seen").exists() {
                copy(&self.path("ref/seen"), &self.path("seen"));
            }
            let run = self
                .command(line)
                .env("LD_PRELOAD", self.library)
                .env(
                    "SIMTOOL_FAULT_BELOW",
                    fs::canonicalize(self.path("in")).unwrap(),
                )
                .env("SIMTOOL_FAULT_READ", number.to_string())
                .env("SIMTOOL_FAULT_MARK", self.path("mark"))
                .output()
                .unwrap();
            let (code, message) = (run.status.code(), String::from_utf8_lossy(&run.stderr));
            if !self.path("mark").exists() {
                assert_eq!(code, Some(0), "{line}: {message}");
                return number - 1;
            }
            let shown = format!("{line}, read {number}: {code:?} {message}");
            assert_eq!(code, Some(2), "{shown}");
            assert!(message.contains("cannot be read"), "{shown}");
            assert!(
                message.contains("Input/output error (os error 5)"),
                "{shown}"
            );
            assert!(message.contains("in/"), "no file: {shown}");
            assert!(!self.path("out/summary.json").exists(), "finished: {shown}");
            number += 1 + number / ALL_READS * 7;
        }
    }
}

/// Replaces the directory `to` by a copy of `from`.
fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let copied = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &copied),
            false => drop(fs::copy(entry.path(), copied).unwrap()),
        }
    }
}

/// Checks commands on inputs of each of `formats`.
fn check(formats: &[&str], commands: &[&str]) {
    let Some(library) = library() else {
        return skipped("no C compiler");
    };
    for (name, write) in FORMATS {
        if !formats.is_empty() && !formats.contains(name) {
            continue;
        }
        let case = Case::new(library);
        write(&case.path("in"));
        for command in commands {
            let reads = case.check(command);
            assert!(reads > 1, "{command}: {reads} reads of {name}");
        }
    }
}

/// Promise (Failing inputs): A failed read of an input, a reference, an index's input or a list
/// ends every command with exit code 2 and the system's message, whatever the format. It is never
/// damage, the end of a file or a text that is missing from a summary or page
#[test]
fn deduplication_of_any_format() {
    check(
        &[],
        &[
            "dedup in -o out --write kept --threads 1",
            "dedup ref -o out --against in --threads 1",
        ],
    );
}

/// Promise (Failing inputs): A failed read of an input, a reference, an …
#[test]
fn searches_for_passages_in_any_format() {
    check(
        &[],
        &[
            "lines in -o out --threads 1",
            "spans in -o out --min 10w --action cut --write-format jsonl --threads 1",
            "decontaminate ref --reference in --min 8w -o out --threads 1",
        ],
    );
}

/// Promise (Failing inputs): A failed read of an input, a reference, an …
#[test]
fn all_forms_of_deduplication() {
    check(
        &["jsonl.gz", "parquet"],
        &[
            "dedup in -o out --write annotated --threads 1",
            "dedup in -o out --write kept --write-format parquet --threads 1",
            "dedup in -o out --write kept --write-format jsonl --threads 1",
            "dedup in -o out --similarity containment:0.8 --threads 1",
            "dedup in -o out --refuse-above 90% --no-page --method simhash --threads 1",
            "dedup in -o out --write kept --dry-run --threads 1",
        ],
    );
}

/// Promise (Failing inputs): A failed read of an input, a reference, an …
#[test]
fn other_commands() {
    check(
        &["jsonl", "parquet"],
        &[
            "decontaminate in --reference ref --min 8w -o out --action drop-document:0.5 --threads 1",
            "match --articles in --samples ref -o out --threads 1",
            "match --articles ref --samples in -o out --threads 1",
            "evaluate in --planted --copied 3 --method simhash -o out --threads 1",
            "tune in --planted --copied 3 --for match --method simhash --threads 1",
            "explain d1 d2 --in in",
        ],
    );
}

/// Promise (Failing inputs): A failed read of an input, a reference, an …
#[cfg(feature = "index")]
#[test]
fn indexes() {
    let Some(library) = library() else {
        return skipped("no C compiler");
    };
    for (name, write) in FORMATS {
        if !["jsonl", "parquet"].contains(name) {
            continue;
        }
        let case = Case::new(library);
        write(&case.path("in"));
        let built = case
            .command("index build ref/seen ref/ref.jsonl")
            .output()
            .unwrap();
        assert!(built.status.success(), "{built:?}");
        for command in [
            "index build out in --threads 1",
            "index query seen in -o out --threads 1",
            "index add seen in -o out --threads 1",
            "dedup in -o out --against seen --threads 1",
        ] {
            assert!(case.check(command) > 1, "{name}: {command}");
        }
    }
}

/// Promise (Failing inputs): A failed read of an input, a reference, an …
#[test]
fn lists() {
    let Some(library) = library() else {
        return skipped("no C compiler");
    };
    let case = Case::new(library);
    fs::write(case.path("in/files.txt"), "ref/ref.jsonl\n").unwrap();
    fs::write(case.path("in/words.txt"), "of\nthe\n").unwrap();
    fs::write(case.path("in/pairs.tsv"), "a\tb\tlabel\nd0\td1\tnear\n").unwrap();
    let listed = "{\"text\":\"one line of a text that is listed\"}\n";
    fs::write(case.path("in/listed.jsonl"), listed).unwrap();
    for command in [
        "dedup --files-from in/files.txt -o out --threads 1",
        "dedup ref -o out --method simhash --stop-words in/words.txt --threads 1",
        "lines ref -o out --unit line --remove-listed in/listed.jsonl --threads 1",
        "evaluate ref --pairs in/pairs.tsv --method simhash -o out --threads 1",
    ] {
        assert!(case.check(command) > 0, "{command}");
    }
}
