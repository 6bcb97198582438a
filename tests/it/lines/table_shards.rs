//! Shards of Parquet, and shards of the rows of tables: only the texts change.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BinaryArray, DictionaryArray, Int64Array, LargeStringArray, RecordBatch,
    StringArray, StructArray,
};
use arrow_schema::{DataType, Field};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::properties::WriterProperties;
use serde_json::{Value, json};
use simtool::jobs::passages::lines::LinesJob;
use simtool::jobs::shards::WriteFormat;

use crate::lines::setup::json_of;
use crate::lines::shards::{output, records, shard_job, shards};

/// The texts of a table; the second row has none.
const TEXTS: [Option<&str>; 5] = [
    Some("same\none"),
    None,
    Some("same\ntwo \u{4e2d}"),
    Some("three"),
    Some("four\nsame\nfive"),
];
/// The rows that are written, and their texts after a cut.
const STAY: [(usize, &str); 4] = [
    (0, "same\none"),
    (2, "two \u{4e2d}"),
    (3, "three"),
    (4, "four\nfive"),
];

/// A table in row groups of two rows.
fn table(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(2))
        .build();
    let file = File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// All rows of the shards.
fn rows(job: &LinesJob, out: &Path) -> RecordBatch {
    let mut batches = Vec::new();
    for path in shards(job, out) {
        let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
        batches.extend(builder.build().unwrap().map(Result::unwrap));
    }
    arrow_select::concat::concat_batches(&batches[0].schema(), &batches).unwrap()
}

fn strings(array: &ArrayRef) -> Vec<&str> {
    array
        .as_string::<i32>()
        .iter()
        .map(Option::unwrap)
        .collect()
}

fn nested(path: &Path) {
    let field = |name: &str, kind| Arc::new(Field::new(name, kind, true));
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![
        Some(1),
        None,
        None,
        Some(4),
        Some(5),
    ]));
    let document = StructArray::from(vec![
        (field("k", DataType::Int64), numbers.clone()),
        (
            field("text", DataType::Utf8),
            Arc::new(StringArray::from(TEXTS.to_vec())) as ArrayRef,
        ),
    ]);
    table(
        path,
        vec![
            ("n", numbers),
            ("doc", Arc::new(document)),
            (
                "id",
                Arc::new(StringArray::from(vec!["a", "b", "c", "d", "e"])),
            ),
        ],
    );
}

fn cutting(format: WriteFormat) -> LinesJob {
    let mut job = shard_job("cut", format, 20);
    job.common.reading.text_field = "doc.text".to_owned();
    job
}

/// Promise (Repeated units): Shards have the documents that stay, with …
#[test]
fn only_the_text_of_a_row_changes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("in.parquet");
    nested(&path);
    let paths = [path.clone()];
    let job = cutting(WriteFormat::Parquet);
    let out = output(&job, &paths, 2);
    assert_eq!(shards(&job, out.path()).len(), 4);
    let rows = rows(&job, out.path());
    let expected = STAY.map(|(_, text)| text);
    let inner = rows.column(1).as_struct();
    assert_eq!(strings(inner.column(1)), expected);
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(4), Some(5)]));
    assert_eq!(inner.column(0), &numbers);
    assert_eq!(rows.column(0), &numbers);
    assert_eq!(strings(rows.column(2)), ["a", "c", "d", "e"]);
    assert_eq!(strings(rows.column(3)), [path.to_str().unwrap(); 4]);
    let summary = json_of(&out.path().join("summary.json"));
    assert_eq!(summary["written"]["cut"]["records"], 4);
    assert_eq!(summary["skipped"], 1);

    let job = cutting(WriteFormat::Jsonl);
    let out = output(&job, &paths, 2);
    let found = records(&job, out.path());
    let ids = ["a", "b", "c", "d", "e"];
    let numbers = [Some(1), None, None, Some(4), Some(5)];
    let record = |(row, text): (usize, &str)| {
        json!({
            "n": numbers[row], "doc": {"k": numbers[row], "text": text}, "id": ids[row],
            "source": path.to_str().unwrap(),
        })
    };
    let found: Vec<Value> = found
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(found, STAY.map(record));
}

/// Tables beside lines become rows with the text, and their other fields as JSON.
/// Promise (Repeated units): Shards have the documents that stay, with …
#[test]
fn rows_and_lines_become_one_table() {
    let directory = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = ["a.parquet", "b.jsonl"]
        .map(|name| directory.path().join(name))
        .to_vec();
    nested(&paths[0]);
    let line = r#"{"doc":{"text":"six\nsame","k":7},"day":"2024-05-06","id":9}"#;
    std::fs::write(&paths[1], line).unwrap();
    let mut job = cutting(WriteFormat::Parquet);
    job.common.reading.date_field = "day".to_owned();
    let out = output(&job, &paths, 1);
    let rows = rows(&job, out.path());
    let column = |name: &str| rows.column_by_name(name).unwrap();
    assert_eq!(strings(column("id")), ["a", "c", "d", "e", "9"]);
    let expected = [&STAY.map(|(_, text)| text)[..], &["six\n"]].concat();
    assert_eq!(strings(column("text")), expected);
    let fields = strings(column("fields"));
    let fields: Vec<Value> = fields
        .iter()
        .map(|text| serde_json::from_str(text).unwrap())
        .collect();
    assert_eq!(fields[4], json!({"doc": {"text": "", "k": 7}, "id": 9}));
    assert_eq!(fields[0]["n"], 1);
    assert_eq!(column("date").as_string::<i32>().value(4), "2024-05-06");
    assert!(column("date").is_null(0));
}

/// Whatever type the writer of a table had for texts.
/// Promise (Repeated units): Shards have the documents that stay, with …
#[test]
fn texts_of_every_type_are_changed() {
    let directory = tempfile::tempdir().unwrap();
    let bytes = TEXTS.map(|text| text.map(str::as_bytes)).to_vec();
    let columns: [(&str, ArrayRef); 3] = [
        ("large", Arc::new(LargeStringArray::from(TEXTS.to_vec()))),
        ("bytes", Arc::new(BinaryArray::from(bytes))),
        (
            "dictionary",
            Arc::new(DictionaryArray::<Int32Type>::from_iter(TEXTS)),
        ),
    ];
    for (name, column) in columns {
        let path = directory.path().join(name).with_extension("parquet");
        table(&path, vec![("text", column)]);
        let job = shard_job("cut", WriteFormat::Jsonl, 1 << 30);
        let out = output(&job, &[path], 2);
        let found = records(&job, out.path());
        let text = |line: &String| {
            let record: Value = serde_json::from_str(line).unwrap();
            record["text"].as_str().unwrap().to_owned()
        };
        let found: Vec<String> = found.iter().map(text).collect();
        assert_eq!(found, STAY.map(|(_, text)| text), "{name}");
    }
}
