//! Tests of reading: any chunk size, resume position, bytes and damage.

use super::chunk::{Body, Chunk, Position};
use super::decompress::Inflaters;
use super::document::{NO_MEMBER, Reason};
use super::reader::ChunkReader;
use super::reading::Reading;
use super::source::Format;
use super::test_files::{ReadItem, TestFile, gzip, reading, summary, zstd};
use crate::reader::cut::MAX_RECORDS;
use proptest::prelude::*;
use std::io::Write;

fn lines(range: std::ops::Range<u32>) -> Vec<u8> {
    let line = |number| format!("{{\"id\": {number}, \"text\": \"text {number}\"}}\n");
    range.map(line).collect::<String>().into_bytes()
}

fn texts(range: std::ops::Range<u32>) -> Vec<String> {
    range.map(|number| format!("text {number}")).collect()
}

/// Text that does not compress, so that damage hits the intended bytes.
fn noise(length: usize) -> String {
    let mut state = 1u64;
    let mut byte = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        char::from(b'a' + ((state >> 40) % 26) as u8)
    };
    (0..length).map(|_| byte()).collect()
}

#[test]
fn a_damaged_member_costs_only_its_documents() {
    for pack in [gzip, zstd] {
        let members: Vec<Vec<u8>> = (0..5)
            .map(|part| pack(&lines(part * 10..part * 10 + 10)))
            .collect();
        for damaged in 0..5usize {
            let mut expected = Vec::new();
            let mut content = Vec::new();
            for (part, member) in members.iter().enumerate() {
                let mut member = member.clone();
                if part == damaged {
                    let middle = member.len() / 2;
                    member[middle] ^= 0x55;
                    expected.push("damaged".to_owned());
                } else {
                    expected.extend(texts(part as u32 * 10..part as u32 * 10 + 10));
                }
                content.extend(member);
            }
            for chunk_bytes in [1, 100, 1 << 20] {
                let file = TestFile::new(&content, reading(Format::Jsonl, chunk_bytes, 1 << 20));
                assert_eq!(summary(&file.read()), expected, "{damaged} {chunk_bytes}");
                resumes_anywhere(&file);
            }
        }
    }
}

/// As for `zcat`, what follows the last member takes nothing from it.
/// Promise (Failing inputs): What follows the last member of a gzip or zstd file takes no record
/// from it
#[test]
fn the_last_record_before_trailing_bytes_is_read() {
    let last = [&lines(0..2)[..], lines(2..3).trim_ascii_end()].concat();
    for pack in [gzip, zstd] {
        let content = [pack(&last), b"junk".to_vec()].concat();
        let file = TestFile::new(&content, reading(Format::Jsonl, 1 << 20, 1 << 20));
        let found = summary(&file.read());
        assert_eq!(found[..3], texts(0..3));
        assert_eq!(found[3..], ["damaged"]);
        resumes_anywhere(&file);
        // Before another member, the record may go on in what is damaged.
        let content = [pack(&last), b"junk".to_vec(), pack(&lines(3..5))].concat();
        let file = TestFile::new(&content, reading(Format::Jsonl, 1 << 20, 1 << 20));
        let expected = [texts(0..2), vec!["damaged".to_owned()], texts(3..5)].concat();
        assert_eq!(summary(&file.read()), expected);
    }
}

/// Lines with ids and texts, enough for a long member.
fn long_lines() -> Vec<String> {
    let noise = noise(3_000_000);
    let line = |number: usize| {
        let text = &noise[number * 10_000..][..10_000];
        format!("{{\"id\": \"l{number}\", \"text\": \"{text}\"}}\n")
    };
    (0..300).map(line).collect()
}

/// A gzip member with an empty stored block after each piece, whose damage is always detected.
fn gzip_with_marks(pieces: &[String]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    for piece in pieces {
        encoder.write_all(piece.as_bytes()).unwrap();
        encoder.flush().unwrap();
    }
    encoder.finish().unwrap()
}

