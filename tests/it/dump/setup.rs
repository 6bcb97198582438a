//! Helpers: input files, jobs, and checks of their output.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use simtool::corpus::{Reading, discover};
use simtool::dedup::keep::KeepOrder;
use simtool::engine::{Progress, Resources};
use simtool::jobs::dedup::{
    ClusterRule, DedupJob, DedupSummary, DumpSettings, PairForms, Scope, UrlRule, Verification,
    WriteMode,
};
use simtool::jobs::shards::ShardSettings;
use simtool::jobs::{Against, CheckedJob, Invocation, least_memory_bytes};
use simtool::kernel::Level;
use simtool::sketch::registry::Spec;
use simtool::text::{Choice, LeastSimilarity, builtin_stop_words};
use simtool::{Error, ErrorKind, Result};

use crate::dump::documents::Text;

/// A job with settings for short documents.
pub fn job() -> DedupJob {
    DedupJob {
        url: UrlRule::Ignored,
        method: Spec::parse("simhash:distance=8,stop-words=keep").unwrap(),
        tokenizer: Choice::Auto,
        stop_words: builtin_stop_words(),
        verification: Verification {
            shingle: 3,
            least: LeastSimilarity::resemblance(600),
        },
        clusters: ClusterRule::Star,
        keep: KeepOrder::default(),
        within: Scope::Global,
        keep_copies: 1,
        min_sources: 1,
        drop_all: false,
        against_only: false,
        reading: Reading {
            max_document_bytes: 1 << 20,
            chunk_bytes: 4096,
            section_bytes: 20_000,
            ..Reading::default()
        },
        write: WriteMode::None,
        removed: false,
        dump: DumpSettings::default(),
        shards: ShardSettings::default(),
        pairs: PairForms::default(),
        refused: false,
        loss_limit: None,
        page: false,
    }
}

/// The given number of threads, and the least memory for it.
pub fn resources(threads: usize, temporary: &Path) -> Resources {
    Resources {
        threads,
        memory_bytes: least_memory_bytes(threads, 1 << 20),
        temporary: temporary.to_owned(),
        level: Level::best(),
    }
}

/// How documents are written to a file.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    Jsonl,
    JsonlGzip,
    JsonlZstd,
    Pages,
}

