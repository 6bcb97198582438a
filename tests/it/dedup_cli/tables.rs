//! Parquet files: rows, row groups, damage.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::properties::WriterProperties;

use crate::dedup_cli::{dedup, ids, lines, plan, summary, texts};
use crate::sandbox::{Sandbox, stderr};

fn write(path: &Path) {
    write_groups(path, None);
}

fn write_groups(path: &Path, most_rows: Option<usize>) {
    let texts = texts();
    let ids: StringArray = (0..40).map(|number| Some(format!("d{number}"))).collect();
    let texts: StringArray = texts.iter().map(Some).collect();
    let batch = RecordBatch::try_from_iter([
        ("id", Arc::new(ids) as ArrayRef),
        ("number", Arc::new(Int64Array::from_iter_values(0..40))),
        ("text", Arc::new(texts)),
    ])
    .unwrap();
    let file = fs::File::create(path).unwrap();
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(most_rows)
        .build();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn read(path: &Path) -> RecordBatch {
    let file = fs::File::open(path).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .unwrap()
        .build()
        .unwrap();
    let batches: Vec<_> = reader.map(Result::unwrap).collect();
    arrow_select::concat::concat_batches(&batches[0].schema(), &batches).unwrap()
}

/// Promise (Methods and their evaluation): The texts of the HTML page …
#[test]
fn a_table_gives_what_the_same_lines_give() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", lines());
    write(&sandbox.path("a.parquet"));
    dedup(&sandbox, "a.jsonl", "lines", &[]).success();
    dedup(&sandbox, "a.parquet", "rows", &["--write", "kept"]).success();
    let duplicates = |out: &str| ids(&sandbox.read(&format!("{out}/duplicates.jsonl")));
    assert_eq!(duplicates("rows"), duplicates("lines"));
    for page in ["lines/page.html", "rows/page.html"] {
        let page = sandbox.read(page);
        assert!(page.contains("<ins>end3</ins>"), "{page}");
    }

    let kept = read(&sandbox.path("rows/kept/a.parquet"));
    let numbers: Vec<i64> = kept["number"].as_primitive::<Int64Type>().values().to_vec();
    assert_eq!(
        numbers,
        (0..40).filter(|number| number % 4 != 3).collect::<Vec<_>>()
    );
    assert_eq!(kept.num_columns(), 3);
}

/// Damages the texts of a row group, of which nothing can be read then.
fn damage_row_group(path: &Path, group: usize) {
    let mut bytes = fs::read(path).unwrap();
    let file = fs::File::open(path).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let (start, length) = reader.metadata().row_group(group).column(2).byte_range();
    bytes[start as usize..(start + length) as usize].fill(0xff);
    fs::write(path, bytes).unwrap();
}

/// Promise (Deduplication): No document is lost: seen = …
#[test]
fn rows_of_a_damaged_row_group_count_one_by_one() {
    let sandbox = Sandbox::new();
    let path = sandbox.path("a.parquet");
    write_groups(&path, Some(10));
    damage_row_group(&path, 1);
    dedup(&sandbox, "a.parquet", "out", &[]).code(3);
    let summary = summary(&sandbox, "out");
    let counts = ["seen", "kept", "dropped", "skipped"].map(|name| summary[name].clone());
    assert_eq!(counts, [40, 23, 7, 10].map(serde_json::Value::from));
    let skipped = sandbox.read("out/skipped.jsonl");
    let skipped: serde_json::Value = serde_json::from_str(&skipped).unwrap();
    assert_eq!(
        (&skipped["start"], &skipped["length"]),
        (&10.into(), &10.into())
    );
}