#[test]
fn a_damaged_long_member_costs_the_bytes_after_the_damage() {
    let long = long_lines();
    let mut marked = gzip_with_marks(&long);
    let from = marked.len() * 2 / 3;
    let mark = memchr::memmem::find(&marked[from..], &[0, 0, 0xff, 0xff]).unwrap();
    marked[from + mark] = 0x55;
    let mut framed = zstd(long.concat().as_bytes());
    // More than a block, so that the header of a block is damaged.
    let middle = framed.len() * 2 / 3;
    framed[middle..middle + (100 << 10)].fill(0xff);
    for (mut content, next) in [(marked, gzip(&lines(0..10))), (framed, zstd(&lines(0..10)))] {
        content.extend(next);
        let file = TestFile::new(&content, reading(Format::Jsonl, 1 << 20, 1 << 20));
        let found = summary(&file.read());
        let place = found.iter().position(|found| found == "damaged").unwrap();
        assert!((100..250).contains(&place), "{place}");
        assert_eq!(found[place + 1..], texts(0..10));
        resumes_anywhere(&file);
    }
}

/// Huffman codes of few lengths resynchronise after damage, so only the checksum detects it. The
/// documents of a long member have been returned by then.
#[test]
fn damage_that_only_a_checksum_detects_is_reported_after_a_long_member() {
    let mut content = gzip(long_lines().concat().as_bytes());
    let middle = content.len() * 2 / 3;
    content[middle..middle + 100].fill(0xff);
    content.extend(gzip(&lines(0..10)));
    let file = TestFile::new(&content, reading(Format::Jsonl, 1 << 20, 1 << 20));
    let found = file.read();
    let texts = texts(0..10);
    let place = found.len() - texts.len() - 1;
    assert_eq!(summary(&found)[place + 1..], texts);
    let ReadItem::Skip { reason, detail, .. } = &found[place] else {
        panic!()
    };
    assert_eq!(*reason, Reason::Damaged);
    assert!(
        detail.contains("gzip member there is damaged after 30"),
        "{detail}"
    );
    assert!(
        detail.contains("documents among them may be garbled"),
        "{detail}"
    );
    resumes_anywhere(&file);
}

#[test]
fn the_whole_documents_of_a_truncated_file_are_read() {
    for pack in [gzip, zstd] {
        let content = [pack(&lines(0..10)), pack(&lines(10..2000))].concat();
        let first = pack(&lines(0..10)).len();
        for length in [
            first + 1,
            first + 3,
            first + 9,
            content.len() - 9,
            content.len() - 1,
        ] {
            let file = TestFile::new(&content[..length], reading(Format::Jsonl, 500, 1 << 20));
            let found = summary(&file.read());
            let (last, documents) = found.split_last().unwrap();
            assert_eq!(last, "truncated", "{length}");
            assert_eq!(documents, texts(0..documents.len() as u32));
            assert!(documents.len() >= 10);
            resumes_anywhere(&file);
        }
    }
}

/// The error of zstd for this frame depends on the buffer sizes of earlier frames.
#[test]
fn a_damaged_frame_does_not_depend_on_the_start() {
    // It claims 200 bytes, and repeats one byte 150 times, twice.
    let damaged = b"\x28\xb5\x2f\xfd\x20\xc8\xb2\x04\x00\x31\xb3\x04\x00\x31";
    // Frames that state their length need no larger buffer.
    let pack = |range| ::zstd::bulk::compress(&lines(range), 3).unwrap();
    let content = [&pack(0..100)[..], &pack(100..101), damaged].concat();
    let file = TestFile::new(&content, reading(Format::Jsonl, 1, 1000));
    assert_eq!(summary(&file.read()).last().unwrap(), "damaged");
    resumes_anywhere(&file);
    let chunks = file.chunks(Position::default());
    let rest = file.chunks(chunks[100].end);
    assert_eq!(file.parse(&rest), file.parse(&chunks[101..]));
}

#[test]
fn bytes_after_the_last_member_are_padding_or_damage() {
    let mut content = gzip(&lines(0..3));
    content.extend([0; 1000]);
    let file = TestFile::new(&content, reading(Format::Jsonl, 10, 1000));
    assert_eq!(summary(&file.read()), texts(0..3));
    content.push(b'x');
    let file = TestFile::new(&content, reading(Format::Jsonl, 10, 1000));
    let found = file.read();
    assert_eq!(summary(&found)[3..], ["damaged"]);
    let ReadItem::Skip { detail, .. } = &found[3] else {
        panic!()
    };
    assert!(detail.contains("1001 compressed bytes"), "{detail}");
}

