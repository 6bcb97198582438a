//! Input files for tests.

use super::chunk::{Chunk, Position};
use super::decompress::Inflaters;
use super::document::{Parsed, Place, Reason};
use super::parser::Parser;
use super::reader::ChunkReader;
use super::reading::Reading;
use super::source::{Format, Source};
use flate2::write::GzEncoder;
use std::io::Write;
use tempfile::NamedTempFile;

/// A gzip member.
pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A zstd frame with a checksum.
pub(super) fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ::zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Settings with a format and with small sizes.
pub(super) fn reading(format: Format, chunk_bytes: usize, max_document_bytes: u64) -> Reading {
    Reading {
        format: Some(format),
        chunk_bytes,
        max_document_bytes,
        ..Reading::default()
    }
}

/// A file on disk and its source.
pub(super) struct TestFile {
    _file: NamedTempFile,
    pub(super) source: Source,
    pub(super) reading: Reading,
}

impl TestFile {
    pub(super) fn new(content: &[u8], reading: Reading) -> TestFile {
        let mut file = NamedTempFile::new().unwrap();
        file.write_all(content).unwrap();
        let source = Source::of_file(file.path(), &reading).unwrap();
        TestFile {
            _file: file,
            source,
            reading,
        }
    }

    /// Rows in memory, with an empty file.
    #[cfg(feature = "parquet")]
    pub(super) fn of_rows(rows: crate::parquet::MemoryRows, reading: Reading) -> TestFile {
        TestFile {
            _file: NamedTempFile::new().unwrap(),
            source: Source::of_rows("rows".into(), rows),
            reading,
        }
    }

    /// The chunks from a position on.
    pub(super) fn chunks(&self, from: Position) -> Vec<Chunk> {
        self.chunks_of(ChunkReader::open(&self.source, 7, &self.reading, from).unwrap())
    }

    /// The chunks of all sections, each read on its own.
    pub(super) fn section_chunks(&self) -> Vec<Chunk> {
        let bytes = self.reading.section_bytes;
        let sections = (0..self.source.sections(bytes)).map(|section| {
            let from = Position::of_section(section, bytes);
            let reader = ChunkReader::open(&self.source, 7, &self.reading, from).unwrap();
            self.chunks_of(reader.within_section(section))
        });
        sections.flatten().collect()
    }

    /// The same, with members decompressed ahead.
    pub(super) fn helped_chunks(&self, from: Position, inflaters: Inflaters) -> Vec<Chunk> {
        let reader = ChunkReader::open(&self.source, 7, &self.reading, from).unwrap();
        self.chunks_of(reader.helped_by(inflaters))
    }

    fn chunks_of(&self, mut reader: ChunkReader) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        while let Some(chunk) = reader.next(Vec::new()).unwrap() {
            chunks.push(chunk);
            assert!(chunks.len() < 1_000_000);
        }
        chunks
    }

    /// The documents and skipped ones of all chunks, in order.
    pub(super) fn read(&self) -> Vec<ReadItem> {
        let chunks = self.chunks(Position::default());
        self.parse(&chunks)
    }

    /// The documents and skipped ones of some chunks, in order.
    pub(super) fn parse(&self, chunks: &[Chunk]) -> Vec<ReadItem> {
        let mut parser = Parser::new(&self.reading);
        let mut found = Vec::new();
        for chunk in chunks {
            let mut ordinals = 0..;
            parser.for_each(
                self.source.format,
                chunk,
                &|_| true,
                &mut |ordinal, parsed| {
                    assert_eq!(Some(ordinal), ordinals.next());
                    found.push(ReadItem::new(&parsed));
                },
            );
        }
        found
    }
}

/// A copy of a document or of a skipped one.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ReadItem {
    Document {
        place: Place,
        raw: Vec<u8>,
        id: String,
        text: Vec<u8>,
        broken: bool,
    },
    Skip {
        place: Place,
        reason: Reason,
        detail: String,
    },
}

impl ReadItem {
    fn new(parsed: &Parsed<'_>) -> ReadItem {
        match parsed {
            Parsed::Document(document) => ReadItem::Document {
                place: document.place,
                raw: document.raw.to_vec(),
                id: String::from_utf8_lossy(document.id).into_owned(),
                text: document.text.to_vec(),
                broken: document.doubt == super::document::Doubt::Broken,
            },
            Parsed::Skipped(skip) => ReadItem::Skip {
                place: skip.place,
                reason: skip.reason,
                detail: skip.detail.clone(),
            },
            Parsed::Unwanted => panic!("all are wanted"),
        }
    }

    pub(super) fn place(&self) -> Place {
        match self {
            ReadItem::Document { place, .. } | ReadItem::Skip { place, .. } => *place,
        }
    }
}

/// The texts of documents, and the names of reasons.
pub(super) fn summary(found: &[ReadItem]) -> Vec<String> {
    let line = |found: &ReadItem| match found {
        ReadItem::Document { text, .. } => String::from_utf8_lossy(text).into_owned(),
        ReadItem::Skip { reason, .. } => reason.name().to_owned(),
    };
    found.iter().map(line).collect()
}
