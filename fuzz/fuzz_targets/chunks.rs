//! The documents of a file are the same for any chunk size, and starting from any chunk.
//!
//! Promise (Deduplication): Every parser accepts any bytes; memory …
#![no_main]

use std::collections::BTreeSet;
use std::io::Write;

use flate2::write::GzEncoder;
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use simtool::corpus::{ChunkReader, Format, HtmlText, Parsed, Parser, Position, Reading, Source};
use tempfile::NamedTempFile;
use xxhash_rust::xxh3::xxh3_64;

#[derive(Arbitrary, Debug)]
struct Case<'a> {
    /// The number of the format, detected if there is none with this number, and the compression.
    kind: u8,
    member_bytes: u8,
    most: u16,
    chunk_bytes: [u16; 2],
    content: &'a [u8],
}

fuzz_target!(|case: Case<'_>| {
    let format = [
        Format::FormFeed,
        Format::Jsonl,
        Format::Warc,
        Format::Arc,
        Format::WholeFile,
    ];
    let reading = |chunk_bytes| Reading {
        format: format.get(usize::from(case.kind % 8)).copied(),
        html: HtmlText::Visible,
        max_document_bytes: u64::from(case.most) + 1,
        chunk_bytes: usize::from(chunk_bytes) + 1,
        ..Reading::default()
    };
    let mut file = NamedTempFile::new().expect("space for a file");
    file.write_all(&packed(&case)).expect("space for a file");
    let Ok(source) = Source::of_file(file.path(), &reading(0)) else {
        return;
    };
    if source.format == Format::Parquet {
        return;
    }
    let [found, again] = case.chunk_bytes.map(|chunk_bytes| {
        let reading = reading(chunk_bytes);
        let (found, ends) = read(&source, &reading, Position::default());
        let step = ends.len().div_ceil(8).max(1);
        for &(end, before) in ends.iter().step_by(step) {
            assert_eq!(
                read(&source, &reading, end).0,
                found[before..],
                "from {end:?}"
            );
        }
        found
    });
    assert_eq!(found, again);
});

/// The documents from a position on, and for each chunk its end and the number of documents so far.
fn read(
    source: &Source,
    reading: &Reading,
    from: Position,
) -> (Vec<String>, Vec<(Position, usize)>) {
    let mut reader = ChunkReader::open(source, 7, reading, from).expect("it was opened before");
    let (mut parser, mut found, mut ends) = (Parser::new(reading), Vec::new(), Vec::new());
    let (mut start, mut places) = (from, BTreeSet::new());
    while let Some(chunk) = reader.next(Vec::new()).expect("it was read before") {
        assert!(ends.is_empty() && from == Position::default() || chunk.start == start);
        start = chunk.end;
        parser.for_each(source.format, &chunk, &|_| true, &mut |_, parsed| {
            let document = match parsed {
                Parsed::Document(document) => document,
                // For records, the reason depends on the contents of the chunk.
                Parsed::Skipped(skip) => return found.push(format!("{:?} is skipped", skip.place)),
                Parsed::Unwanted => panic!("all are wanted"),
            };
            let (place, raw) = (document.place, document.raw);
            assert!(
                places.insert((place.member, place.offset)),
                "{place:?} is read twice"
            );
            assert_eq!(
                chunk.range(&place).map(|range| &chunk.bytes()[range]),
                Some(raw)
            );
            assert!(raw.len() as u64 <= reading.max_document_bytes);
            let parts = [raw, document.id, document.url, document.date, document.text];
            found.push(format!(
                "{place:?} {:x?} {:?}",
                parts.map(xxh3_64),
                document.doubt
            ));
        });
        ends.push((chunk.end, found.len()));
    }
    (found, ends)
}

/// The content uncompressed, in gzip members, or in zstd frames.
fn packed(case: &Case<'_>) -> Vec<u8> {
    let members = case
        .content
        .chunks(8 * usize::from(case.member_bytes) + 1 + case.content.len() / 16);
    let gzip = |part: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(part).expect("in memory");
        encoder.finish().expect("in memory")
    };
    match case.kind / 8 % 4 {
        0 => members.flat_map(gzip).collect(),
        1 => members
            .flat_map(|part| zstd::bulk::compress(part, 1).expect("in memory"))
            .collect(),
        _ => case.content.to_vec(),
    }
}
