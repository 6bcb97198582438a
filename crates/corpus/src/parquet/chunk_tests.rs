//! Tests of tables as sources.

use crate::ErrorKind;
use crate::chunk::{Chunk, Position};
use crate::document::{NO_MEMBER, Place, Reason};
use crate::parquet::MemoryRows;
use crate::reader::ChunkReader;
use crate::reading::Reading;
use crate::source::Format;
use crate::test_files::{ReadItem, TestFile, summary};
use arrow_array::RecordBatch;
use arrow_array::types::Int8Type;
use arrow_array::{ArrayRef, BinaryArray, DictionaryArray, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::properties::WriterProperties;
use std::fs::File;
use std::sync::Arc;

fn reading(chunk_bytes: usize) -> Reading {
    Reading {
        chunk_bytes,
        max_document_bytes: 1000,
        ..Reading::default()
    }
}

/// A table with ids and texts, in groups of 40 rows.
fn table(texts: &[Option<&[u8]>]) -> Vec<u8> {
    let ids: StringArray = (0..texts.len())
        .map(|row| Some(format!("id {row}")))
        .collect();
    let texts: BinaryArray = texts.iter().copied().collect();
    let columns = [("id", Arc::new(ids) as ArrayRef), ("text", Arc::new(texts))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(40));
    let mut bytes = Vec::new();
    let mut writer =
        ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties.build())).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

fn texts() -> Vec<Option<Vec<u8>>> {
    let text = |row: usize| match row % 10 {
        3 => None,
        5 => Some(b"broken \xff text".to_vec()),
        7 => Some("long ".repeat(300).into_bytes()),
        _ => Some(format!("text of row {row}").into_bytes()),
    };
    (0..100).map(text).collect()
}

/// The same documents as JSON Lines.
fn lines(texts: &[Option<Vec<u8>>]) -> Vec<u8> {
    let mut lines = Vec::new();
    for (row, text) in texts.iter().enumerate() {
        lines.extend(format!("{{\"id\": \"id {row}\"").bytes());
        if let Some(text) = text {
            lines.extend(b", \"text\": \"");
            lines.extend(text);
            lines.push(b'"');
        }
        lines.extend(b"}\n");
    }
    lines
}

/// Id, text and whether it is broken; for a skipped one, the reason.
fn contents(found: &[ReadItem]) -> Vec<(String, Vec<u8>, bool)> {
    let content = |found: &ReadItem| match found {
        ReadItem::Document {
            id, text, broken, ..
        } => (id.clone(), text.clone(), *broken),
        ReadItem::Skip { reason, .. } => (String::new(), reason.name().into(), false),
    };
    found.iter().map(content).collect()
}

/// The same rows in memory, in batches of different lengths and types.
fn rows_in_memory(texts: &[Option<Vec<u8>>], lengths: &[usize]) -> MemoryRows {
    let (mut batches, mut first) = (Vec::new(), 0);
    for &length in lengths {
        let end = (first + length).min(texts.len());
        let ids = (first..end).map(|row| Some(format!("id {row}")));
        let ids: DictionaryArray<Int8Type> = ids
            .collect::<Vec<_>>()
            .iter()
            .map(Option::as_deref)
            .collect();
        let own = texts[first..end].iter().map(Option::as_deref);
        let own: BinaryArray = own.collect();
        let columns = [("id", Arc::new(ids) as ArrayRef), ("text", Arc::new(own))];
        batches.push(RecordBatch::try_from_iter_with_nullable(
            columns.map(|(name, column)| (name, column, true)),
        ));
        first = end;
    }
    assert_eq!(first, texts.len());
    let batches: Vec<RecordBatch> = batches.into_iter().collect::<Result<_, _>>().unwrap();
    MemoryRows::new(&batches, "text").unwrap()
}