/// The two readings of a table have batches of different lengths, so the second one can come
/// to rows that the first one lost.
/// Promise (Deduplication): Records that cannot be read are …
#[test]
fn rows_that_damage_took_are_not_written() {
    const ROWS: usize = 12_000;
    let sandbox = Sandbox::new();
    let path = sandbox.path("a.parquet");
    // The group of the first 10 000 rows is read in two batches.
    let text = |row: usize| match row {
        3 | 11_500 => "the same words".to_owned(),
        row => format!("words of row{row} and none else"),
    };
    let texts = (0..ROWS).map(|row| (![5, 11_000].contains(&row)).then(|| text(row)));
    let texts: StringArray = texts.collect();
    let ids: StringArray = (0..ROWS).map(|row| Some(format!("d{row}"))).collect();
    let columns = [
        ("id", Arc::new(ids) as ArrayRef),
        ("text", Arc::new(texts) as ArrayRef),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(10_000))
        .set_dictionary_enabled(false)
        .build();
    let file = fs::File::create(&path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    // The length of a text becomes one that no text has.
    let mut bytes = fs::read(&path).unwrap();
    let damaged = text(9_900);
    let at = memchr::memmem::find(&bytes, damaged.as_bytes()).unwrap();
    bytes[at - 4..at].copy_from_slice(&[0xff, 0xff, 0xff, 0x7f]);
    fs::write(&path, bytes).unwrap();

    let mut found = Vec::new();
    for (mode, skipped) in [("kept", "keep"), ("kept", "drop"), ("annotated", "drop")] {
        let out = format!("{mode}-{skipped}");
        let flags = ["--write", mode, "--skipped", skipped];
        dedup(&sandbox, "a.parquet", &out, &flags).code(3);
        let summary = summary(&sandbox, &out);
        let count = |name: &str| summary[name].as_u64().unwrap() as usize;
        assert_eq!((count("seen"), count("dropped")), (ROWS, 1));
        let lost: Vec<std::ops::Range<usize>> = sandbox
            .lines(&format!("{out}/skipped.jsonl"))
            .iter()
            .map(|line| {
                let number = |name: &str| line[name].as_u64().unwrap() as usize;
                number("start")..number("start") + number("length")
            })
            .collect();
        assert_eq!(
            lost.iter().map(ExactSizeIterator::len).sum::<usize>(),
            count("skipped")
        );
        let [first, taken, last] = &lost[..] else {
            panic!("{lost:?}");
        };
        assert_eq!((first, last), (&(5..6), &(11_000..11_001)));
        assert!(taken.start > 1024 && taken.start < 9_900 && taken.end == 10_000);
        let written = read(&sandbox.path(&format!("{out}/{mode}/a.parquet")));
        let ids = written["id"].as_string::<i32>();
        let ids: Vec<String> = ids.iter().map(|id| id.unwrap().to_owned()).collect();
        let stays = |row: &usize| match row {
            5 | 11_000 => skipped == "keep",
            11_500 => mode == "annotated",
            row => !taken.contains(row),
        };
        let expected: Vec<_> = (0..ROWS)
            .filter(stays)
            .map(|row| format!("d{row}"))
            .collect();
        assert_eq!(ids, expected, "{mode} {skipped}");
        found.push((ids.len(), count("kept")));
    }
    // Rows without a text stay, or are left out.
    let kept = found[0].1;
    assert_eq!(found, [(kept + 2, kept), (kept, kept), (kept + 1, kept)]);
}

/// Promise (Deduplication): The plan of a run samples …
#[test]
fn the_plan_counts_the_rows_of_a_table() {
    let sandbox = Sandbox::new();
    write(&sandbox.path("a.parquet"));
    let plan = plan(&sandbox, "a.parquet", "--write kept");
    assert_eq!(plan["documents"], 40);
    let text: usize = texts().iter().map(String::len).sum();
    let ratio = plan["text_bytes"].as_f64().unwrap() / text as f64;
    assert!((0.8..1.25).contains(&ratio), "{plan}");
    let bytes = fs::metadata(sandbox.path("a.parquet")).unwrap().len();
    assert!(plan["output_bytes"].as_u64().unwrap() < 4 * bytes + 40_000);
}

#[test]
fn a_table_is_annotated() {
    let sandbox = Sandbox::new();
    write(&sandbox.path("a.parquet"));
    dedup(&sandbox, "a.parquet", "out", &["--write", "annotated"]).success();
    let marked = read(&sandbox.path("out/annotated/a.parquet"));
    assert_eq!(marked.num_rows(), 40);
    let marks = marked["duplicate_of"].as_string::<i32>();
    for number in 0..40 {
        let mark = marks.is_valid(number).then(|| marks.value(number));
        let expected = (number % 4 == 3).then(|| format!("d{}", number - 1));
        assert_eq!(mark, expected.as_deref());
    }
}

/// A Parquet file whose stored schema has an integer of 33 bits instead of 32 at one of the places
/// where a 32 stands.
fn tables_with_odd_integers() -> Vec<Vec<u8>> {
    let columns: [(&str, ArrayRef); 3] = [
        ("id", Arc::new(StringArray::from(vec!["t1", "t2"]))),
        ("text", Arc::new(StringArray::from(texts()[..2].to_vec()))),
        ("number", Arc::new(Int32Array::from(vec![1, 2]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();

    let name = b"ARROW:schema";
    let begin = bytes
        .windows(name.len())
        .position(|part| part == name)
        .unwrap()
        + name.len();
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    let begin = begin
        + bytes[begin..]
            .windows(40)
            .position(|part| part.iter().all(|&byte| is_digit(byte)))
            .unwrap();
    let length = bytes[begin..]
        .iter()
        .take_while(|&&byte| is_digit(byte))
        .count();
    let schema = STANDARD.decode(&bytes[begin..begin + length]).unwrap();
    let offsets = (0..schema.len()).filter(|&offset| schema[offset] == 32);
    let damaged = offsets.map(|offset| {
        let mut schema = schema.clone();
        schema[offset] = 33;
        let mut bytes = bytes.clone();
        bytes[begin..begin + length].copy_from_slice(STANDARD.encode(schema).as_bytes());
        bytes
    });
    damaged.collect()
}

/// Promise (Errors and interruptions): A panic of a decoder on damaged input is an error of that
/// input, and is not reported as an internal error
#[test]
fn a_panic_of_the_decoder_is_no_internal_error() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", lines());
    for table in tables_with_odd_integers() {
        sandbox.write("t.parquet", table);
        let _ = fs::remove_dir_all(sandbox.path("out"));
        let assert = dedup(
            &sandbox,
            "a.jsonl",
            "out",
            &["t.parquet", "--write", "kept"],
        );
        let message = stderr(&assert);
        assert!(!message.contains("internal error"), "{message}");
    }
}
