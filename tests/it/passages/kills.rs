//! The commands of the three searches after kills: the same command completes with the same bytes.

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::passages::command::sandbox;
use crate::passages::{contents, documents, write};
use crate::sandbox::Sandbox;

/// Kills the program again and again, a little later each time.
/// Promise (Repeated units): Interrupted, failed and killed runs resume …
/// Promise (Repeated stretches of text): Interrupted, failed and killed runs resume …
/// Promise (Parts of evaluation sets): Interrupted, failed and killed runs resume …
#[test]
fn a_killed_run_resumes_to_the_same_bytes() {
    let word =
        |number: usize, place: usize| format!("w{}\n", (number * 31 + place * 7) % (place + 99));
    let text = |number| (0..400).map(|place| word(number, place)).collect();
    let all: Vec<String> = (0..2000).map(text).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let items: Vec<&str> = all.iter().step_by(20).map(|text| &text[500..900]).collect();
    for flags in [
        "lines --unit line --min-words 9",
        "spans --min 6w --min-words 9",
        "decontaminate --reference items.jsonl.zst --min 6w --min-item 6w --max-documents 90 \
         --around 9",
        "decontaminate --reference items.jsonl.zst --min 13w",
    ] {
        let sandbox = Sandbox::new();
        write(&sandbox.path("in.jsonl.gz"), &documents(&all));
        write(&sandbox.path("items.jsonl.zst"), &documents(&items));
        assert_resumes_after_kills(&sandbox.path(""), |out| {
            let line = format!("{flags} in.jsonl.gz --action cut --quiet -o {out}");
            sandbox.std_command(&line)
        });
    }
}

/// What a killed run has read and saved is not read again by its first reading. The second one reads
/// everything; that of `decontaminate`, only documents with parts of items.
/// Promise (Repeated units): A run that is killed in its first reading does not read again what it
/// has read and saved
/// Promise (Repeated stretches of text): A run that is killed in its first reading does not read
/// again what it has read and saved
/// Promise (Parts of evaluation sets): A run that is killed in its first reading does not read again
/// what it has read and saved
#[test]
fn a_run_killed_in_its_first_reading_goes_on_there() {
    let item = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen";
    let edited = item.replace("seven", "other");
    let text = |number: usize| {
        let end = match number % 100 {
            7 => edited.as_str(),
            _ => "none of these words in a row",
        };
        format!(
            "line {} again\nof document {number} has\n{end}",
            number % 1000
        )
    };
    let all: Vec<String> = (0..150_000).map(text).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let sandbox = sandbox(&[item], &all);
    let directory = sandbox.path("");
    // The file that has a part of the first reading. For `decontaminate`, with an entry for the
    // references and one for a segment of the input.
    for (command, saved, has_second) in [
        ("lines --unit line --above 9", ("seen-twice", 1), true),
        ("spans --min 6w", ("seen-twice", 1), true),
        (
            "decontaminate --reference items.jsonl --min 5w",
            ("segment-index", 240),
            false,
        ),
        (
            "decontaminate --reference items.jsonl --min 13w",
            ("segment-index", 240),
            false,
        ),
        (
            "decontaminate --reference items.jsonl --min 5w --max-documents 100000",
            ("segment-index", 240),
            true,
        ),
    ] {
        for out in ["out", "whole"] {
            let _ = std::fs::remove_dir_all(sandbox.path(out));
        }
        let run = KilledRun::new(&directory, saved, |out| {
            sandbox.std_command(&format!("{command} in.jsonl --threads 1 -o {out}"))
        });
        let before = run.replace("of document 0 has", "of document 0 had");
        let (code, messages) = run.resume();
        assert!(messages.contains("first reading begun, "), "{messages}");
        run.write(&before);
        if has_second {
            assert_eq!(code, Some(2), "{messages}");
            assert!(messages.contains("changed"), "{messages}");
            let (code, messages) = run.resume();
            assert_eq!(code, Some(0), "{messages}");
            assert!(messages.contains("first reading complete"), "{messages}");
        } else {
            assert_eq!(code, Some(0), "{messages}");
        }
        run.assert_equals_a_whole_run();
    }
}

