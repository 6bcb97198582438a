//! Documents written as shards of Parquet: columns, rows and borders.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};
use simtool::ErrorKind;
use simtool::engine::{Progress, Resources};
use simtool::jobs::dedup::{DedupJob, WriteMode};
use simtool::jobs::shards::{ShardSettings, WriteFormat};

use crate::dump::documents::documents;
use crate::dump::setup::{Form, check, contents, file, job, lines, refusal, resources, run, write};

fn table_job(bytes: u64) -> DedupJob {
    let mut job = DedupJob {
        write: WriteMode::Kept,
        removed: true,
        shards: ShardSettings {
            format: WriteFormat::Parquet,
            bytes,
            ..ShardSettings::default()
        },
        ..job()
    };
    job.reading.fields = job.fields();
    job
}

/// The least memory, and mebibytes for row groups: 160 for one of each stream.
fn within(threads: usize, path: &Path, mebibytes: u64) -> Resources {
    let mut resources = resources(threads, path);
    resources.memory_bytes += mebibytes << 20;
    resources
}

fn enough(threads: usize, path: &Path) -> Resources {
    within(threads, path, 2 * 160)
}

fn output(job: &DedupJob, inputs: &[PathBuf], threads: usize) -> tempfile::TempDir {
    output_within(job, inputs, threads, 2 * 160)
}

fn output_within(
    job: &DedupJob,
    inputs: &[PathBuf],
    threads: usize,
    mebibytes: u64,
) -> tempfile::TempDir {
    let out = tempfile::tempdir().unwrap();
    let resources = within(threads, out.path(), mebibytes);
    run(job, inputs, &[], out.path(), &resources, &Progress::new()).unwrap();
    check(out.path());
    out
}

/// The rows of the shards in a directory, as batches, one for each shard.
fn shards(directory: &Path) -> Vec<Vec<RecordBatch>> {
    let mut paths: Vec<PathBuf> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
        builder.build().unwrap().map(Result::unwrap).collect()
    };
    paths.iter().map(read).collect()
}

/// The values of a column of texts; of all shards.
fn texts(directory: &Path, name: &str) -> Vec<Option<String>> {
    let batches = shards(directory).concat();
    let column = |batch: &RecordBatch| -> Vec<Option<String>> {
        let column = batch.column_by_name(name).unwrap().as_string::<i32>();
        column.iter().map(|text| text.map(str::to_owned)).collect()
    };
    batches.iter().flat_map(column).collect()
}

fn names(batch: &RecordBatch) -> Vec<String> {
    let fields = batch.schema().fields().clone();
    fields.iter().map(|field| field.name().clone()).collect()
}

/// A table with these columns.
fn table(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer =
        ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// Promise (Deduplication): Shards have the records of the kept …
#[test]
fn lines_become_rows_without_loss() {
    let first = r#"{"id":7,"text":"a \"quoted\"\n text","url":null,"n":1.50,"l":[1 ,{"x":2}]}"#;
    let second = r#" {"url":"u","date":"2024","id":"x","text":"other words of another line"} "#;
    let (_directory, path) = file(format!("{first}\n{second}\n").as_bytes());
    let out = output(&table_job(1 << 30), std::slice::from_ref(&path), 2);
    let kept = out.path().join("kept");
    let batch = &shards(&kept)[0][0];
    assert_eq!(
        names(batch),
        ["id", "url", "date", "text", "source", "fields"]
    );
    let column = |name: &str| texts(&kept, name);
    let some = |texts: [&str; 2]| texts.map(|text| Some(text.to_owned())).to_vec();
    assert_eq!(column("id"), some(["7", "x"]));
    assert_eq!(column("url"), [None, Some("u".to_owned())]);
    assert_eq!(column("date"), [None, Some("2024".to_owned())]);
    let expected = ["a \"quoted\"\n text", "other words of another line"];
    assert_eq!(column("text"), some(expected));
    assert_eq!(column("source"), some([path.to_str().unwrap(); 2]));
    let fields = r#"{"id":7,"url":null,"n":1.50,"l":[1 ,{"x":2}]}"#;
    assert_eq!(column("fields"), some([fields, "{}"]));
    // An empty shard has the columns.
    assert_eq!(fs::read_dir(out.path().join("removed")).unwrap().count(), 1);
    let empty = File::open(out.path().join("removed/part-00000.parquet")).unwrap();
    let builder = ParquetRecordBatchReaderBuilder::try_new(empty).unwrap();
    assert_eq!(builder.schema().fields().len(), 6);
    assert_eq!(builder.metadata().file_metadata().num_rows(), 0);
}

#[test]
fn a_nested_text_is_written_once() {
    let line = r#"{"doc":{"text":"some words","x":1},"k":2}"#;
    let (_directory, path) = file(format!("{line}\n").as_bytes());
    let mut job = table_job(1 << 30);
    job.reading.text_field = "doc.text".to_owned();
    let out = output(&job, &[path], 1);
    let kept = out.path().join("kept");
    assert_eq!(texts(&kept, "text"), [Some("some words".to_owned())]);
    let fields = r#"{"doc":{"text":"","x":1},"k":2}"#;
    assert_eq!(texts(&kept, "fields"), [Some(fields.to_owned())]);
}

/// A table of documents: `first` is the number of the first one.
fn numbered(path: &Path, first: i64, count: usize, with_score: bool) {
    let all = documents(first as u64 + 5, count);
    let ids: StringArray = all
        .iter()
        .map(|document| Some(document.id.clone()))
        .collect();
    let body: StringArray = all
        .iter()
        .map(|document| Some(document.text.clone()))
        .collect();
    let numbers: Int64Array = (first..first + count as i64).map(Some).collect();
    let scores: Float64Array = (0..count).map(|number| Some(number as f64 / 4.0)).collect();
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("n", Arc::new(numbers)),
        ("text", Arc::new(body)),
        ("id", Arc::new(ids)),
    ];
    if with_score {
        columns.push(("score", Arc::new(scores)));
    }
    table(path, columns);
}

