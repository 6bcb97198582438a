//! `match`, `evaluate` and `tune` stay within `--memory`.

use std::fmt::Write;
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// The least bound that the command takes with two threads, in mebibytes.
const LEAST: u64 = 240;

struct Place(TempDir);

/// How a command ended, and the most anonymous memory that was seen, in mebibytes.
struct Seen {
    code: Option<i32>,
    message: String,
    peak: u64,
}

impl Place {
    /// Documents that are all equal, and many different ones.
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        let text = "one two three four five six seven eight nine ten eleven";
        let equal = (0..6000).fold(String::new(), |mut all, number| {
            writeln!(all, "{{\"id\":\"e{number}\",\"text\":\"{text}\"}}").unwrap();
            all
        });
        let mut state = 1_u64;
        let mut word = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            state >> 44
        };
        let many = (0..150_000).fold(String::new(), |mut all, number| {
            write!(all, "{{\"id\":\"d{number}\",\"text\":\"").unwrap();
            (0..10).for_each(|_| write!(all, "w{:x} ", word()).unwrap());
            all += "\"}\n";
            all
        });
        fs::write(place.0.path().join("equal.jsonl"), equal).unwrap();
        fs::write(place.0.path().join("many.jsonl"), many).unwrap();
        place
    }

    fn run(&self, line: &str, memory: u64) -> Seen {
        let mut child = Command::new(env!("CARGO_BIN_EXE_simtool"))
            .current_dir(self.0.path())
            .args(line.split(' '))
            .args([
                "--quiet",
                "--threads",
                "2",
                "--memory",
                &format!("{memory}M"),
            ])
            .stdout(Stdio::null())
            .stderr(fs::File::create(self.0.path().join("message")).unwrap())
            .spawn()
            .unwrap();
        let status = format!("/proc/{}/status", child.id());
        let mut peak = 0;
        let code = loop {
            if let Some(ended) = child.try_wait().unwrap() {
                break ended.code();
            }
            let status = fs::read_to_string(&status).unwrap_or_default();
            let line = status
                .lines()
                .find_map(|line| line.strip_prefix("RssAnon:"));
            let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
            peak = peak.max(kibibytes.unwrap_or(0_u64) >> 10);
            std::thread::sleep(Duration::from_millis(2));
        };
        let message = fs::read_to_string(self.0.path().join("message")).unwrap();
        Seen {
            code,
            message,
            peak,
        }
    }

    /// Runs a command that has to fail within the bound because the memory is too small.
    fn refused(&self, line: &str, what: &str) {
        let seen = self.run(line, LEAST);
        assert_eq!(seen.code, Some(2), "{line}: {}", seen.message);
        assert!(seen.message.contains(what), "{line}: {}", seen.message);
        let bound = format!("--memory {LEAST}M");
        assert!(seen.message.contains(&bound), "{}", seen.message);
        assert!(seen.peak <= LEAST, "{line}: {} MiB", seen.peak);
    }

    /// Succeeds within the bound.
    fn done(&self, line: &str, memory: u64) {
        let seen = self.run(line, memory);
        assert_eq!(seen.code, Some(0), "{line}: {}", seen.message);
        assert!(seen.peak <= memory, "{line}: {} MiB", seen.peak);
    }
}

/// Promise (Bounded memory): `match`, `evaluate` and `tune` stay within `--memory`. One budget
/// covers ids, sketches, index, texts and found pairs; if it is exceeded, an error names the bound
/// and what remains of it. 40 MiB of the bound are for the program and the Chinese dictionary
/// (measured: 3 MiB without and 33 MiB with it)
#[test]
fn what_a_match_holds_is_bounded() {
    let place = Place::new();
    let sketches = "match --articles many.jsonl --samples many.jsonl --method minhash";
    place.refused(sketches, "do not fit in memory");
    place.done(sketches, 700);
    // 36 million matches, in a few chunks of samples.
    let matches = "match --articles equal.jsonl --samples equal.jsonl";
    place.refused(matches, "the matches of some samples do not fit");
}

/// Promise (Bounded memory): `match`, `evaluate` and `tune` stay within …
#[test]
fn what_an_evaluation_holds_is_bounded() {
    let place = Place::new();
    fs::write(
        place.0.path().join("pairs.tsv"),
        "a\tb\tlabel\ne1\te2\tequal\n",
    )
    .unwrap();
    let pairs = "evaluate equal.jsonl --method minhash --pairs pairs.tsv";
    place.refused(pairs, "the pairs that minhash finds do not fit");
    place.done(&format!("{pairs} --listed-only"), LEAST);
    fs::write(
        place.0.path().join("clusters.tsv"),
        "d1\ta\nd2\ta\nd3\tb\nd4\tb\n",
    )
    .unwrap();
    let sketches =
        "tune many.jsonl --clusters clusters.tsv --for match --method minhash --method shingles";
    place.refused(sketches, "do not fit in memory");
    place.done(sketches, 900);
}