#[test]
fn lines_and_pages_may_cross_members() {
    for pack in [gzip, zstd] {
        let content: Vec<u8> = lines(0..50).chunks(7).flat_map(pack).collect();
        for chunk_bytes in [1, 60, 10_000] {
            let file = TestFile::new(&content, reading(Format::Jsonl, chunk_bytes, 1000));
            assert_eq!(summary(&file.read()), texts(0..50));
            resumes_anywhere(&file);
        }
    }
}

#[test]
fn places_lead_to_the_records() {
    let content: Vec<u8> = lines(0..50).chunks(70).flat_map(gzip).collect();
    let file = TestFile::new(&content, reading(Format::Jsonl, 100, 1000));
    for found in file.read() {
        let ReadItem::Document { place, raw, .. } = found else {
            panic!()
        };
        let mut decoder = flate2::read::MultiGzDecoder::new(&content[place.member as usize..]);
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut decoder, &mut bytes).unwrap();
        assert_eq!(bytes[place.offset as usize..][..place.length as usize], raw);
        assert_eq!(place.source, 7);
    }
    let plain = lines(0..50);
    let file = TestFile::new(&plain, reading(Format::Jsonl, 100, 1000));
    for found in file.read() {
        let place = found.place();
        assert_eq!(place.member, NO_MEMBER);
        assert_eq!(plain[(place.offset + place.length) as usize - 1], b'\n');
    }
}

#[test]
fn a_document_that_is_too_large_is_skipped() {
    let long = format!("{{\"text\": \"{}\"}}\n", "x".repeat(3_000_000));
    let content = [&lines(0..3)[..], long.as_bytes(), &lines(3..5)].concat();
    let mut expected = texts(0..5);
    expected.insert(3, "too_large".into());
    for content in [content.clone(), gzip(&content), zstd(&content)] {
        for chunk_bytes in [1, 80, 5_000_000] {
            let file = TestFile::new(&content, reading(Format::Jsonl, chunk_bytes, 1000));
            let found = file.read();
            assert_eq!(summary(&found), expected);
            assert_eq!(found[3].place().length, long.len() as u64);
            resumes_anywhere(&file);
            let file = TestFile::new(&content, reading(Format::WholeFile, chunk_bytes, 1000));
            assert_eq!(summary(&file.read()), ["too_large"]);
            resumes_anywhere(&file);
        }
    }
}

/// A record over the length limit is not examined, so a blank one is reported too.
#[test]
fn blank_records_that_are_too_large_are_skipped() {
    let blank = " ".repeat(40);
    let lines = [&lines(0..2)[..], blank.as_bytes(), b"\n \n", &lines(2..3)].concat();
    let pages = format!("a\ntext 0\x0cb\ntext 1\x0c{blank}\x0c \x0cc\ntext 2").into_bytes();
    for (format, content) in [(Format::Jsonl, lines), (Format::FormFeed, pages)] {
        for chunk_bytes in [1, 30, 1000] {
            let file = TestFile::new(&content, reading(format, chunk_bytes, 35));
            let expected = ["text 0", "text 1", "too_large", "text 2"];
            assert_eq!(summary(&file.read()), expected, "{format:?} {chunk_bytes}");
            resumes_anywhere(&file);
        }
    }
}

#[test]
fn a_damaged_whole_file_is_not_a_document() {
    let mut content = gzip(noise(5000).as_bytes());
    let file = TestFile::new(&content, reading(Format::WholeFile, 10, 1 << 20));
    assert_eq!(summary(&file.read()), [noise(5000)]);
    content[1000] ^= 0xff;
    let again = [&content[..], &gzip(b"more")].concat();
    let file = TestFile::new(&again, reading(Format::WholeFile, 10, 1 << 20));
    assert_eq!(summary(&file.read()), ["damaged"]);
    resumes_anywhere(&file);
    let file = TestFile::new(&content[..900], reading(Format::WholeFile, 10, 1 << 20));
    assert_eq!(summary(&file.read()), ["truncated"]);
}

