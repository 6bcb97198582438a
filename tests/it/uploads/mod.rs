//! Outputs in an object store: the program writes there what it writes to a directory, whatever
//! happens meanwhile.
//!
//! The server of these tests is that of `crates/objects/tests/uploads`.

mod crashes;
mod finished;
mod others;
mod shards;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

use crate::sandbox::{SIMTOOL, Sandbox};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use simtool_testing::bucket::{Bucket, NAME};

/// The size of the parts of uploads.
const PART: u64 = 4000;

/// Outputs whose bytes differ between equal runs, or between directories and stores.
const VARIABLE: [&str; 2] = ["run.json", "timings.json"];

/// The flags of `dedup`, without the output.
const DEDUP: &str = "dedup in --threads 2 --memory 1G --write kept --pairs csv --refused --no-page";

/// Documents as JSON Lines; every third is the one before it with another last word.
fn lines(first: usize, documents: usize) -> String {
    let line = |number: usize| {
        let own = number - usize::from(number % 3 == 2);
        let words: Vec<_> = (0..40)
            .map(|word| format!("w{}", own * 100 + word))
            .collect();
        let text = words.join(" ");
        format!("{{\"id\":\"d{number}\",\"text\":\"{text} end{number}\"}}\n")
    };
    (first..first + documents).map(line).collect()
}

/// Three inputs in a directory `in`, one of them compressed, and one below another directory.
fn inputs() -> Sandbox {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path("in/below")).unwrap();
    fs::create_dir(sandbox.path("temp")).unwrap();
    fs::create_dir(sandbox.path("other-temp")).unwrap();
    sandbox.write("in/a.jsonl", lines(0, 60));
    sandbox.write("in/below/b.jsonl", lines(30, 60));
    let mut packed = GzEncoder::new(Vec::new(), Compression::new(6));
    packed.write_all(lines(50, 60).as_bytes()).unwrap();
    sandbox.write("in/c.jsonl.gz", packed.finish().unwrap());
    sandbox
}

/// The command with the words of `line`, which has `bucket` as S3.
fn command(sandbox: &Sandbox, bucket: &Bucket, line: &str) -> Command {
    let mut command = Command::new(SIMTOOL);
    command
        .args(line.split_whitespace())
        .current_dir(sandbox.path(""))
        .env("AWS_ENDPOINT_URL", format!("http://{}", bucket.address))
        .env("AWS_ALLOW_HTTP", "true")
        .env("AWS_ACCESS_KEY_ID", "key")
        .env("AWS_SECRET_ACCESS_KEY", "hunter2")
        .env("SIMTOOL_PART_BYTES", PART.to_string());
    command
}

/// The words of a command that writes to the bucket.
fn to_bucket(line: &str) -> String {
    format!("{line} -o s3://{NAME}/clean --temp-dir temp")
}