/// Promise (Deduplication): Shards have the records of the kept …
#[test]
fn tables_keep_their_columns() {
    let directory = tempfile::tempdir().unwrap();
    let paths = ["b.parquet", "a.parquet"].map(|name| directory.path().join(name));
    numbered(&paths[0], 0, 150, false);
    numbered(&paths[1], 150, 150, true);
    let out = output(&table_job(20_000), &paths, 2);
    let [kept, removed] = ["kept", "removed"].map(|name| out.path().join(name));
    let dropped: Vec<(String, u64)> = lines(&out.path().join("duplicates.jsonl"))
        .iter()
        .map(|line| {
            let file = line["file"].as_str().unwrap().to_owned();
            (file, line["start"].as_u64().unwrap())
        })
        .collect();
    assert!(dropped.len() > 50);
    for (stream, is_removed) in [(&kept, false), (&removed, true)] {
        let found = shards(stream);
        let batches = found.concat();
        assert_eq!(names(&batches[0]), ["n", "text", "id", "score", "source"]);
        let numbers: Vec<i64> = batches
            .iter()
            .flat_map(|batch| {
                batch
                    .column(0)
                    .as_primitive::<Int64Type>()
                    .values()
                    .to_vec()
            })
            .collect();
        let of = |number: &i64| {
            let path = &paths[(number / 150) as usize];
            (path.to_str().unwrap().to_owned(), (number % 150) as u64)
        };
        let expected: Vec<i64> = (0..300)
            .filter(|number| dropped.contains(&of(number)) == is_removed)
            .collect();
        assert_eq!(numbers, expected);
        // Borders: numbers have eight bytes, a score that the first table lacks none.
        let bytes = |batch: &RecordBatch| -> Vec<u64> {
            let length = |row: usize, name: &str| {
                batch
                    .column_by_name(name)
                    .unwrap()
                    .as_string::<i32>()
                    .value(row)
                    .len() as u64
            };
            let row = |row: usize| {
                let score = 8 * u64::from(batch.column(3).is_valid(row));
                8 + score + length(row, "text") + length(row, "id") + length(row, "source")
            };
            (0..batch.num_rows()).map(row).collect()
        };
        for (place, shard) in found.iter().enumerate() {
            let rows: Vec<u64> = shard.iter().flat_map(bytes).collect();
            let all: u64 = rows.iter().sum();
            assert!(all - rows.last().unwrap() < 20_000);
            assert!(all >= 20_000 || place + 1 == found.len());
        }
        assert!(found.len() > 1);
    }
    // The same rows as JSON Lines.
    let mut job = table_job(20_000);
    job.shards.format = WriteFormat::Jsonl;
    let out = output(&job, &paths, 2);
    let found = lines(&out.path().join("kept/part-00000.jsonl"));
    let expected = json!({
        "n": 0, "text": texts(&kept, "text")[0], "id": texts(&kept, "id")[0],
        "source": paths[0].to_str().unwrap(),
    });
    assert_eq!(found[0], expected);
}