#[test]
fn byte_order_marks_and_empty_files() {
    for content in [&b""[..], b"\xef\xbb\xbf"] {
        for content in [content.to_vec(), gzip(content), zstd(content)] {
            for format in [Format::Jsonl, Format::FormFeed, Format::WholeFile] {
                let file = TestFile::new(&content, reading(format, 10, 1000));
                assert!(file.read().is_empty());
            }
        }
    }
    for content in [
        b"\xef\xbb\xbfid\ntext".to_vec(),
        gzip(b"\xef\xbb\xbfid\ntext"),
    ] {
        let file = TestFile::new(&content, reading(Format::FormFeed, 10, 1000));
        let found = file.read();
        assert_eq!(summary(&found), ["text"]);
        assert_eq!(found[0].place().offset, 3);
        resumes_anywhere(&file);
    }
}

/// Checks that the chunks from every position are the same as without an interruption.
fn resumes_anywhere(file: &TestFile) {
    let chunks = file.chunks(Position::default());
    let step = chunks.len().div_ceil(40).max(1);
    for (number, chunk) in chunks.iter().enumerate().step_by(step) {
        let begun = |other: &&Chunk| other.start.section() == chunk.start.section();
        let before = chunks[..number].iter().rev().take_while(begun).count();
        let section = chunk.start.section();
        assert_eq!(chunk.start.chunk, section << 32 | before as u64);
        let rest = file.chunks(chunk.end);
        assert_eq!(file.parse(&rest), file.parse(&chunks[number + 1..]));
        let borders = |chunk: &super::Chunk| (chunk.start, chunk.end);
        assert!(
            rest.iter()
                .map(borders)
                .eq(chunks[number + 1..].iter().map(borders))
        );
        assert_eq!(chunk.end, rest.first().map_or(chunk.end, |next| next.start));
    }
    // The chunks contain the whole file, and nothing twice.
    for pair in chunks.windows(2) {
        assert_eq!(pair[0].end, pair[1].start);
    }
}

fn separated() -> impl Strategy<Value = (Format, Vec<u8>)> {
    let byte = prop::sample::select(&b"{\"text\": \"a\"}\n\n\x0c\x0c ab\\u\xff[1,\xef\xbb\xbf"[..]);
    let line = prop_oneof![
        Just(b"{\"text\": \"a\"}\n".to_vec()),
        Just(b"{\"id\":1,\"text\":\"\\u00e4\"}\n".to_vec()),
        prop::collection::vec(byte, 0..20),
    ];
    let content = prop::collection::vec(line, 0..20).prop_map(|lines| lines.concat());
    let format = prop_oneof![Just(Format::Jsonl), Just(Format::FormFeed)];
    (format, content)
}

/// The first bytes of files that resemble another format.
const MAGIC: &[&[u8]] = &[
    b"",
    b"\x1f\x8b\x08\x00",
    b"\x28\xb5\x2f\xfd",
    b"{\"text\":\"",
];

#[test]
fn a_source_of_any_size_has_a_bounded_number_of_sections() {
    let file = TestFile::new(b"{}\n", reading(Format::Jsonl, 100, 100));
    let sections = |bytes| {
        let source = super::source::Source {
            bytes: Some(bytes),
            ..file.source.clone()
        };
        source.sections(64)
    };
    assert_eq!([0, 64, 65, u64::MAX].map(sections), [1, 1, 2, 1 << 16]);
}