#[test]
fn rows_in_memory_and_equal_lines_have_the_same_documents() {
    let texts = texts();
    let expected = TestFile::new(&lines(&texts), reading(1 << 20)).read();
    for lengths in [&[100][..], &[0, 1, 2, 0, 57, 30, 10], &[1; 100]] {
        for (chunk_bytes, section_bytes) in
            [(1, 4), (3000, 4000), (3000, 1 << 20), (1 << 20, 1 << 20)]
        {
            let reading = Reading {
                section_bytes,
                ..reading(chunk_bytes)
            };
            let file = TestFile::of_rows(rows_in_memory(&texts, lengths), reading);
            let found = file.read();
            assert_eq!(contents(&found), contents(&expected));
            for (row, found) in found.iter().enumerate() {
                let place = found.place();
                let expected = Place::new(7, NO_MEMBER, row as u64, 1);
                assert_eq!(place, expected);
            }
            resumes_anywhere(&file);
            let borders = |chunk: &Chunk| (chunk.start, chunk.end);
            let (chunks, sections) = (file.chunks(Position::default()), file.section_chunks());
            assert!(chunks.iter().map(borders).eq(sections.iter().map(borders)));
            assert_eq!(file.parse(&sections), found);
            // Borders do not depend on batches.
            let whole = TestFile::of_rows(rows_in_memory(&texts, &[100]), file.reading.clone());
            let whole = whole.chunks(Position::default());
            assert!(whole.iter().map(borders).eq(chunks.iter().map(borders)));
            // A chunk ends with the text that makes it long enough.
            let longest = |chunk: &Chunk| chunk.memory_bytes() < chunk_bytes + 1500;
            assert!(chunks.iter().all(longest));
        }
    }
}

#[test]
fn rows_without_ids_are_called_by_their_numbers() {
    let texts: BinaryArray = ["a", "b", "c"]
        .map(|text| Some(text.as_bytes()))
        .into_iter()
        .collect();
    let batch = RecordBatch::try_from_iter([("text", Arc::new(texts) as ArrayRef)]).unwrap();
    let rows = MemoryRows::new(&[batch.slice(0, 1), batch.slice(1, 2)], "text").unwrap();
    let found = contents(&TestFile::of_rows(rows, reading(1)).read());
    let ids: Vec<&str> = found.iter().map(|(id, ..)| id.as_str()).collect();
    assert_eq!(ids, ["0", "1", "2"]);
}

fn resumes_anywhere(file: &TestFile) {
    let chunks = file.chunks(Position::default());
    let borders = |chunk: &Chunk| (chunk.start, chunk.end);
    for (number, chunk) in chunks.iter().enumerate() {
        let begun = |other: &&Chunk| other.start.section() == chunk.start.section();
        let before = chunks[..number].iter().rev().take_while(begun).count();
        let section = chunk.start.section();
        assert_eq!(chunk.start.chunk, section << 32 | before as u64);
        let rest = file.chunks(chunk.end);
        assert!(
            rest.iter()
                .map(borders)
                .eq(chunks[number + 1..].iter().map(borders))
        );
        assert_eq!(file.parse(&rest), file.parse(&chunks[number + 1..]));
    }
}

#[test]
fn a_table_and_equal_lines_have_the_same_documents() {
    let texts = texts();
    let borrowed: Vec<_> = texts.iter().map(Option::as_deref).collect();
    let expected = TestFile::new(&lines(&texts), reading(1 << 20)).read();
    for chunk_bytes in [1, 3000, 1 << 20] {
        let file = TestFile::new(&table(&borrowed), reading(chunk_bytes));
        assert_eq!(file.source.format, Format::Parquet);
        let found = file.read();
        assert_eq!(contents(&found), contents(&expected));
        for (row, found) in found.iter().enumerate() {
            let place = found.place();
            assert_eq!(
                (place.member, place.offset, place.length),
                (NO_MEMBER, row as u64, 1)
            );
            assert_eq!(place.source, 7);
        }
        resumes_anywhere(&file);
    }
    let chunks = TestFile::new(&table(&borrowed), reading(1)).chunks(Position::default());
    assert!(chunks.len() > 3);
}