/// Writes the documents to a file. A single one is never written as a page, which would be read as
/// a text file with the id as its first line.
pub fn write(path: &Path, form: Form, documents: &[Text]) {
    let form = match (form, documents) {
        (Form::Pages, [_]) => Form::Jsonl,
        _ => form,
    };
    let mut bytes = Vec::new();
    for (number, document) in documents.iter().enumerate() {
        match form {
            Form::Pages => {
                bytes.extend_from_slice(
                    format!("{}\n{}\x0c", document.id, document.text).as_bytes(),
                );
            }
            _ => {
                let line = json!({
                    "id": document.id, "url": document.url, "date": document.date,
                    "text": document.text, "n": number,
                });
                bytes.extend_from_slice(format!("{line}\n").as_bytes());
            }
        }
    }
    // Compressed members end in the middle of documents.
    let packed: Vec<u8> = match form {
        Form::JsonlGzip => bytes.chunks(7000).flat_map(gzip).collect(),
        Form::JsonlZstd => bytes
            .chunks(9000)
            .flat_map(|part| zstd::bulk::compress(part, 1).unwrap())
            .collect(),
        _ => bytes,
    };
    fs::write(path, packed).unwrap();
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Runs a job on files.
pub fn run(
    job: &DedupJob,
    inputs: &[PathBuf],
    against: &[PathBuf],
    out: &Path,
    resources: &Resources,
    progress: &Progress,
) -> Result<DedupSummary> {
    let references = match against {
        [] => Vec::new(),
        _ => discover(against, &[], &job.reading)?,
    };
    let invocation = Invocation {
        against: match &references[..] {
            [] => Against::Itself,
            documents => Against::Documents(documents),
        },
        arguments: &[],
        sources: &discover(inputs, &[], &job.reading)?,
        left_out: &[],
        also_read: &[],
        out,
        remote: None,
        restart: false,
    };
    CheckedJob::new(job)?.run(&invocation, resources, progress)
}

/// Runs a job on files and reads its list of pairs.
pub fn pairs(
    job: &DedupJob,
    inputs: &[PathBuf],
    against: &[PathBuf],
    threads: usize,
) -> Vec<Value> {
    let out = tempfile::tempdir().unwrap();
    let resources = resources(threads, out.path());
    run(
        job,
        inputs,
        against,
        out.path(),
        &resources,
        &Progress::new(),
    )
    .unwrap();
    check(out.path());
    lines(&out.path().join("duplicates.jsonl"))
}

/// The objects of a file of lines.
pub fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Checks the invariants of an output directory.
pub fn check(out: &Path) {
    let summary: Value =
        serde_json::from_slice(&fs::read(out.join("summary.json")).unwrap()).unwrap();
    let count = |name: &str| summary[name].as_u64().unwrap();
    assert_eq!(
        count("seen"),
        count("kept") + count("dropped") + count("skipped")
    );
    assert_eq!(
        count("dropped") as usize,
        lines(&out.join("duplicates.jsonl")).len()
    );
    let inputs = |value: &'_ Value| value.as_array().cloned().unwrap_or_default();
    let references: Vec<Value> = inputs(&summary["against"]["inputs"])
        .iter()
        .map(|input| input["file"].clone())
        .collect();
    let all = [
        inputs(&summary["inputs"]),
        inputs(&summary["against"]["inputs"]),
    ]
    .concat();
    let tables: Vec<&Value> = all
        .iter()
        .filter(|input| input["format"] == "parquet")
        .map(|input| &input["file"])
        .collect();
    // One line stands for all rows of a Parquet file that are skipped together.
    let rows = |line: &Value| match tables.contains(&&line["file"]) {
        true => line["length"].as_u64().unwrap().max(1),
        false => 1,
    };
    let skipped = lines(&out.join("skipped.jsonl"));
    let (of_references, of_input): (Vec<&Value>, Vec<&Value>) = skipped
        .iter()
        .partition(|line| references.contains(&line["file"]));
    let sum = |lines: &[&Value]| lines.iter().map(|line| rows(line)).sum::<u64>();
    assert_eq!(count("skipped"), sum(&of_input));
    // There are none if the reference is an index.
    let skipped_references = summary["against"]["skipped"].as_u64().unwrap_or(0);
    assert_eq!(skipped_references, sum(&of_references));
    match summary["refused_listed"].as_u64() {
        Some(listed) => assert_eq!(listed as usize, lines(&out.join("refused.jsonl")).len()),
        None => assert!(!out.join("refused.jsonl").exists()),
    }
    let clusters = lines(&out.join("clusters.jsonl"));
    assert_eq!(count("clusters") as usize, clusters.len());
    for cluster in clusters {
        let members = cluster["members"].as_array().unwrap();
        assert_eq!(cluster["size"].as_u64().unwrap() as usize, members.len());
        let min_sources = &summary["settings"]["min_sources"];
        let is_from_few = cluster["sources"].as_u64() < min_sources.as_u64();
        let drops_first = summary["settings"]["drop_all"] == true || is_from_few;
        assert_eq!(cluster["kept"].is_null(), drops_first);
        assert!(drops_first || cluster["kept"] == members[0]["id"]);
    }
    if let Ok(page) = fs::read_to_string(out.join("page.html")) {
        // All texts could be read again.
        assert!(!page.contains("no longer has this text"), "{page}");
    }
    assert!(!out.join(".simtool").exists());
}

/// Names and bytes of all files of an output directory, except the file of timings.
pub fn contents(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for path in walk(directory) {
        if !path.ends_with("timings.json") {
            let name = path.strip_prefix(directory).unwrap().to_owned();
            files.insert(name, fs::read(&path).unwrap());
        }
    }
    files
}

/// All files below a directory.
pub fn walk(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(next) = pending.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => pending.push(path),
                false => found.push(path),
            }
        }
    }
    found
}

