//! Units: sources, or sections of large ones, each of which one reader reads.

use std::ops::Range;

use simtool_corpus::{Compression, Position, Source};

/// The most bytes of text of small files that share a unit. Otherwise each file would have a small
/// segment.
const UNIT_BYTES: u64 = 64 << 20;
/// Texts compress to about this part.
const COMPRESSED: u64 = 4;
/// The maximum number of files that share a unit.
const UNIT_SOURCES: usize = 4096;

/// What one reader reads: sources, or a section of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The sources.
    pub sources: Range<u32>,
    /// Where to begin in the first of them.
    pub begin: Position,
    /// The only section of the only source that is read.
    pub section: Option<u64>,
}

impl Unit {
    /// All of `sources`.
    pub fn whole(sources: Range<u32>) -> Unit {
        Unit {
            sources,
            begin: Position::default(),
            section: None,
        }
    }
}

/// Groups the sources into units, in order. Depends on the sources' sizes and compressions alone.
pub fn units(sources: &[Source]) -> Vec<Range<u32>> {
    let mut units: Vec<Range<u32>> = Vec::new();
    let (mut bytes, mut count) = (u64::MAX, 0);
    for (number, source) in (0..).zip(sources) {
        let factor = match source.compression {
            Compression::None => 1,
            Compression::Gzip | Compression::Zstd => COMPRESSED,
        };
        let more = source.bytes.unwrap_or(0).saturating_mul(factor);
        bytes = bytes.saturating_add(more);
        count += 1;
        match units.last_mut() {
            Some(unit) if bytes <= UNIT_BYTES && count <= UNIT_SOURCES => unit.end = number + 1,
            _ => {
                units.push(number..number + 1);
                (bytes, count) = (more, 1);
            }
        }
    }
    units
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_corpus::Format;

    #[test]
    fn small_files_share_a_unit() {
        let source = |bytes, compression| Source {
            path: "x".into(),
            bytes: Some(bytes),
            format: Format::Jsonl,
            compression,
            copy: None,
            object: None,
        };
        let mebibytes = [30, 30, 30, 200, 1, 63, 1];
        let sources = |compression| -> Vec<Source> {
            let sizes = mebibytes.iter();
            sizes.map(|size| source(size << 20, compression)).collect()
        };
        let plain = units(&sources(Compression::None));
        assert_eq!(plain, [0..2, 2..3, 3..4, 4..6, 6..7]);
        let compressed = units(&sources(Compression::Gzip));
        assert_eq!(compressed, [0..1, 1..2, 2..3, 3..4, 4..5, 5..6, 6..7]);
        let sources: Vec<_> = (0..10_000)
            .map(|size| source(size, Compression::None))
            .collect();
        assert_eq!(units(&sources), [0..4096, 4096..8192, 8192..10_000]);
        assert!(units(&[]).is_empty());
    }
}