#[test]
fn sections_have_the_row_groups_that_begin_in_them() {
    let texts = texts();
    let borrowed: Vec<_> = texts.iter().map(Option::as_deref).collect();
    let bytes = table(&borrowed);
    let whole = TestFile::new(&bytes, reading(3000)).read();
    let mut counts = Vec::new();
    for section_bytes in [4, 100, 500, 1000, bytes.len() as u64] {
        let reading = Reading {
            section_bytes,
            ..reading(3000)
        };
        let file = TestFile::new(&bytes, reading);
        assert_eq!(file.read(), whole);
        resumes_anywhere(&file);
        let (chunks, sections) = (file.chunks(Position::default()), file.section_chunks());
        let borders = |chunk: &Chunk| (chunk.start, chunk.end);
        assert!(chunks.iter().map(borders).eq(sections.iter().map(borders)));
        assert_eq!(file.parse(&sections), whole);
        for section in 0..file.source.sections(section_bytes) {
            let from = Position::of_section(section, section_bytes);
            let reader = ChunkReader::open(&file.source, 7, &file.reading, from).unwrap();
            let mut reader = reader.within_section(section);
            let end = (bytes.len() as u64).min(section_bytes * (section + 1));
            let mut last = section_bytes * section;
            assert_eq!(reader.file_offset(), last);
            while reader.next(Vec::new()).unwrap().is_some() {
                let now = reader.file_offset();
                assert!(last <= now && now <= end);
                last = now;
            }
        }
        let mut begun: Vec<_> = chunks.iter().map(|chunk| chunk.start.section()).collect();
        begun.dedup();
        counts.push(begun.len());
    }
    assert_eq!((counts[0], counts[4]), (3, 1));
}

#[test]
fn a_damaged_table_is_reported_once() {
    let reading = Reading {
        section_bytes: 50,
        ..reading(3000)
    };
    let content = [b"PAR1".as_slice(), &[0; 500], b"PAR1"].concat();
    let file = TestFile::new(&content, reading);
    assert_eq!(file.source.sections(50), 11);
    let sections = file.section_chunks();
    assert_eq!(summary(&file.parse(&sections)), ["damaged"]);
}

#[test]
fn damage_costs_only_its_row_group() {
    let texts: Vec<_> = (0..100).map(|row| format!("text {row}")).collect();
    let borrowed: Vec<_> = texts.iter().map(|text| Some(text.as_bytes())).collect();
    let mut bytes = table(&borrowed);
    let whole = TestFile::new(&bytes, reading(1));
    let opened = File::open(whole.source.file()).unwrap();
    let opened = ParquetRecordBatchReaderBuilder::try_new(opened);
    let (start, length) = opened
        .unwrap()
        .metadata()
        .row_group(1)
        .column(1)
        .byte_range();
    bytes[start as usize..(start + length) as usize].fill(0xff);
    for chunk_bytes in [1, 1 << 20] {
        let file = TestFile::new(&bytes, reading(chunk_bytes));
        let found = file.read();
        let mut expected = texts.clone();
        expected.splice(40..80, ["damaged".to_owned()]);
        assert_eq!(summary(&found), expected);
        let place = found[40].place();
        assert_eq!((place.offset, place.length), (40, 40));
        resumes_anywhere(&file);
    }
}

#[test]
fn a_table_without_a_footer_is_lost_as_a_whole() {
    let bytes = table(&[Some(b"a"), Some(b"b")]);
    let file = TestFile::new(&bytes[..bytes.len() - 9], reading(100));
    let found = file.read();
    assert!(
        matches!(
            found[..],
            [ReadItem::Skip {
                reason: Reason::Damaged,
                ..
            }]
        ),
        "{found:?}"
    );
    resumes_anywhere(&file);
}

#[test]
fn a_table_without_the_column_or_of_another_size_is_an_error() {
    let mut reading = reading(100);
    reading.text_field = "body".into();
    let file = TestFile::new(&table(&[Some(b"a")]), reading);
    let kind = |source| {
        let opened = ChunkReader::open(source, 0, &file.reading, Position::default());
        opened.err().map(|error| error.kind())
    };
    assert_eq!(kind(&file.source), Some(ErrorKind::Parameter));
    let mut source = file.source.clone();
    source.bytes = Some(1);
    assert_eq!(kind(&source), Some(ErrorKind::Changed));
}