/// (dropped, kept, distance, verified share) of a pair.
pub type Found = (String, String, u64, (u64, u64));

pub fn found(pairs: &[Value]) -> Vec<Found> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let number = |value: &Value| value.as_u64().unwrap();
    pairs
        .iter()
        .map(|pair| {
            // The shingles of documents with equal words are not counted.
            let verified = match pair["shared"].as_u64() {
                Some(shared) => (shared, number(&pair["shingles"])),
                None => (1, 1),
            };
            let share = verified.0 as f64 / verified.1 as f64;
            let similarity = pair["similarity"].as_f64().unwrap();
            // The JSON parser may round the last bit.
            assert!((similarity - share).abs() < 1e-12, "{pair}");
            (
                text(&pair["id"]),
                text(&pair["kept"]),
                number(&pair["distance"]),
                verified,
            )
        })
        .collect()
}

/// The error of a run that has to fail.
pub fn refusal(result: Result<DedupSummary>) -> Error {
    result.err().unwrap()
}

/// The message that refuses a run on a file for one of its settings.
pub fn refused_setting(job: &DedupJob, input: &Path) -> String {
    let out = tempfile::tempdir().unwrap();
    let (resources, progress) = (resources(1, out.path()), Progress::new());
    let result = run(
        job,
        &[input.to_owned()],
        &[],
        out.path(),
        &resources,
        &progress,
    );
    let error = refusal(result);
    assert_eq!(error.kind(), ErrorKind::Parameter);
    error.to_string()
}

/// Runs a job on files and returns its summary, the directory of the output, and for each input the
/// bytes that were written for it.
pub fn written(
    job: &DedupJob,
    inputs: &[PathBuf],
) -> (DedupSummary, tempfile::TempDir, Vec<Vec<u8>>) {
    let out = tempfile::tempdir().unwrap();
    let resources = resources(2, out.path());
    let summary = run(job, inputs, &[], out.path(), &resources, &Progress::new()).unwrap();
    check(out.path());
    let directory = out.path().join(job.write.name());
    // A file without documents is not written.
    let read = |path: &PathBuf| {
        let written = directory.join(path.strip_prefix("/").unwrap());
        fs::read(written).unwrap_or_default()
    };
    let files = inputs.iter().map(read).collect();
    (summary, out, files)
}

/// A file with these bytes in a directory of its own.
pub fn file(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("input");
    fs::write(&path, bytes).unwrap();
    (directory, path)
}

/// How a file is compressed, and where its members end.
#[derive(Clone, Copy, Debug)]
pub enum Packed {
    Plain,
    Gzip(usize),
    Zstd(usize),
}

impl Packed {
    /// Compresses `bytes` in members of a fixed length.
    pub fn pack(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Packed::Plain => bytes.to_vec(),
            Packed::Gzip(length) => bytes.chunks(length).flat_map(gzip).collect(),
            Packed::Zstd(length) => bytes
                .chunks(length)
                .flat_map(|part| zstd::bulk::compress(part, 1).unwrap())
                .collect(),
        }
    }

    /// The bytes of a file, as another program decompresses it.
    pub fn unpack(self, file: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self {
            Packed::Plain => return file.to_vec(),
            Packed::Gzip(_) => {
                assert!(!file.is_empty(), "no gzip member at all");
                let mut decoder = flate2::read::MultiGzDecoder::new(file);
                decoder.read_to_end(&mut bytes).unwrap();
            }
            Packed::Zstd(_) => {
                assert!(!file.is_empty(), "no zstd frame at all");
                let mut decoder = zstd::Decoder::new(file).unwrap();
                decoder.read_to_end(&mut bytes).unwrap();
            }
        }
        bytes
    }
}