/// Promise (Deduplication): Shards have the same bytes for …
#[test]
fn tables_have_the_same_bytes_for_any_threads_and_memory() {
    let directory = tempfile::tempdir().unwrap();
    let name = |name: &str| directory.path().join(name);
    numbered(&name("a.parquet"), 0, 200, true);
    write(&name("b"), Form::JsonlGzip, &documents(3, 200));
    write(&name("c"), Form::Pages, &documents(4, 100));
    // Only tables; lines and pages too; pages alone.
    for inputs in [&["a.parquet"][..], &["a.parquet", "b", "c"], &["c"]] {
        let inputs: Vec<PathBuf> = inputs.iter().map(|input| name(input)).collect();
        for mode in [WriteMode::Kept, WriteMode::Text] {
            let mut job = table_job(10_000);
            job.write = mode;
            let files = |job: &DedupJob, threads, memory| {
                let out = output_within(job, &inputs, threads, memory);
                let mut files = contents(out.path());
                files.retain(|name, _| name.extension().is_some_and(|kind| kind == "parquet"));
                files
            };
            let expected = files(&job, 1, 320);
            assert!(expected.len() >= 2, "{}", expected.len());
            for (threads, memory) in [(2, 320), (8, 320), (3, 4096)] {
                assert!(
                    files(&job, threads, memory) == expected,
                    "{mode:?} {threads}"
                );
            }
        }
    }
}

#[test]
fn mixed_inputs_have_one_form() {
    let directory = tempfile::tempdir().unwrap();
    let name = |name: &str| directory.path().join(name);
    numbered(&name("a.parquet"), 0, 1, true);
    fs::write(name("b"), "{\"text\":\"these are some words\",\"k\":[1]}\n").unwrap();
    fs::write(
        name("c"),
        "page\nanother text of a page\x0cp2\nlast page of them\x0c",
    )
    .unwrap();
    let inputs = ["a.parquet", "b", "c"].map(name);
    let out = output(&table_job(1 << 30), &inputs, 2);
    let kept = out.path().join("kept");
    let fields: Vec<Value> = texts(&kept, "fields")
        .iter()
        .map(|text| serde_json::from_str(text.as_deref().unwrap()).unwrap())
        .collect();
    assert_eq!(fields[0], json!({"n": 0, "score": 0.0}));
    assert_eq!(fields[1], json!({"k": [1]}));
    assert_eq!(fields[2]["start"], 0);
    assert_eq!(fields[3]["xxh3_128"].as_str().unwrap().len(), 32);
    let ids = texts(&kept, "id");
    assert_eq!(
        ids[1].as_deref(),
        Some(&*format!("{}:0", inputs[1].display()))
    );
    assert_eq!(ids[3].as_deref(), Some("p2"));
}

/// Promise (Deduplication): A field of the input that …
#[test]
fn tables_that_do_not_fit_are_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let paths = ["a.parquet", "b.parquet"].map(|name| directory.path().join(name));
    let text = || -> ArrayRef { Arc::new(StringArray::from(vec!["some words"])) };
    table(
        &paths[0],
        vec![("text", text()), ("n", Arc::new(Int64Array::from(vec![1])))],
    );
    table(&paths[1], vec![("text", text()), ("n", text())]);
    let refused = |inputs: &[PathBuf], job: &DedupJob| {
        let out = tempfile::tempdir().unwrap();
        let resources = enough(1, out.path());
        let error = refusal(run(
            job,
            inputs,
            &[],
            out.path(),
            &resources,
            &Progress::new(),
        ));
        assert_eq!(error.kind(), ErrorKind::Parameter);
        assert!(fs::read_dir(out.path()).unwrap().next().is_none());
        error.to_string()
    };
    let error = refused(&paths, &table_job(1000));
    assert!(
        error.contains("a.parquet") && error.contains("b.parquet"),
        "{error}"
    );
    assert!(error.contains("\"n\" is of the type"), "{error}");
    let mut job = table_job(1000);
    job.shards.source_field = "n".to_owned();
    let error = refused(&paths[..1], &job);
    assert!(error.contains("--source-field n_file"), "{error}");
    // Their texts fit.
    let mut job = table_job(1000);
    job.write = WriteMode::Text;
    output(&job, &paths, 1);
}

#[test]
fn a_row_group_needs_memory() {
    let (_directory, path) = file(b"{\"text\":\"some words\"}\n");
    let out = tempfile::tempdir().unwrap();
    let resources = resources(1, out.path());
    let job = table_job(1000);
    let error = refusal(run(
        &job,
        &[path],
        &[],
        out.path(),
        &resources,
        &Progress::new(),
    ));
    assert_eq!(error.kind(), ErrorKind::Memory);
}
