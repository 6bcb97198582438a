use super::*;
use crate::ErrorKind;
use crate::reading::Reading;
use arrow_array::RecordBatch;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, DictionaryArray, Float64Array, Int64Array,
    LargeStringArray, StringArray, StringViewArray, StructArray,
};
use arrow_schema::{DataType, Field};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

fn texts(rows: usize) -> Vec<Option<String>> {
    (0..rows)
        .map(|row| (row % 7 != 3).then(|| format!("text of row {row}")))
        .collect()
}

/// A table with a numeric id and a URL in a struct.
fn batch(text: ArrayRef) -> RecordBatch {
    let rows = text.len() as i64;
    let urls: StringArray = (0..rows)
        .map(|row| Some(format!("http://a/{row}")))
        .collect();
    let url = Arc::new(Field::new("url", DataType::Utf8, true));
    let meta = StructArray::from(vec![(url, Arc::new(urls) as ArrayRef)]);
    let scores: Float64Array = (0..rows).map(|row| row as f64 / 2.0).collect();
    RecordBatch::try_from_iter(vec![
        (
            "id",
            Arc::new((0..rows).collect::<Int64Array>()) as ArrayRef,
        ),
        ("text", text),
        ("meta", Arc::new(meta)),
        (
            "unread",
            Arc::new(StringArray::from_iter_values((0..rows).map(|_| "x"))),
        ),
        ("score", Arc::new(scores)),
    ])
    .unwrap()
}

fn write(path: &Path, batch: &RecordBatch, codec: Compression, group_rows: usize) {
    let properties = WriterProperties::builder()
        .set_compression(codec)
        .set_max_row_group_row_count(Some(group_rows))
        .build();
    let file = File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

fn reading() -> Reading {
    Reading {
        url_field: "meta.url".into(),
        fields: vec!["score".into()],
        ..Reading::default()
    }
}

fn open(path: &Path, reading: &Reading) -> Table {
    Table::open(path, reading).unwrap().unwrap()
}

type Rows = Vec<(u64, Option<String>, String, String)>;

fn rows(table: &Table, from: u64, reading: &Reading) -> (Rows, Vec<Lost>) {
    let (mut rows, mut lost) = (Vec::new(), Vec::new());
    for found in table.batches(from) {
        match found.unwrap() {
            Ok((first_row, batch)) => {
                assert_eq!(
                    batch.num_columns(),
                    4,
                    "only the requested columns are read"
                );
                let mut fields = Fields::of(&batch, reading);
                for index in 0..batch.num_rows() {
                    let number = first_row + index as u64;
                    let row = fields.row(index);
                    assert_eq!(row.fields[0].unwrap().number, Some(number as f64 / 2.0));
                    let string = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
                    rows.push((
                        number,
                        row.text.map(string),
                        string(row.id),
                        string(row.url),
                    ));
                }
            }
            Err(some) => lost.push(some),
        }
    }
    (rows, lost)
}

#[test]
fn every_kind_of_string_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    let texts = texts(100);
    let borrowed = || texts.iter().map(Option::as_deref);
    let columns: [ArrayRef; 4] = [
        Arc::new(borrowed().collect::<StringArray>()),
        Arc::new(borrowed().collect::<LargeStringArray>()),
        Arc::new(borrowed().collect::<StringViewArray>()),
        Arc::new(borrowed().collect::<DictionaryArray<Int32Type>>()),
    ];
    for column in columns {
        let batch = batch(column);
        // The layouts differ in memory; most do not in the file.
        let mut fields = Fields::of(&batch, &reading());
        assert_eq!(fields.row(4).text, Some(&b"text of row 4"[..]));
        assert_eq!(fields.row(3).text, None);
        assert_eq!(fields.row(1000).text, None);
        write(&path, &batch, Compression::SNAPPY, 40);
        for chunk_bytes in [1, 100, 1 << 20] {
            let reading = Reading {
                chunk_bytes,
                ..reading()
            };
            let table = open(&path, &reading);
            assert_eq!(table.rows(), 100);
            let (found, lost) = rows(&table, 0, &reading);
            assert!(lost.is_empty());
            let expected: Rows = texts
                .iter()
                .enumerate()
                .map(|(row, text)| {
                    (
                        row as u64,
                        text.clone(),
                        row.to_string(),
                        format!("http://a/{row}"),
                    )
                })
                .collect();
            assert_eq!(found, expected);
            // From the start of any batch.
            for (first_row, _) in table.batches(0).map(|found| found.unwrap().unwrap()) {
                let (found, _) = rows(&table, first_row, &reading);
                assert_eq!(found, expected[first_row as usize..]);
            }
        }
    }
}

