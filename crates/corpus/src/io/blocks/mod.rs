//! Immutable files of checksummed blocks, read by mapping.
//!
//! A file consists of blocks of 4096 bytes. The first is the header. Sections follow, each aligned
//! to a block and padded with zeros. At the end is a checksum for each preceding block: the 64-bit
//! xxh3 of its bytes, seeded with its number. All numbers are little-endian.
//!
//! | bytes of the header | |
//! |---|---|
//! | 0..8 | the magic number, `simtool` and a zero |
//! | 8..12 | version of this layout, 1 |
//! | 12..16 | kind of the contents, a number defined by the user of this module |
//! | 16..24 | length of the file |
//! | 24..32 | xxh3 of the checksums |
//! | 32..36 | number of sections, s, at most 32 |
//! | 36..40 | number of bytes of attributes, a |
//! | 40..40+16s | first byte and length of each section |
//! | then a bytes | attributes, defined by the user of this module |
//! | 4088..4096 | xxh3 of bytes 0..4088: the identity of the file |
//!
//! A block is verified against its checksum when something in it is read for the first time.

mod read;
mod write;

pub use read::{BlockFile, Source};
pub use write::BlockWriter;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Bytes of a block.
pub const BLOCK_BYTES: usize = 4096;

/// The advice in messages about damage.
const ADVICE: &str = " (restore it from a copy, or save what is intact by `rescue`)";

const MAGIC: [u8; 8] = *b"simtool\0";
const VERSION: u32 = 1;
const MOST_SECTIONS: usize = 32;
const SECTIONS_AT: usize = 40;
const IDENTITY_AT: usize = BLOCK_BYTES - 8;

fn checksum(block: &[u8], number: u64) -> u64 {
    xxh3_64_with_seed(block, number)
}

/// The header of a file.
struct Header {
    kind: u32,
    bytes: u64,
    checksums: u64,
    sections: Vec<(u64, u64)>,
    attributes: Vec<u8>,
}

impl Header {
    /// The header as a block, and its identity.
    fn encode(&self) -> ([u8; BLOCK_BYTES], u64) {
        let mut out = Vec::with_capacity(BLOCK_BYTES);
        out.extend(MAGIC);
        out.extend(VERSION.to_le_bytes());
        out.extend(self.kind.to_le_bytes());
        out.extend(self.bytes.to_le_bytes());
        out.extend(self.checksums.to_le_bytes());
        out.extend((self.sections.len() as u32).to_le_bytes());
        out.extend((self.attributes.len() as u32).to_le_bytes());
        for (first, length) in &self.sections {
            out.extend(first.to_le_bytes());
            out.extend(length.to_le_bytes());
        }
        out.extend(&self.attributes);
        assert!(out.len() <= IDENTITY_AT, "attributes fit the header");
        let mut block = [0; BLOCK_BYTES];
        block[..out.len()].copy_from_slice(&out);
        let identity = xxh3_64(&block[..IDENTITY_AT]);
        block[IDENTITY_AT..].copy_from_slice(&identity.to_le_bytes());
        (block, identity)
    }

    /// Parses a header; returns what is wrong with it otherwise.
    fn decode(block: &[u8]) -> Result<(Header, u64), String> {
        if block.len() < BLOCK_BYTES {
            let found = block.len();
            return Err(format!("{found} bytes are too few for a header{ADVICE}"));
        }
        if block[..8] != MAGIC {
            return Err(format!(
                "it does not begin with the magic number of simtool{ADVICE}"
            ));
        }
        let four = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| block[at + i]));
        let eight = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| block[at + i]));
        if eight(IDENTITY_AT) != xxh3_64(&block[..IDENTITY_AT]) {
            return Err(format!("the header is damaged{ADVICE}"));
        }
        if four(8) != VERSION {
            let found = four(8);
            return Err(format!(
                "it has layout {found}, and this version of simtool reads layout {VERSION} \
                 (use a newer simtool)"
            ));
        }
        let (sections, attributes) = (four(32) as usize, four(36) as usize);
        let attributes_at = SECTIONS_AT + 16 * sections.min(MOST_SECTIONS + 1);
        if sections > MOST_SECTIONS || attributes > IDENTITY_AT - attributes_at {
            return Err("the header claims more than it can hold".into());
        }
        let place = |i| (eight(SECTIONS_AT + 16 * i), eight(SECTIONS_AT + 16 * i + 8));
        let header = Header {
            kind: four(12),
            bytes: eight(16),
            checksums: eight(24),
            sections: (0..sections).map(place).collect(),
            attributes: block[attributes_at..attributes_at + attributes].to_vec(),
        };
        Ok((header, eight(IDENTITY_AT)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use crate::io::Faults;
    use std::path::Path;

    fn write(path: &Path, sections: &[&[u8]]) -> u64 {
        let mut writer = BlockWriter::create(path, 7, &Faults::default()).unwrap();
        for section in sections {
            writer.append(section).unwrap();
            assert_eq!(writer.section_bytes(), section.len() as u64);
            writer.end_section().unwrap();
        }
        writer.finish(b"attributes").unwrap()
    }

    #[test]
    fn sections_are_read_back() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("blocks");
        let long: Vec<u8> = (0..3_000_000u32)
            .map(|i| (i.wrapping_mul(i) >> 7) as u8)
            .collect();
        let cases: [&[&[u8]]; 4] = [
            &[],
            &[b""],
            &[b"abc", b"", &long, b"12345678"],
            &[&long[..4096]],
        ];
        for sections in cases {
            let identity = write(&path, sections);
            let file = BlockFile::open(&path).unwrap();
            assert_eq!((file.kind(), file.identity()), (7, identity));
            assert_eq!(
                (file.attributes(), file.sections()),
                (&b"attributes"[..], sections.len())
            );
            for (number, section) in sections.iter().enumerate() {
                let length = section.len() as u64;
                assert_eq!(file.len::<u8>(number), length);
                assert_eq!(file.values::<u8>(number, 0..length).unwrap(), *section);
                assert!(file.values::<u8>(number, 0..length + 1).is_err());
                let numbers = file.values::<u64>(number, 0..length / 8).unwrap();
                assert_eq!(numbers.len() as u64, length / 8);
            }
            assert!(file.values::<u8>(sections.len(), 0..1).is_err());
            file.verify().unwrap();
            let copy = directory.path().join("copy");
            file.copy(&copy, &Faults::default()).unwrap();
            assert_eq!(std::fs::read(&copy).unwrap(), std::fs::read(&path).unwrap());
        }
    }

    #[test]
    fn every_wrong_byte_and_every_cut_is_noticed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("blocks");
        write(&path, &[b"some bytes", &[3; 5000]]);
        let whole = std::fs::read(&path).unwrap();
        let verify = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            BlockFile::open(&path).and_then(|file| file.verify())
        };
        verify(&whole).unwrap();
        for place in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[place] ^= 1 << (place % 8);
            let error = verify(&bytes).unwrap_err();
            assert_eq!(
                (error.kind(), error.file()),
                (ErrorKind::Content, Some(&*path))
            );
        }
        for length in (0..whole.len()).step_by(7) {
            assert_eq!(
                verify(&whole[..length]).unwrap_err().kind(),
                ErrorKind::Content
            );
        }
    }
}