/// Kills the process that writes to `out` later and later, twice or more before it is complete; its
/// output is that of one that writes to `whole` and is not killed. `command` makes a command for an
/// output in `directory`.
fn assert_resumes_after_kills(directory: &Path, command: impl Fn(&str) -> Command) {
    let whole = command("whole").output().unwrap();
    let messages = String::from_utf8_lossy(&whole.stderr);
    assert_eq!(whole.status.code(), Some(0), "{messages}");
    let names = |name: &str| contents(&directory.join(name));
    let (mut kills, mut wait) = (0, Duration::from_millis(20));
    loop {
        let mut child = command("out").spawn().unwrap();
        thread::sleep(wait);
        if let Some(status) = child.try_wait().unwrap() {
            assert_eq!(status.code(), Some(0));
            assert_eq!(names("out"), names("whole"));
            if kills > 1 {
                break;
            }
            // It was faster than the kills.
            std::fs::remove_dir_all(directory.join("out")).unwrap();
            (kills, wait) = (0, wait / 3);
            continue;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        wait = wait * 3 / 2 + Duration::from_millis(1);
    }
}

/// A run on `in.jsonl` that was killed in its first reading, after it had saved a part of it.
struct KilledRun<'a, C> {
    directory: &'a Path,
    command: C,
}

impl<'a, C: Fn(&str) -> Command> KilledRun<'a, C> {
    /// Runs `command` for the output `out` until the file `saved` of the work directory has
    /// `least` bytes, and kills it.
    fn new(directory: &'a Path, (saved, least): (&str, u64), command: C) -> KilledRun<'a, C> {
        let work = directory.join("out/.simtool");
        for _ in 0..50 {
            let mut child = command("out").spawn().unwrap();
            let is_saved = || {
                work.join(saved)
                    .metadata()
                    .is_ok_and(|file| file.len() >= least)
            };
            while !is_saved() && child.try_wait().unwrap().is_none() {
                thread::sleep(Duration::from_millis(1));
            }
            child.kill().unwrap();
            child.wait().unwrap();
            if work.exists() && !work.join("gathered").exists() {
                return KilledRun { directory, command };
            }
            // It was faster.
            std::fs::remove_dir_all(directory.join("out")).unwrap();
        }
        panic!("the first reading is too short");
    }

    /// Resumes the run; returns the exit code and the messages.
    fn resume(&self) -> (Option<i32>, String) {
        let output = (self.command)("out").output().unwrap();
        let messages = String::from_utf8_lossy(&output.stderr);
        (output.status.code(), messages.into_owned())
    }

    /// Replaces the first `old` of the input, which was read already, so that the run does not
    /// notice; returns the input as it was.
    fn replace(&self, old: &str, new: &str) -> Vec<u8> {
        let path = self.directory.join("in.jsonl");
        let bytes = std::fs::read(&path).unwrap();
        let text = String::from_utf8(bytes.clone()).unwrap();
        self.write(text.replacen(old, new, 1).as_bytes());
        bytes
    }

    /// Writes the input with the time that it has.
    fn write(&self, bytes: &[u8]) {
        let path = self.directory.join("in.jsonl");
        let modified = path.metadata().unwrap().modified().unwrap();
        std::fs::write(&path, bytes).unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(modified).unwrap();
    }

    /// The output is that of a run that is not killed.
    fn assert_equals_a_whole_run(&self) {
        let whole = (self.command)("whole").output().unwrap();
        assert_eq!(whole.status.code(), Some(0));
        let names = |name: &str| contents(&self.directory.join(name));
        assert!(names("out") == names("whole"), "another output");
    }
}