#[test]
fn values_of_fields_are_those_of_json() {
    let value = |column: ArrayRef| {
        let batch = RecordBatch::try_from_iter([("score", column)]).unwrap();
        let mut fields = Fields::of(&batch, &reading());
        let value = fields.row(0).fields[0];
        value.map(|value| (value.text.to_vec(), value.number))
    };
    let decimal = Decimal128Array::from(vec![-12_345]);
    let decimal = decimal.with_precision_and_scale(9, 2).unwrap();
    type Value = Option<(&'static str, Option<f64>)>;
    let values: [(ArrayRef, Value); 6] = [
        (Arc::new(decimal), Some(("-123.45", Some(-123.45)))),
        (
            Arc::new(Float64Array::from(vec![2.0])),
            Some(("2.0", Some(2.0))),
        ),
        (Arc::new(Float64Array::from(vec![f64::NAN])), None),
        (
            Arc::new(BooleanArray::from(vec![true])),
            Some(("true", None)),
        ),
        (Arc::new(StringArray::from(vec![""])), Some(("", None))),
        (Arc::new(StringArray::from(vec![None::<&str>])), None),
    ];
    for (column, expected) in values {
        let kind = column.data_type().clone();
        let expected = expected.map(|(text, number)| (text.as_bytes().to_vec(), number));
        assert_eq!(value(column), expected, "{kind}");
    }
}

#[test]
fn batch_borders_do_not_depend_on_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    write(
        &path,
        &batch(Arc::new(texts(100).into_iter().collect::<StringArray>())),
        Compression::UNCOMPRESSED,
        40,
    );
    let reading = Reading {
        chunk_bytes: 300,
        ..reading()
    };
    let table = open(&path, &reading);
    let borders = |from| -> Vec<u64> {
        table
            .batches(from)
            .map(|batch| batch.unwrap().unwrap().0)
            .collect()
    };
    let all = borders(0);
    assert!(all.len() > 5 && all.contains(&40) && all.contains(&80));
    for (place, first_row) in all.iter().enumerate() {
        assert_eq!(borders(*first_row), all[place..]);
    }
}

#[test]
fn other_files_and_missing_columns_are_errors() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    let error = Table::open(&path, &reading()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Read);
    for bytes in [
        &b""[..],
        b"PAR1",
        b"PAR1\xff\xff\xff\xffPAR1",
        b"PAR1\xff\xff\xff\x7fPAR1",
    ] {
        std::fs::write(&path, bytes).unwrap();
        assert!(Table::open(&path, &reading()).unwrap().is_err());
    }
    write(
        &path,
        &batch(Arc::new(StringArray::from(vec!["a"]))),
        Compression::UNCOMPRESSED,
        10,
    );
    let other = Reading {
        text_field: "body".into(),
        ..reading()
    };
    let error = Table::open(&path, &other).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Parameter);
    assert!(
        error
            .to_string()
            .contains("\"body\" for the text; the columns are id, text, meta, unread, score (leave the file out with --exclude"),
        "{error}"
    );
}

fn read_all(path: &Path) -> Vec<RecordBatch> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    reader.build().unwrap().map(Result::unwrap).collect()
}

