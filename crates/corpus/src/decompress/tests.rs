//! Tests that decompression ahead does not change the chunks of any file.

use super::inflaters::Inflaters;
use super::section::SectionSizes;
use crate::chunk::{Body, Chunk, Position};
use crate::document::Skip;
use crate::source::Format;
use crate::test_files::{TestFile, gzip, reading, zstd};
use flate2::{Compression, Crc, GzBuilder};
use proptest::prelude::*;
use std::io::Write;

fn gzip_at(level: u32, bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzBuilder::new().write(Vec::new(), Compression::new(level));
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A member whose header has all optional fields (RFC 1952, 2.3).
fn gzip_with_fields(bytes: &[u8]) -> Vec<u8> {
    let builder = GzBuilder::new().extra(*b"ab\x03\x00\x1f\x8b\x08");
    let builder = builder.filename("\x1f").comment("a comment").mtime(1);
    let mut encoder = builder.write(Vec::new(), Compression::new(6));
    encoder.write_all(bytes).unwrap();
    let mut member = encoder.finish().unwrap();
    // The checksum of the header follows the two texts.
    let names = 10 + 2 + 7;
    let ends = memchr::memchr_iter(0, &member[names..]).take(2).last();
    let end = names + ends.unwrap() + 1;
    member[3] |= 2;
    let mut crc = Crc::new();
    crc.update(&member[..end]);
    let sum = (crc.sum() as u16).to_le_bytes();
    member.splice(end..end, sum);
    member
}

/// A frame with a window of 16 MiB, which is not decompressed ahead.
fn zstd_with_window(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ::zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(24).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A skippable frame (RFC 8878, 3.1.2).
fn skippable(bytes: &[u8]) -> Vec<u8> {
    let length = (bytes.len() as u32).to_le_bytes();
    [b"\x50\x2a\x4d\x18", &length[..], bytes].concat()
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        Just(b"{\"text\": \"a\"}\n".to_vec()),
        Just(b"\x1f\x8b\x08\x00\x28\xb5\x2f\xfd\n".to_vec()),
        "\\{\"text\": \"[a-z]{0,40}\"\\}\n".prop_map(String::into_bytes),
    ];
    prop::collection::vec(line, 0..30).prop_map(|lines| lines.concat())
}

/// A part of a file.
fn piece(is_gzip: bool) -> impl Strategy<Value = Vec<u8>> {
    let garbage = prop::collection::vec(any::<u8>(), 0..20);
    (text(), garbage, 0u32..24, any::<prop::sample::Index>()).prop_map(
        move |(text, garbage, kind, place)| {
            let pack = if is_gzip { gzip } else { zstd };
            let member = match (kind, is_gzip) {
                (0, true) => gzip_with_fields(&text),
                (0, false) => zstd_with_window(&text),
                (1, true) => gzip_at(0, &text),
                (1, false) => skippable(&text),
                // Members within a stored member.
                (2, true) => gzip_at(0, &[pack(&text), pack(&text), text].concat()),
                (2, false) => skippable(&[pack(&text), pack(&text)].concat()),
                (3, _) => pack(b""),
                (4, _) => garbage.clone(),
                (5, _) => vec![0; garbage.len()],
                (6, true) => gzip_at(0, &text.repeat(20)),
                (6, false) => pack(&text.repeat(100)),
                _ => pack(&text),
            };
            let at = place.index(member.len().max(1));
            match kind {
                7 => member[..at].to_vec(),
                8 => [&member[..at], &garbage, &member[at..]].concat(),
                _ => member,
            }
        },
    )
}

fn file() -> impl Strategy<Value = Vec<u8>> {
    let pieces = any::<bool>().prop_flat_map(|is_gzip| {
        let first = if is_gzip {
            gzip(b"{}\n")
        } else {
            zstd(b"{}\n")
        };
        let pieces = prop::collection::vec(piece(is_gzip), 0..30);
        pieces.prop_map(move |pieces| [first.clone(), pieces.concat()].concat())
    });
    let flips = prop::collection::vec((any::<prop::sample::Index>(), 0u8..8), 0..4);
    (pieces, flips, any::<prop::sample::Index>(), 0u8..4).prop_map(
        |(mut content, flips, end, kind)| {
            if kind == 0 {
                for (place, bit) in flips {
                    let at = place.index(content.len());
                    content[at] ^= 1 << bit;
                }
            }
            if kind == 1 {
                content.truncate(end.index(content.len()));
            }
            content
        },
    )
}

/// All properties of a chunk.
type Facts = (Position, Position, Vec<u8>, Vec<(usize, u64)>, Vec<Skip>);

fn facts(chunk: Chunk) -> Facts {
    let (bytes, members) = match chunk.body {
        Body::Bytes { bytes, members, .. } => (bytes, members),
        Body::Part { .. } => panic!("there are no parts"),
        #[cfg(feature = "parquet")]
        Body::Rows { .. } => panic!("there are no tables"),
    };
    (chunk.start, chunk.end, bytes, members, chunk.skipped)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Promise (Deduplication): Threads without input decompress ahead for others; documents,
    /// places and damage reports do not change, for any file content
    #[test]
    fn chunks_are_the_same_with_help(
        content in file(),
        format in prop::sample::select(&[Format::Jsonl, Format::Warc, Format::WholeFile][..]),
        chunk_bytes in 1usize..2000,
        most in 1u64..2000,
        file_bytes in prop_oneof![1u64..100, 100u64..10_000],
        decoded_bytes in prop_oneof![0usize..100, 100usize..100_000],
        readers in 2usize..9,
        from in any::<prop::sample::Index>(),
    ) {
        let file = TestFile::new(&content, reading(format, chunk_bytes, most));
        let all = |chunks: Vec<Chunk>| chunks.into_iter().map(facts).collect::<Vec<_>>();
        let helped = |from| {
            let inflaters = Inflaters::with_counted_helpers(readers, SectionSizes { file_bytes, decoded_bytes });
            all(file.helped_chunks(from, inflaters))
        };
        let chunks = all(file.chunks(Position::default()));
        prop_assert_eq!(&helped(Position::default()), &chunks);
        if !chunks.is_empty() {
            let from = chunks[from.index(chunks.len())].1;
            prop_assert_eq!(helped(from), all(file.chunks(from)));
        }
    }
}

#[test]
fn all_fields_of_a_header_are_read() {
    let member = gzip_with_fields(b"{\"text\": \"a\"}\n");
    let file = TestFile::new(&member.repeat(3), reading(Format::Jsonl, 1, 100));
    let found = file.read();
    assert_eq!(crate::test_files::summary(&found), ["a"; 3]);
}

/// A chunk lists the members in which its bytes are, so many empty ones take no memory.
#[test]
fn empty_members_are_not_listed() {
    let line = b"{\"text\": \"a\"}\n";
    for (empty, member) in [
        (gzip(b""), gzip(line)),
        (skippable(b""), zstd(line)),
        (zstd(b""), zstd(line)),
    ] {
        let empty = empty.repeat(1000);
        let content = [&member, &empty, &member, &empty]
            .map(Vec::as_slice)
            .concat();
        let file = TestFile::new(&content, reading(Format::Jsonl, 1 << 20, 1000));
        let chunks = file.chunks(Position::default());
        let [
            Chunk {
                body: Body::Bytes { bytes, members, .. },
                ..
            },
        ] = &chunks[..]
        else {
            panic!("{} chunks", chunks.len());
        };
        assert_eq!(bytes, &[&line[..], line].concat());
        let second = (member.len() + empty.len()) as u64;
        assert!(
            members.len() <= 3 && members.contains(&(line.len(), second)),
            "{members:?}"
        );
        assert_eq!(file.read().len(), 2);
    }
}

/// Members within the stored bytes of others, all of which fail at the same place behind more than a
/// megabyte. Each is a member from its place on, so each could return the bytes up to that place.
#[test]
fn members_within_a_damaged_one_are_not_all_returned() {
    let line = b"{\"text\": \"a\"}\n";
    // A header, and a stored block of 65 535 bytes, which covers those behind it.
    let unit = [
        b"\x1f\x8b\x08\0\0\0\0\0\0\x03",
        &b"\0\xff\xff\0\0\nabc\n"[..],
    ]
    .concat();
    for bytes in [1_000_000, 1_200_000, 2_400_000] {
        let nested = unit.repeat(bytes / unit.len());
        let content = [&gzip(line)[..], &nested, &gzip(line)].concat();
        let file = TestFile::new(&content, reading(Format::Jsonl, 1 << 16, 1000));
        let chunks = file.chunks(Position::default());
        let returned: usize = chunks.iter().map(|chunk| chunk.bytes().len()).sum();
        assert!(returned < 2 * bytes, "{returned} of {bytes}");
        assert_eq!(crate::test_files::summary(&file.read())[0], "a");
    }
}

/// Members shortly before the damage of a long one, each of which expands to as much as that and fails at
/// the same place.
#[test]
fn members_shortly_before_damage_are_not_all_returned() {
    const MEMBERS: usize = 40;
    const UNIT: usize = 20;
    let text = b"abc\n".repeat(500_000);
    let mut tail = Vec::with_capacity(100_000);
    let mut deflate = flate2::Compress::new(Compression::best(), false);
    deflate
        .compress_vec(&text, &mut tail, flate2::FlushCompress::Sync)
        .unwrap();
    // A block of a type that does not exist.
    tail.push(7);
    let header = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\0";
    let nested: Vec<u8> = (1..=MEMBERS)
        .rev()
        .flat_map(|left| {
            // A stored block up to the tail, which covers the members behind it.
            let length = (left * UNIT - header.len() - 4) as u16;
            let lengths = [length.to_le_bytes(), (!length).to_le_bytes()].concat();
            [header, &lengths[..], b"\nabc\n"].concat()
        })
        .collect();
    assert_eq!(nested.len(), MEMBERS * UNIT);
    let content = [&gzip(b"{\"text\": \"a\"}\n")[..], &nested, &tail].concat();
    let file = TestFile::new(&content, reading(Format::Jsonl, 1 << 16, 1000));
    let chunks = file.chunks(Position::default());
    let returned: usize = chunks.iter().map(|chunk| chunk.bytes().len()).sum();
    assert!(
        (text.len()..2 * text.len()).contains(&returned),
        "{returned}"
    );
}

/// The end of a member is missing, and another file follows, as after an interrupted download: what its
/// decoder took for more of the long member is found.
#[test]
fn a_file_behind_the_beginning_of_another_is_found() {
    let line = |number: u64| {
        format!(
            "{{\"text\": \"{:x}\"}}\n",
            number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
        )
    };
    let long: String = (0..80_000).map(line).collect();
    let second = "{\"text\": \"second\"}\n".repeat(3);
    for pack in [gzip, zstd] {
        let first = pack(long.as_bytes());
        for end in [first.len() - 9, first.len() - 1000, first.len() - 70_000] {
            let content = [&first[..end], &pack(second.as_bytes())].concat();
            let file = TestFile::new(&content, reading(Format::Jsonl, 1 << 16, 1000));
            let found = crate::test_files::summary(&file.read());
            assert_eq!(found[found.len() - 3..], ["second"; 3]);
        }
    }
}

#[test]
fn a_large_window_is_told() {
    let mut encoder = ::zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(28).unwrap();
    encoder.long_distance_matching(true).unwrap();
    encoder.write_all(b"{\"text\": \"a\"}\n").unwrap();
    let file = TestFile::new(
        &encoder.finish().unwrap(),
        reading(Format::Jsonl, 1 << 16, 1000),
    );
    let chunks = file.chunks(Position::default());
    let detail = &chunks[0].skipped[0].detail;
    assert!(detail.contains("window of 256 MiB"), "{detail}");
}