fn run(sandbox: &Sandbox, bucket: &Bucket, line: &str) -> Output {
    command(sandbox, bucket, line).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn succeeds(sandbox: &Sandbox, bucket: &Bucket, line: &str) -> String {
    let output = run(sandbox, bucket, line);
    let said = said(&output);
    assert!(output.status.success(), "{line}: {said}");
    said
}

/// Fails with the exit code of refusals; returns what the command said.
fn is_refused(sandbox: &Sandbox, bucket: &Bucket, line: &str, words: &[&str]) {
    let output = run(sandbox, bucket, line);
    let said = said(&output);
    assert_eq!(output.status.code(), Some(2), "{line}: {said}");
    for word in words {
        assert!(said.contains(word), "{word}: {said}");
    }
}

/// All files of a directory, by their names relative to it.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    fn add(root: &Path, directory: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                add(root, &path, files);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap();
                files.insert(name.to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    let mut all = BTreeMap::new();
    add(directory, directory, &mut all);
    all
}

/// The outputs of a run to the directory `local`.
fn local_outputs(sandbox: &Sandbox, bucket: &Bucket, line: &str) -> BTreeMap<String, Vec<u8>> {
    succeeds(sandbox, bucket, &format!("{line} -o local"));
    files(&sandbox.path("local"))
}

/// Compares the objects below `clean` with the outputs of a run to a directory. No upload with
/// parts is left, no lock, and no local file.
fn is_like(sandbox: &Sandbox, bucket: &Bucket, local: &BTreeMap<String, Vec<u8>>) {
    let objects = bucket.objects();
    let objects: BTreeMap<_, _> = objects
        .iter()
        .filter_map(|(key, object)| Some((key.strip_prefix("clean/")?, &object.bytes)))
        .collect();
    let names: Vec<_> = objects.keys().copied().collect();
    assert_eq!(names, local.keys().collect::<Vec<_>>());
    for (name, bytes) in local {
        let object = objects[name.as_str()];
        match VARIABLE.contains(&name.as_str()) {
            false => assert!(**object == *bytes, "{name} differs"),
            true if name == "run.json" => assert_eq!(run_of(object), run_of(bytes)),
            true => {}
        }
    }
    let left = bucket.uploads();
    assert!(left.iter().all(|(_, parts)| *parts == 0), "{left:?}");
    let left = files(&sandbox.path("temp"));
    assert!(left.is_empty(), "{:?}", left.keys());
    assert_eq!(fs::read_dir(sandbox.path("temp")).unwrap().count(), 0);
}

/// The record of a run, without the entity tags of objects and without its checksum.
fn run_of(text: &[u8]) -> Value {
    let mut run: Value = serde_json::from_slice(text).unwrap();
    run.as_object_mut().unwrap().remove("checksum").unwrap();
    for output in run["outputs"].as_array_mut().unwrap() {
        output.as_object_mut().unwrap().remove("stamp");
    }
    run
}

#[test]
fn the_command_of_the_page_writes_objects() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/how-to/write-to-object-stores.md");
    let page = fs::read_to_string(page).unwrap();
    let mut lines = page
        .lines()
        .filter_map(|line| line.strip_prefix("simtool "));
    let line = lines
        .find(|line| line.contains("-o s3://bucket/clean"))
        .unwrap();
    let line = line.replace("s3://bucket", &format!("s3://{NAME}"));
    let (sandbox, bucket) = (inputs(), Bucket::start());
    fs::rename(sandbox.path("in"), sandbox.path("crawl")).unwrap();
    fs::rename(
        sandbox.path("crawl/c.jsonl.gz"),
        sandbox.path("crawl/c.warc.wet.gz"),
    )
    .unwrap();
    succeeds(&sandbox, &bucket, &line.replace("/scratch", "temp"));
    let objects = bucket.objects();
    let written = "clean/kept/crawl/c.warc.wet.gz";
    assert!(objects.contains_key(written), "{:?}", objects.keys());
}

/// Promise (Outputs in object stores): The objects are the files of a run to a local directory, and
/// no others; shards too
#[test]
fn outputs_are_those_of_a_directory() {
    let (sandbox, bucket) = (inputs(), Bucket::start());
    let local = local_outputs(&sandbox, &bucket, DEDUP);
    let said = succeeds(&sandbox, &bucket, &to_bucket(DEDUP));
    assert!(!said.contains("hunter2"), "{said}");
    is_like(&sandbox, &bucket, &local);
    // Large outputs were sent in parts.
    assert!(bucket.begun_uploads() > 3);
}

/// Promise (Repeated units): Shards of changed documents have the same …
/// Promise (Outputs in object stores): The objects are the files of a run …
#[test]
fn passages_are_removed_into_a_bucket() {
    let (sandbox, bucket) = (inputs(), Bucket::start());
    sandbox.write("items.jsonl", lines(3, 2));
    for (number, line) in [
        "lines in --threads 2 --action cut --no-page",
        "lines in --threads 2 --action mask --no-page --write-format jsonl.zst --shard-size 5000",
        "spans in --threads 2 --action cut --no-page",
        "decontaminate in --threads 2 --reference items.jsonl --action cut --no-page",
    ]
    .into_iter()
    .enumerate()
    {
        let out = format!("out{number}");
        succeeds(&sandbox, &bucket, &format!("{line} -o {out}"));
        let remote = format!("{line} -o s3://{NAME}/clean --temp-dir temp");
        succeeds(&sandbox, &bucket, &remote);
        is_like(&sandbox, &bucket, &files(&sandbox.path(&out)));
        let again = succeeds(&sandbox, &bucket, &remote);
        assert!(again.contains("already complete: s3://"), "{again}");
        bucket.objects().keys().for_each(|key| bucket.remove(key));
    }
}