#[test]
fn copies_keep_schema_codec_and_rows() {
    let directory = tempfile::tempdir().unwrap();
    let (path, copy) = (
        directory.path().join("a.parquet"),
        directory.path().join("b.parquet"),
    );
    let zstd = Compression::ZSTD(ZstdLevel::try_new(3).unwrap());
    let whole = batch(Arc::new(
        texts(100).into_iter().collect::<LargeStringArray>(),
    ));
    write(&path, &whole, zstd, 30);

    let kept = copy_kept(&path, File::create(&copy).unwrap(), &mut |row| {
        Ok(row % 2 == 1)
    })
    .unwrap();
    assert_eq!(kept, 50);
    let batches = read_all(&copy);
    let written = arrow_select::concat::concat_batches(&batches[0].schema(), &batches).unwrap();
    let odd = arrow_array::BooleanArray::from_iter((0..100).map(|row| Some(row % 2 == 1)));
    let expected = arrow_select::filter::filter_record_batch(&whole, &odd).unwrap();
    assert_eq!(written, expected);
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(&copy).unwrap()).unwrap();
    let codec = builder.metadata().row_group(0).column(1).compression();
    assert!(matches!(codec, Compression::ZSTD(_)), "{codec:?}");

    let mut named = |row: u64| {
        Ok(match row {
            5 => Some(Annotation {
                duplicate_of: Some("first".to_owned()),
                cluster: Some(7),
                cluster_size: Some(2),
                cluster_sources: Some(2),
                cluster_sites: Some(1),
                similarity: Some(0.5),
            }),
            _ => Some(Annotation::default()),
        })
    };
    let rows = copy_annotated(&path, File::create(&copy).unwrap(), &mut named).unwrap();
    assert_eq!(rows, 100);
    let batches = read_all(&copy);
    let written = arrow_select::concat::concat_batches(&batches[0].schema(), &batches).unwrap();
    assert_eq!(written.project(&[0, 1, 2, 3, 4]).unwrap(), whole);
    let column = written.column_by_name("duplicate_of").unwrap();
    assert_eq!(column.null_count(), 99);
    let row = |name: &str| format!("{:?}", written.column_by_name(name).unwrap().slice(5, 1));
    assert!(
        row("duplicate_cluster").contains("UInt64>\n[\n  7,"),
        "{}",
        row("duplicate_cluster")
    );
    assert!(row("duplicate_cluster_size").contains("  2,"));
    assert!(row("duplicate_similarity").contains("  0.5,"));
    // An earlier column with that name and any content is replaced.
    let twice = directory.path().join("c.parquet");
    let mut other = |row: u64| {
        Ok(match row {
            7 => Some(Annotation {
                duplicate_of: Some("second".to_owned()),
                ..Annotation::default()
            }),
            10.. => None,
            _ => Some(Annotation::default()),
        })
    };
    let rows = copy_annotated(&copy, File::create(&twice).unwrap(), &mut other).unwrap();
    assert_eq!(rows, 10);
    let batches = read_all(&twice);
    let again = arrow_select::concat::concat_batches(&batches[0].schema(), &batches).unwrap();
    assert_eq!(again.schema(), written.schema());
    let column = again.column_by_name("duplicate_of").unwrap();
    assert_eq!((column.null_count(), column.is_valid(7)), (9, true));
    assert_eq!(again.project(&[0, 1, 2, 3, 4]).unwrap(), whole.slice(0, 10));
}

/// Promise (Deduplication): A Parquet file is copied with its row groups, and without Arrow's
/// embedded schema if that is damaged; an unsupported codec is refused by name, before anything is
/// read
#[test]
fn row_groups_are_kept_except_empty_ones() {
    let directory = tempfile::tempdir().unwrap();
    let (path, copy) = (
        directory.path().join("a.parquet"),
        directory.path().join("b.parquet"),
    );
    let text = texts(100).into_iter().collect::<StringArray>();
    write(&path, &batch(Arc::new(text)), Compression::SNAPPY, 30);
    let groups = |path: &Path| -> Vec<i64> {
        let file = File::open(path).unwrap();
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        let groups = builder.metadata().row_groups().iter();
        groups.map(|group| group.num_rows()).collect()
    };
    let output = || File::create(&copy).unwrap();
    copy_kept(&path, output(), &mut |row| Ok(!(30..=60).contains(&row))).unwrap();
    assert_eq!(groups(&copy), [30, 29, 10]);
    copy_annotated(&path, output(), &mut |_| Ok(Some(Annotation::default()))).unwrap();
    assert_eq!(groups(&copy), groups(&path));
}

/// The path of a file whose stored Arrow schema is damaged.
fn with_damaged_schema(directory: &Path) -> std::path::PathBuf {
    let path = directory.join("schema.parquet");
    let text = texts(20).into_iter().collect::<LargeStringArray>();
    write(&path, &batch(Arc::new(text)), Compression::SNAPPY, 30);
    let mut bytes = std::fs::read(&path).unwrap();
    let at = memchr::memmem::find(&bytes, b"ARROW:schema").unwrap();
    bytes[at + 20..at + 60].fill(b'!');
    std::fs::write(&path, bytes).unwrap();
    path
}

