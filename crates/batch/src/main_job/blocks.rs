//! The output blocks of samples: in memory if small, otherwise written in pieces.

use std::sync::atomic::{AtomicU64, Ordering};

use super::fingerprints::PageTable;
use crate::Result;
use simtool_core::search::hamming::{Fingerprint, Hit};
use simtool_engine::Progress;
use simtool_report::result_txt::Block;

/// A function that receives the output in pieces.
pub type Sink<'a> = &'a mut (dyn FnMut(&[u8]) -> Result<()> + Send);

/// Memory of a block besides its bytes.
pub(super) const BLOCK_BYTES: u64 = 64;
/// The largest piece of a block that is written in pieces.
const PIECE_BYTES: usize = 64 << 10;

/// Memory that the blocks of one wave (samples that are searched together) share.
pub(super) struct WaveMemory(AtomicU64);

/// A sample's block after its search.
pub(super) enum SampleBlock {
    /// The block itself.
    Block {
        /// Its bytes.
        bytes: Vec<u8>,
        /// The number of articles that it lists.
        matches: u64,
    },
    /// A block that did not fit into the wave's memory. The sample is searched again when the block
    /// is written.
    Unwritten {
        /// The sample.
        sample: usize,
        /// The length of the block, or an assumed length if its hits were not held.
        bytes: u64,
    },
}

impl WaveMemory {
    pub(super) fn new(bytes: u64) -> WaveMemory {
        WaveMemory(AtomicU64::new(bytes))
    }

    /// Reserves `bytes`, if they are free.
    fn take(&self, bytes: u64) -> bool {
        let take = |free: u64| free.checked_sub(bytes);
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
            .is_ok()
    }

    /// Releases reserved bytes.
    fn give(&self, bytes: u64) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// A block that is being formatted, in memory while there is enough.
struct GrowingBlock<'a> {
    memory: &'a WaveMemory,
    bytes: Vec<u8>,
    /// Bytes that did not fit.
    left_out: u64,
    is_full: bool,
}

impl<'a> GrowingBlock<'a> {
    /// A block of about `bytes` bytes; it grows if the estimate was too low.
    fn new(memory: &'a WaveMemory, bytes: usize) -> GrowingBlock<'a> {
        let mut block = GrowingBlock {
            memory,
            bytes: Vec::new(),
            left_out: 0,
            is_full: !memory.take(BLOCK_BYTES),
        };
        if !block.is_full {
            block.grow(bytes);
        }
        block
    }

    #[inline]
    fn push(&mut self, piece: &[u8]) {
        let spare = self.bytes.capacity() - self.bytes.len();
        if !self.is_full && (piece.len() <= spare || self.grow(piece.len())) {
            self.bytes.extend_from_slice(piece);
        } else {
            self.is_full = true;
            self.left_out += piece.len() as u64;
        }
    }

    /// Reserves capacity for `more` bytes; returns false if there is not enough memory.
    #[cold]
    fn grow(&mut self, more: usize) -> bool {
        let had = self.bytes.capacity();
        let wanted = (self.bytes.len() + more).max(2 * had);
        let taken = self.memory.take((wanted - had) as u64);
        if taken {
            self.bytes.reserve_exact(wanted - self.bytes.len());
        }
        taken
    }

    fn finish(self, sample: usize, matches: u64) -> SampleBlock {
        if !self.is_full {
            let bytes = self.bytes;
            return SampleBlock::Block { bytes, matches };
        }
        self.memory.give(self.bytes.capacity() as u64);
        SampleBlock::Unwritten {
            sample,
            bytes: self.bytes.len() as u64 + self.left_out,
        }
    }
}

impl SampleBlock {
    /// The length of the block; only assumed for some unwritten blocks.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            SampleBlock::Block { bytes, .. } => bytes.len() as u64,
            SampleBlock::Unwritten { bytes, .. } => *bytes,
        }
    }
}

/// The articles and samples with their ids.
pub(super) struct Pages<'a, F> {
    pub(super) articles: &'a PageTable<'a, F>,
    pub(super) samples: &'a PageTable<'a, F>,
}

