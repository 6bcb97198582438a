//! The header and the checksums of a file of blocks.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Bytes of a block.
pub const BLOCK_BYTES: usize = 4096;

/// The advice in messages about damage.
pub(super) const ADVICE: &str = " (restore it from a copy, or save what is intact by `rescue`)";

const MAGIC: [u8; 8] = *b"simtool\0";
const VERSION: u32 = 1;
const MAX_SECTIONS: usize = 32;
const SECTIONS_AT: usize = 40;
const IDENTITY_AT: usize = BLOCK_BYTES - 8;

/// The checksum of block `number`.
pub(super) fn checksum(block: &[u8], number: u64) -> u64 {
    xxh3_64_with_seed(block, number)
}

/// The header of a file.
pub(super) struct Header {
    pub(super) kind: u32,
    pub(super) bytes: u64,
    pub(super) checksums: u64,
    pub(super) sections: Vec<(u64, u64)>,
    pub(super) attributes: Vec<u8>,
}

impl Header {
    /// The header as a block, and its identity.
    pub(super) fn encode(&self) -> ([u8; BLOCK_BYTES], u64) {
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
    pub(super) fn decode(block: &[u8]) -> Result<(Header, u64), String> {
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
        let attributes_at = SECTIONS_AT + 16 * sections.min(MAX_SECTIONS + 1);
        if sections > MAX_SECTIONS || attributes > IDENTITY_AT - attributes_at {
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