/// Promise (Deduplication): A Parquet file is copied with …
#[test]
fn a_file_with_a_damaged_arrow_schema_is_copied_without_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = with_damaged_schema(directory.path());
    let copy = directory.path().join("copy.parquet");
    let output = || File::create(&copy).unwrap();
    assert_eq!(
        copy_kept(&path, output(), &mut |row| Ok(row < 15)).unwrap(),
        15
    );
    let reading = reading();
    let (expected, _) = rows(&open(&path, &reading), 0, &reading);
    let (found, _) = rows(&open(&copy, &reading), 0, &reading);
    let texts = |rows: &Rows| -> Vec<_> { rows.iter().map(|row| row.1.clone()).collect() };
    assert_eq!(texts(&found), texts(&expected)[..15]);
}

/// Promise (Deduplication): A Parquet file is copied with …
#[test]
fn an_unsupported_codec_is_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    let text = texts(20).into_iter().collect::<StringArray>();
    write(&path, &batch(Arc::new(text)), Compression::SNAPPY, 30);
    // The codec of each column is field 4 of its metadata, after its path. 1 is Snappy and 3 is LZO,
    // stored as 2 and 6.
    let bytes = std::fs::read(&path).unwrap();
    let footer = bytes.len()
        - 8
        - u32::from_le_bytes(*bytes[..bytes.len() - 4].last_chunk().unwrap()) as usize;
    let wanted: [(&[u8], bool); 2] = [
        (b"\x18\x04text\x15\x02", true),
        (b"\x18\x06unread\x15\x02", false),
    ];
    for (column, is_read) in wanted {
        let mut changed = bytes.clone();
        let at = memchr::memmem::rfind(&changed[footer..], column);
        let Some(at) = at else {
            panic!("{:?}", String::from_utf8_lossy(&changed[footer..]));
        };
        changed[footer + at + column.len() - 1] = 6;
        std::fs::write(&path, changed).unwrap();
        let opened = Table::open(&path, &reading());
        let refused = match is_read {
            true => opened.map(drop),
            false => opened.unwrap().unwrap().check_all_codecs(&path),
        };
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Content);
        assert!(
            error.to_string().contains("is compressed with LZO"),
            "{error}"
        );
    }
}

#[test]
fn a_damaged_row_group_does_not_affect_others() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    write(
        &path,
        &batch(Arc::new(texts(90).into_iter().collect::<StringArray>())),
        Compression::SNAPPY,
        30,
    );
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).unwrap()).unwrap();
    let column = builder.metadata().row_group(1).column(1).clone();
    let (start, length) = column.byte_range();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[start as usize..(start + length) as usize].fill(0xff);
    std::fs::write(&path, bytes).unwrap();
    let reading = reading();
    let (found, lost) = rows(&open(&path, &reading), 0, &reading);
    let numbers: Vec<u64> = found.iter().map(|row| row.0).collect();
    assert_eq!(numbers, (0..30).chain(60..90).collect::<Vec<_>>());
    assert_eq!((lost.len(), lost[0].first_row, lost[0].rows), (1, 30, 30));
    assert!(
        lost[0].detail.starts_with("row group 1: "),
        "{}",
        lost[0].detail
    );
}

/// A number in the compact protocol of Thrift.
fn varint(number: i32) -> Vec<u8> {
    let mut left = ((number << 1) ^ (number >> 31)) as u32;
    let mut bytes = Vec::new();
    while left > 0x7f {
        bytes.push(left as u8 | 0x80);
        left >>= 7;
    }
    bytes.push(left as u8);
    bytes
}

/// A page header whose nested structure in `field` has only a number of values.
fn head(kind: i32, uncompressed: i32, compressed: i32, field: u8, values: i32) -> Vec<u8> {
    let numbers =
        [kind, uncompressed, compressed].map(|number| [&[0x15], &varint(number)[..]].concat());
    let structure = [&[(field - 3) << 4 | 12, 0x15], &varint(values)[..], &[0, 0]].concat();
    [numbers.concat(), structure].concat()
}

/// `head` with another kind of the field with index `field`; each field before it has two bytes.
fn with_kind(head: &[u8], field: usize, kind: u8) -> Vec<u8> {
    let mut head = head.to_vec();
    head[2 * field] = kind;
    head
}