impl<F: Fingerprint> Pages<'_, F> {
    /// The block of `sample`, if it fits into `memory`.
    pub(super) fn block(
        &self,
        sample: usize,
        hits: &[Hit],
        memory: &WaveMemory,
    ) -> Result<SampleBlock> {
        let likely = hits.len().saturating_mul(self.articles.mean_id_bytes() + 1);
        let likely = likely.saturating_add(self.samples.id(sample).len() + 16);
        let mut block = GrowingBlock::new(memory, likely);
        self.put(sample, hits, |piece| {
            block.push(piece);
            Ok(())
        })?;
        Ok(block.finish(sample, hits.len() as u64))
    }

    /// Passes the whole block of `sample` to `sink`.
    pub(super) fn put(
        &self,
        sample: usize,
        hits: &[Hit],
        sink: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut block = Block::begin(self.samples.id(sample), sink)?;
        for hit in hits {
            block.add(hit.distance, self.articles.id(hit.position as usize))?;
        }
        block.finish()
    }
}

/// Passes bytes to the output in pieces of bounded size, and counts them.
pub(super) struct Pieces<'a> {
    sink: Sink<'a>,
    progress: &'a Progress,
    buffer: Vec<u8>,
    written: u64,
}

impl<'a> Pieces<'a> {
    pub(super) fn new(sink: Sink<'a>, progress: &'a Progress) -> Pieces<'a> {
        Pieces {
            sink,
            progress,
            buffer: Vec::new(),
            written: 0,
        }
    }

    /// Appends `bytes` of any length.
    ///
    /// # Errors
    /// Errors of the sink; [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.written += bytes.len() as u64;
        if self.buffer.len() + bytes.len() > PIECE_BYTES {
            self.flush()?;
        }
        if bytes.len() <= PIECE_BYTES {
            self.buffer.extend_from_slice(bytes);
            return Ok(());
        }
        bytes.chunks(PIECE_BYTES).try_for_each(|piece| {
            self.progress.check()?;
            (self.sink)(piece)
        })
    }

    /// Passes on buffered bytes.
    ///
    /// # Errors
    /// Errors of [`push`](Self::push).
    pub(super) fn flush(&mut self) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        self.progress.check()?;
        (self.sink)(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// The number of bytes pushed so far.
    pub(super) fn written(&self) -> u64 {
        self.written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_bounded_and_complete() {
        let progress = Progress::new();
        let (mut expected, mut found) = (Vec::new(), Vec::new());
        let mut sink = |piece: &[u8]| {
            assert!(!piece.is_empty() && piece.len() <= PIECE_BYTES);
            found.extend_from_slice(piece);
            Ok(())
        };
        let mut pieces = Pieces::new(&mut sink, &progress);
        for (byte, length) in (0..).zip([3, 0, PIECE_BYTES - 4, 1, 1, 300_001, PIECE_BYTES, 7]) {
            let bytes = vec![byte; length];
            pieces.push(&bytes).unwrap();
            expected.extend(bytes);
        }
        pieces.flush().unwrap();
        assert_eq!(pieces.written(), expected.len() as u64);
        assert!(found == expected);
    }

    #[test]
    fn a_block_that_does_not_fit_releases_its_memory_and_knows_its_length() {
        let memory = WaveMemory::new(1000 + 2 * BLOCK_BYTES);
        let mut small = GrowingBlock::new(&memory, 500);
        let mut large = GrowingBlock::new(&memory, 500);
        let mut none = GrowingBlock::new(&memory, 0);
        for _ in 0..50 {
            small.push(b"0123456789");
            large.push(b"0123456789");
            large.push(b"0123456789");
            none.push(b"x");
        }
        assert!(
            matches!(small.finish(7, 1), SampleBlock::Block { bytes, .. } if bytes.len() == 500)
        );
        let unwritten = |found, number, length| matches!(found, SampleBlock::Unwritten { sample, bytes } if (sample, bytes) == (number, length));
        assert!(unwritten(none.finish(8, 1), 8, 50));
        assert!(unwritten(large.finish(9, 1), 9, 1000));
        let mut next = GrowingBlock::new(&memory, 10);
        next.push(b"x");
        assert!(matches!(next.finish(10, 1), SampleBlock::Block { bytes, .. } if bytes == b"x"));
    }
}