proptest! {
    #[test]
    fn any_chunks_and_members_give_the_same_documents(
        (format, content) in separated(),
        sizes in (1usize..200, 1usize..200),
        most in 1u64..100,
        member_bytes in 1usize..100,
    ) {
        let read = |content: &[u8], chunk_bytes| {
            let file = TestFile::new(content, reading(format, chunk_bytes, most));
            resumes_anywhere(&file);
            file.read()
        };
        let once = read(&content, 1 << 20);
        prop_assert_eq!(&once, &read(&content, sizes.0));
        for pack in [gzip, zstd] {
            let packed: Vec<u8> = content.chunks(member_bytes).flat_map(pack).collect();
            let packed = [read(&packed, sizes.0), read(&packed, sizes.1)];
            prop_assert_eq!(&packed[0], &packed[1]);
            prop_assert_eq!(summary(&packed[0]), summary(&once));
        }
    }

    #[test]
    fn sections_have_the_chunks_of_the_whole_file(
        (format, content) in separated(),
        section_bytes in 4u64..200,
        chunk_bytes in 1usize..200,
        most in 1u64..100,
    ) {
        let whole = TestFile::new(&content, reading(format, 1 << 20, most)).read();
        let reading = Reading { section_bytes, ..reading(format, chunk_bytes, most) };
        let file = TestFile::new(&content, reading);
        prop_assert_eq!(&file.read(), &whole);
        resumes_anywhere(&file);
        let (chunks, sections) = (file.chunks(Position::default()), file.section_chunks());
        let borders = |chunk: &Chunk| (chunk.start, chunk.end);
        prop_assert!(chunks.iter().map(borders).eq(sections.iter().map(borders)));
        prop_assert_eq!(file.parse(&sections), whole);
        for chunk in chunks {
            let end = section_bytes * (chunk.start.section() + 1);
            let last = end.saturating_sub(chunk.start.offset) as usize;
            let is_separator = |&byte: &u8| Some(byte) == format.separator();
            let behind = chunk.bytes().get(last.saturating_sub(1)..).unwrap_or_default();
            // Only the last document passes the end of the section.
            prop_assert!(behind.iter().take(behind.len().max(1) - 1).all(|byte| !is_separator(byte)));
        }
    }

    /// Promise (Deduplication): Every parser accepts any bytes; memory is bounded by the largest
    /// permitted document
    #[test]
    fn any_bytes_are_read_in_bounded_chunks(
        content in prop::collection::vec(any::<u8>(), 0..3000),
        magic in prop::sample::select(MAGIC),
        chunk_bytes in 1usize..1000,
    ) {
        let content = [magic, &content].concat();
        for format in [Format::Jsonl, Format::FormFeed, Format::WholeFile] {
            let file = TestFile::new(&content, reading(format, chunk_bytes, 500));
            for chunk in file.chunks(Position::default()) {
                prop_assert!(chunk.bytes().len() <= chunk_bytes + 500);
            }
            resumes_anywhere(&file);
        }
    }

    /// Concatenated records are a valid file, whether or not the last one has a separator.
    #[test]
    fn any_selection_of_records_is_a_file_of_them(
        (format, content) in separated(),
        stays in prop::collection::vec(any::<bool>(), 60),
    ) {
        let file = TestFile::new(&content, reading(format, 50, 500));
        let documents = file.read().into_iter().filter_map(|found| match found {
            ReadItem::Document { raw, id, text, .. } => Some((raw, (id, text))),
            ReadItem::Skip { .. } => None,
        });
        let kept: Vec<_> = documents.zip(stays).filter(|(_, stays)| *stays).collect();
        let (raws, expected): (Vec<_>, Vec<_>) = kept.into_iter().map(|(document, _)| document).unzip();
        // A byte-order mark is not text, but only at the start of a file.
        prop_assume!(!raws.first().is_some_and(|raw| raw.starts_with(b"\xef\xbb\xbf")));
        let file = TestFile::new(&raws.concat(), reading(format, 50, 500));
        let found = file.read().into_iter().map(|found| match found {
            ReadItem::Document { id, text, .. } => (id, text),
            ReadItem::Skip { reason, .. } => (reason.name().to_owned(), Vec::new()),
        });
        prop_assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn damage_anywhere_costs_at_most_its_member(
        at in 0usize..10_000,
        bit in 0u8..8,
        chunk_bytes in 1usize..1000,
    ) {
        for pack in [gzip, zstd] {
            let members: Vec<Vec<u8>> = (0..10).map(|part| pack(&lines(part * 5..part * 5 + 5))).collect();
            let mut content = members.concat();
            let at = at % content.len();
            content[at] ^= 1 << bit;
            let mut end = 0;
            let hit = members.iter().position(|member| { end += member.len(); at < end }).unwrap() as u32;
            let file = TestFile::new(&content, reading(Format::Jsonl, chunk_bytes, 500));
            let found = summary(&file.read());
            for number in (0..50).filter(|number| number / 5 != hit) {
                prop_assert!(found.contains(&format!("text {number}")), "{number} {hit}");
            }
            let skipped = |line: &String| !line.starts_with("text");
            // Some flags and dates in a header may change without effect. Without its flag, a
            // checksum is read as data. If the last member has no end any more, its documents are
            // those of a truncated member.
            let (bad, texts_found): (Vec<_>, Vec<_>) = found.into_iter().partition(skipped);
            let harmless = texts_found == texts(0..50);
            match bad.as_slice() {
                [] => prop_assert!(harmless),
                [garbled @ .., reason] if reason == "truncated" => {
                    prop_assert_eq!(hit, 9);
                    prop_assert!(garbled.iter().all(|reason| reason == "bad_json"), "{garbled:?}");
                }
                [reason] => {
                    prop_assert_eq!(reason, "damaged");
                    prop_assert!(harmless || texts_found.len() == 45, "{:?}", texts_found);
                }
                _ => prop_assert!(false, "{:?}", bad),
            }
            resumes_anywhere(&file);
        }
    }
}

#[test]
fn every_reason_for_lines_is_reported() {
    let content = b"{\"text\": 5}\n{\"id\": \"x\"}\n{\"text\": \"a}\n[]\n{\"text\": \"b\"} x\n\n{\"text\":\"ok\"}";
    let file = TestFile::new(content, reading(Format::Jsonl, 10, 1000));
    let found = file.read();
    let reasons: Vec<_> = found
        .iter()
        .filter_map(|found| match found {
            ReadItem::Skip { reason, detail, .. } => Some((*reason, detail.as_str())),
            ReadItem::Document { .. } => None,
        })
        .collect();
    assert_eq!(reasons[0], (Reason::NoText, "is a number"));
    assert_eq!(reasons[1], (Reason::NoText, "is missing"));
    assert_eq!(reasons[2].0, Reason::BadJson);
    assert_eq!(reasons[3].0, Reason::BadJson);
    assert!(
        reasons[3].1.contains("expected a JSON object"),
        "{reasons:?}"
    );
    assert_eq!(
        reasons[4],
        (Reason::BadJson, "column 15: trailing characters")
    );
    assert_eq!(summary(&found).last().unwrap(), "ok");
}

/// The concatenated bytes of the chunks and parts of a reader, and the chunks.
fn in_parts(file: &TestFile) -> (Vec<u8>, Vec<Chunk>) {
    let from = Position::default();
    let reader = ChunkReader::open(&file.source, 7, &file.reading, from).unwrap();
    let (mut bytes, mut chunks) = (Vec::new(), Vec::new());
    let mut reader = reader.in_parts();
    while let Some(chunk) = reader.next(Vec::new()).unwrap() {
        assert!(chunk.bytes().len() < 100 << 10, "{}", chunk.bytes().len());
        match &chunk.body {
            Body::Part { bytes: part, .. } => {
                assert!(part.len() <= 1 << 20);
                bytes.extend_from_slice(part);
            }
            _ => {
                bytes.extend_from_slice(chunk.bytes());
                chunks.push(chunk);
            }
        }
    }
    (bytes, chunks)
}

/// Promise (Deduplication): Records that cannot be read are …
#[test]
fn parts_of_long_records_and_chunks_are_the_file() {
    let long = |length: usize| "x".repeat(length);
    let record = |body: &str, claimed: usize| {
        format!(
            "WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: {claimed}\r\n\r\n{body}\r\n\r\n"
        )
    };
    let line = |text: &str| format!("{{\"text\":\"{text}\"}}\n");
    // Lengths around that of a part, and a claimed length beyond the end of the file.
    for length in [999, 5000, (1 << 20) - 13, 1 << 20, 3_500_000] {
        let lines = line("a") + &line(&long(length)) + &line("b") + &line(&long(length));
        let records = record("a", 1)
            + &record(&long(length), length)
            + &record("b", 1)
            + &record(&long(length), 9_000_000)
            + &record("c", 1);
        for (format, content) in [(Format::Jsonl, lines), (Format::Warc, records)] {
            let content = content.as_bytes();
            let members = |length| -> Vec<u8> { content.chunks(length).flat_map(gzip).collect() };
            for packed in [content.to_vec(), members(1 << 20), members(70_000_000)] {
                let is_compressed = packed != content;
                let file = TestFile::new(&packed, reading(format, 100, 900));
                let (found, chunks) = in_parts(&file);
                // In a compressed file, a wrong length covers all following bytes.
                assert!(found == content, "{format:?} {length} {is_compressed}");
                let others = file.chunks(Position::default());
                assert_eq!(chunks.len(), others.len());
                for (a, b) in chunks.iter().zip(&others) {
                    assert_eq!((a.start, a.bytes()), (b.start, b.bytes()));
                }
            }
        }
    }
}

#[test]
fn records_with_false_lengths_share_chunks_in_all_readings() {
    const COUNT: usize = 2 * MAX_RECORDS + 10;
    let damaged = "WARC/1.0\r\nContent-Length: 99999999999\r\n\r\n";
    let long = "WARC/1.0\r\nContent-Length: 1000\r\n\r\n".to_owned() + &"x".repeat(1000);
    let whole = "WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: 1\r\n\r\na\r\n\r\n";
    let content = [
        whole,
        &damaged.repeat(3),
        &long,
        &long,
        damaged,
        whole,
        &damaged.repeat(COUNT),
        whole,
    ]
    .concat();
    let file = TestFile::new(content.as_bytes(), reading(Format::Warc, 100, 900));
    let chunks = file.chunks(Position::default());
    assert!(chunks.len() < 10, "{}", chunks.len());
    let found = summary(&file.parse(&chunks));
    let count = |reason: &str| found.iter().filter(|found| *found == reason).count();
    // The long records are no documents.
    assert_eq!((count("a"), count("bad_record")), (3, COUNT + 4));
    assert_eq!(found.len(), COUNT + 7);
    let (bytes, others) = in_parts(&file);
    assert!(bytes == content.as_bytes());
    let starts = |chunks: &[Chunk]| -> Vec<_> {
        let chunks = chunks.iter();
        chunks
            .map(|chunk| (chunk.start, chunk.bytes().to_vec()))
            .collect()
    };
    assert_eq!(starts(&others), starts(&chunks));
    resumes_anywhere(&file);
}

/// Promise (Deduplication): Compressed members without dropped documents are …
#[test]
fn whole_members_are_those_of_the_file() {
    let content = lines(0..3000);
    for helped in [false, true] {
        let packed: Vec<u8> = content.chunks(777).flat_map(gzip).collect();
        let file = TestFile::new(&packed, reading(Format::Jsonl, 5000, 1 << 20));
        let from = Position::default();
        let chunks = match helped {
            true => file.helped_chunks(from, Inflaters::new(1)),
            false => file.chunks(from),
        };
        let mut count = 0;
        for chunk in &chunks {
            let Body::Bytes { bytes, whole, .. } = &chunk.body else {
                panic!("there is nothing else");
            };
            for member in whole {
                let file = member.file.start as usize..member.file.end as usize;
                assert!(gzip(&bytes[member.bytes.clone()]) == packed[file]);
                count += 1;
            }
        }
        // The end of each chunk cuts one member in two.
        assert!(count + chunks.len() >= content.len() / 777, "{count}");
    }
}

/// Promise (Bounded memory): The least memory of each command …
#[test]
fn empty_and_damaged_members_take_bounded_memory() {
    const COUNT: usize = 2 * MAX_RECORDS + 10;
    for pack in [gzip, zstd] {
        let empty = [pack(b"").repeat(COUNT), pack(&lines(0..10))].concat();
        let file = TestFile::new(&empty, reading(Format::Jsonl, 1 << 20, 1 << 20));
        let chunks = file.chunks(Position::default());
        assert_eq!(summary(&file.parse(&chunks)), texts(0..10));
        for chunk in chunks {
            let Body::Bytes { members, .. } = chunk.body else {
                panic!("there is nothing else");
            };
            assert!(members.len() <= 2, "{}", members.len());
        }
    }
    let damaged = [gzip(b""), b"?".to_vec()].concat().repeat(COUNT);
    let content = [damaged, gzip(&lines(0..10))].concat();
    let file = TestFile::new(&content, reading(Format::Jsonl, 1 << 20, 1 << 20));
    let chunks = file.chunks(Position::default());
    let found = summary(&file.parse(&chunks));
    assert_eq!(found[COUNT..], texts(0..10));
    assert!(found[..COUNT].iter().all(|found| found == "damaged"));
    assert!(
        chunks
            .iter()
            .all(|chunk| chunk.skipped.len() <= MAX_RECORDS)
    );
    assert!(chunks.len() > 2);
    resumes_anywhere(&file);
}