/// Promise (Deduplication): Every parser accepts any bytes; memory …
/// Promise (Deduplication): Batches of a Parquet table stay …
#[test]
fn claims_of_pages_are_checked() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::ZSTD(ZstdLevel::default()),
    ];
    for codec in codecs {
        let texts: StringArray = texts(90).into_iter().collect();
        write(&path, &batch(Arc::new(texts)), codec, 30);
        let whole = std::fs::read(&path).unwrap();
        let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).unwrap()).unwrap();
        let column = builder.metadata().row_group(1).column(1).clone();
        let (start, length) = column.byte_range();
        let region = start as usize..(start + length) as usize;
        let most = i32::MAX;
        for (head, complaint) in [
            (
                head(0, most, 20, 5, 30),
                "that claims to be 2147483647 decompressed",
            ),
            (
                head(3, most, 20, 8, 30),
                "that claims to be 2147483647 decompressed",
            ),
            (
                head(2, 20, 20, 7, most),
                "a dictionary of 20 bytes that claims 2147483647 values",
            ),
            (head(2, 20, 20, 7, -1), "a size of -1"),
            (
                head(0, 20, most, 5, 30),
                "a page of 2147483647 bytes where the column has",
            ),
            (head(0, -1, 20, 5, 30), "a size of -1"),
            (head(0, 20, -1, 5, 30), "a size of -1"),
            (
                vec![0x15, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
                "not a page header",
            ),
            // Sizes of 64 bits, which the decoder reads as 32 bits, and a field that it reads as the
            // second one.
            (
                with_kind(&head(0, most, 20, 5, 30), 1, 0x16),
                "not a page header",
            ),
            (
                [&[0x15, 0][..], &[0x05, 0x84, 0x80, 0x08], &varint(most)].concat(),
                "not a page header",
            ),
        ] {
            let mut bytes = whole.clone();
            bytes[region.clone()].fill(0xff);
            bytes[region.start..][..head.len()].copy_from_slice(&head);
            std::fs::write(&path, bytes).unwrap();
            let reading = reading();
            let (found, lost) = rows(&open(&path, &reading), 0, &reading);
            assert_eq!(found.len(), 60);
            let detail = &lost[0].detail;
            assert!(
                detail.starts_with("row group 1: column text, byte "),
                "{detail}"
            );
            assert!(detail.contains(complaint), "{detail}");
        }
    }
}

#[test]
fn long_statistics_and_many_pages_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    let text = |row: usize| Some(format!("{row} {}", "long ".repeat(10_000)));
    let texts: StringArray = (0..20).map(text).collect();
    let whole = batch(Arc::new(texts));
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        let properties = WriterProperties::builder()
            .set_writer_version(version)
            .set_compression(Compression::GZIP(Default::default()))
            .set_statistics_enabled(EnabledStatistics::Page)
            .set_write_page_header_statistics(true)
            .set_statistics_truncate_length(None)
            .set_data_page_row_count_limit(5)
            .set_write_batch_size(5)
            .build();
        let file = File::create(&path).unwrap();
        let mut writer = ArrowWriter::try_new(file, whole.schema(), Some(properties)).unwrap();
        writer.write(&whole).unwrap();
        writer.close().unwrap();
        let (found, lost) = rows(&open(&path, &reading()), 0, &reading());
        assert!(lost.is_empty(), "{lost:?}");
        assert_eq!(found.len(), 20);
    }
}

#[test]
fn no_panic_escapes_for_any_wrong_byte() {
    let directory = tempfile::tempdir().unwrap();
    let (path, copy) = (
        directory.path().join("a.parquet"),
        directory.path().join("b.parquet"),
    );
    write(
        &path,
        &batch(Arc::new(texts(20).into_iter().collect::<StringArray>())),
        Compression::SNAPPY,
        10,
    );
    let bytes = std::fs::read(&path).unwrap();
    let reading = Reading {
        chunk_bytes: 200,
        ..reading()
    };
    for place in 0..bytes.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut spoiled = bytes.clone();
            spoiled[place] ^= flip;
            std::fs::write(&path, &spoiled).unwrap();
            if let Ok(Ok(table)) = Table::open(&path, &reading) {
                let mut count = 0;
                for found in table.batches(0) {
                    match found.unwrap() {
                        Ok((_, batch)) => {
                            let mut fields = Fields::of(&batch, &reading);
                            for index in 0..batch.num_rows() {
                                std::hint::black_box(fields.row(index));
                            }
                            count += batch.num_rows() as u64;
                        }
                        Err(lost) => count += lost.rows,
                    }
                }
                assert_eq!(count, table.rows(), "byte {place}");
            }
            let output = File::create(&copy).unwrap();
            let _ = copy_kept(&path, output, &mut |_| Ok(true));
        }
    }
}

