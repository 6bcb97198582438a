//! The searches for passages `lines`, `spans` and `decontaminate`: what they have in common, and helpers
//! for the tests of each: input files, runs, checks of their output.

pub mod command;
mod kills;
pub mod plan;
mod readings;
mod resume;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use simtool::Result;
use simtool::corpus::{Reading, discover};
use simtool::engine::{Progress, Resources};
use simtool::jobs::passages::{Action, PassageSearch, PassageSettings, PassageSummary};
use simtool::jobs::{Against, BatchJob, CheckedJob, Invocation};
use simtool::kernel::Level;

/// Settings that mark what is found in small chunks.
pub fn marking() -> PassageSettings {
    PassageSettings {
        reading: Reading {
            max_document_bytes: 1 << 20,
            chunk_bytes: 4096,
            section_bytes: 300,
            ..Reading::default()
        },
        page: true,
        ..PassageSettings::default()
    }
}

/// Settings that cut what is found, and drop documents of which less than three words remain.
pub fn cutting() -> PassageSettings {
    let mut settings = marking();
    settings.action = Action::Cut;
    settings.remains.words = 3;
    settings
}

/// The given number of threads, and the least memory of a search for it.
pub fn resources(search: &impl PassageSearch, threads: usize, temporary: &Path) -> Resources {
    Resources {
        threads,
        memory_bytes: search.least_memory_bytes(threads),
        temporary: temporary.to_owned(),
        level: Level::best(),
    }
}

/// A document of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    pub id: String,
    pub url: String,
    pub text: String,
}

pub fn documents(texts: &[&str]) -> Vec<Text> {
    let document = |(number, text): (usize, &&str)| Text {
        id: format!("d{number}"),
        url: format!("http://{}.example/{number}", ["a", "b", "c"][number % 3]),
        text: (*text).to_owned(),
    };
    texts.iter().enumerate().map(document).collect()
}

/// Writes documents as JSON Lines, compressed as the ending of the name says.
pub fn write(path: &Path, documents: &[Text]) {
    let mut bytes = Vec::new();
    for document in documents {
        let line = json!({"id": document.id, "url": document.url, "text": document.text});
        bytes.extend_from_slice(format!("{line}\n").as_bytes());
    }
    let name = path.to_string_lossy().into_owned();
    let bytes = match name.rsplit('.').next() {
        Some("gz") => {
            let level = flate2::Compression::default();
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
            encoder.write_all(&bytes).unwrap();
            encoder.finish().unwrap()
        }
        Some("zst") => zstd::bulk::compress(&bytes, 3).unwrap(),
        _ => bytes,
    };
    fs::write(path, bytes).unwrap();
}

/// Writes documents to files of some documents each, compressed in different ways.
pub fn files(directory: &Path, documents: &[Text], each: usize) -> Vec<PathBuf> {
    fs::create_dir_all(directory).unwrap();
    let endings = ["jsonl", "jsonl.gz", "jsonl.zst"];
    let write_part = |(number, part): (usize, &[Text])| {
        let path = directory.join(format!("{number:03}.{}", endings[number % 3]));
        write(&path, part);
        path
    };
    let parts = documents.chunks(each.max(1)).enumerate();
    parts.map(write_part).collect()
}

/// Runs a search, and checks that the counts of its summary add up.
pub fn run(
    search: &impl PassageSearch,
    inputs: &[PathBuf],
    against: &[PathBuf],
    out: &Path,
    resources: &Resources,
    progress: &Progress,
) -> Result<PassageSummary> {
    let sources = discover(inputs, &[], &search.common().reading)?;
    let references = match against {
        [] => Vec::new(),
        against => discover(against, &[], &search.common().reading)?,
    };
    let invocation = Invocation {
        against: match references.is_empty() {
            true => Against::Itself,
            false => Against::Documents(&references),
        },
        arguments: inputs,
        sources: &sources,
        left_out: &[],
        also_read: &[],
        out,
        remote: None,
        restart: false,
    };
    let summary = CheckedJob::new(search)?.run(&invocation, resources, progress)?;
    check(out);
    Ok(summary)
}

/// Runs a search with one and with several threads, with the least memory and with much more: the
/// output has the same bytes. With the least memory alone it needs the stage `second`. `check` gets
/// an output.
pub fn assert_same_for_all_resources<S: PassageSearch>(
    search: &S,
    (paths, against): (&[PathBuf], &[PathBuf]),
    second: Option<&str>,
    check: impl FnOnce(&Path),
) {
    let [first, others @ ..] = [(1, 0), (3, 0), (2, 1 << 30)].map(|(threads, more)| {
        let out = tempfile::tempdir().unwrap();
        let mut resources = resources(search, threads, out.path());
        resources.memory_bytes += more;
        let progress = Progress::new();
        run(search, paths, against, out.path(), &resources, &progress).unwrap();
        if let Some(second) = second {
            let stages = progress.finished();
            let has_second = stages.iter().any(|time| time.stage.name() == second);
            assert_eq!(has_second, more == 0);
        }
        out
    });
    check(first.path());
    for other in others {
        assert!(contents(other.path()) == contents(first.path()));
    }
}

/// Checks what holds of every output: counts add up, and reports agree with the summary.
pub fn check(out: &Path) {
    let summary = json_of(&out.join("summary.json"));
    let number = |value: &Value, name: &str| value[name].as_u64().unwrap();
    let adds_up = |value: &Value| {
        let parts = ["kept", "dropped", "skipped"].map(|name| number(value, name));
        assert_eq!(number(value, "seen"), parts.iter().sum::<u64>(), "{value}");
    };
    let inputs = summary["inputs"].as_array().unwrap();
    for totals in inputs.iter().chain([&summary]) {
        adds_up(totals);
        adds_up(&totals["bytes"]);
    }
    for name in [
        "seen",
        "kept",
        "dropped",
        "skipped",
        "changed",
        "repeated_bytes",
        "units",
    ] {
        let sum: u64 = inputs.iter().map(|input| number(input, name)).sum();
        assert_eq!(sum, number(&summary, name), "{name}");
    }
    let spans = lines_of(&out.join("spans.jsonl"));
    assert_eq!(spans.len() as u64, number(&summary, "changed"));
    let repeated: u64 = spans
        .iter()
        .map(|span| number(span, "repeated_bytes"))
        .sum();
    assert_eq!(repeated, number(&summary, "repeated_bytes"));
    let dropped = spans.iter().filter(|span| span["dropped"] == true).count();
    assert_eq!(dropped as u64, number(&summary, "dropped"));
    let shares = summary["shares"].as_array().unwrap().iter();
    let shares: u64 = shares.map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(
        shares,
        number(&summary, "seen") - number(&summary, "skipped")
    );
    assert_eq!(
        lines_of(&out.join("skipped.jsonl")).len() as u64,
        number(&summary, "skipped") + number(&summary["against"], "skipped")
    );
    assert!(!out.join(".simtool").exists());
}

pub fn json_of(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// A file without documents is not written.
pub fn lines_of(path: &Path) -> Vec<Value> {
    let text = match path.exists() {
        true => fs::read_to_string(path).unwrap(),
        false => String::new(),
    };
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// All output files but the timings, by name. `run.json` and the summary name the input, so they are
/// only compared for the same paths.
pub fn contents(out: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut directories = vec![out.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => directories.push(path),
                false if path.ends_with("timings.json") => {}
                false => {
                    let name = path.strip_prefix(out).unwrap().to_owned();
                    drop(found.insert(name, fs::read(&path).unwrap()));
                }
            }
        }
    }
    found
}