#[test]
fn a_damaged_arrow_schema_loses_no_rows() {
    let directory = tempfile::tempdir().unwrap();
    let place = |name: &str| directory.path().join(name);
    let (path, copy) = (place("a.parquet"), place("copy.parquet"));
    let whole = batch(Arc::new(texts(20).into_iter().collect::<StringArray>()));
    write(&path, &whole, Compression::SNAPPY, 20);
    let sound = std::fs::read(&path).unwrap();
    let name = b"ARROW:schema";
    let start = memchr::memmem::find(&sound, name).unwrap() + name.len() + 8;
    for (skipped, letter) in [
        (0, b'A'),
        (8, b'A'),
        (8, b'/'),
        (40, b'z'),
        (60, b'A'),
        (60, b'-'),
    ] {
        let mut damaged = sound.clone();
        damaged[start + skipped..start + skipped + 24].fill(letter);
        std::fs::write(&path, &damaged).unwrap();
        assert_eq!(open(&path, &reading()).rows(), 20);
        let kept = copy_kept(&path, File::create(&copy).unwrap(), &mut |_| Ok(true));
        assert_eq!(kept.unwrap(), 20, "{skipped} {}", char::from(letter));
        let copied: usize = read_all(&copy).iter().map(RecordBatch::num_rows).sum();
        assert_eq!(copied, 20);
    }
}

#[test]
fn no_panic_escapes_for_any_truncation() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    write(
        &path,
        &batch(Arc::new(texts(20).into_iter().collect::<StringArray>())),
        Compression::SNAPPY,
        10,
    );
    let bytes = std::fs::read(&path).unwrap();
    for end in 0..bytes.len() {
        std::fs::write(&path, &bytes[..end]).unwrap();
        assert!(Table::open(&path, &reading()).unwrap().is_err(), "{end}");
    }
}

/// The number of rows of each batch of a file of `texts`, written with the given properties.
fn batch_sizes(texts: StringArray, properties: WriterProperties) -> Vec<usize> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.parquet");
    let whole = batch(Arc::new(texts));
    let file = File::create(&path).unwrap();
    let mut writer = ArrowWriter::try_new(file, whole.schema(), Some(properties)).unwrap();
    writer.write(&whole).unwrap();
    writer.close().unwrap();
    let reading = Reading {
        chunk_bytes: 1 << 16,
        ..reading()
    };
    let table = open(&path, &reading);
    let sizes: Vec<usize> = table
        .batches(0)
        .map(|found| found.unwrap().unwrap().1.num_rows())
        .collect();
    assert_eq!(sizes.iter().sum::<usize>(), whole.num_rows());
    sizes
}

/// Promise (Deduplication): Batches of a Parquet table stay small, wherever its long values are and
/// however they are repeated
#[test]
fn repeated_values_do_not_exceed_the_memory() {
    // A dictionary with one text of 60 KB, which 300 rows share; the mean length is about zero.
    let giant = "giant ".repeat(10_000);
    let same = StringArray::from_iter((0..300).map(|_| Some(&giant)));
    let dictionary = WriterProperties::builder()
        .set_dictionary_page_size_limit(2 << 20)
        .build();
    let sizes = batch_sizes(same.clone(), dictionary);
    assert!(sizes.iter().all(|&rows| rows <= 280), "{sizes:?}");
    // A long dictionary of short values does not make batches shorter.
    let many = (0..6000).map(|row| Some(format!("{row} {}", &giant[..100])));
    let dictionary = WriterProperties::builder()
        .set_dictionary_page_size_limit(2 << 20)
        .build();
    let sizes = batch_sizes(many.collect(), dictionary);
    assert!(sizes[0] > 100, "{sizes:?}");

    // The same with values that repeat the previous one.
    let prefixes = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_column_encoding("text".into(), parquet::basic::Encoding::DELTA_BYTE_ARRAY)
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .build();
    let sizes = batch_sizes(same, prefixes);
    assert!(sizes.iter().all(|&rows| rows <= 280), "{sizes:?}");

    // All long texts are in a few pages, among many pages of empty texts.
    let uneven = (0..60_000).map(|row| Some(if row < 2000 { &giant[..3000] } else { "" }));
    let plain = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_data_page_row_count_limit(500)
        .set_write_batch_size(100)
        .build();
    let sizes = batch_sizes(uneven.collect(), plain);
    assert!(sizes.iter().all(|&rows| rows <= 22), "{sizes:?}");
}
