//! A section of a compressed file, decompressed ahead of its reader.

use super::blocks::Blocks;
use super::codec::{Codec, HEADER_BYTES, Outcome, STEP_BYTES};
use crate::Result;
use crossbeam_channel::Sender;
use memchr::memmem::Finder;
use std::ops::Range;

/// The maximum number of bytes that a section may read and decompress, false members included, as a
/// multiple of its maximum decompressed size.
const EFFORT: usize = 4;

/// The sizes of sections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SectionSizes {
    /// The number of bytes of the file in which their members begin.
    pub(crate) file_bytes: u64,
    /// The maximum number of decompressed bytes.
    pub(crate) decoded_bytes: usize,
}

/// The job of decompressing one section.
pub(super) struct Section {
    pub(super) decoder: SectionDecoder,
    /// The range of the file in which its members begin.
    pub(super) span: Range<u64>,
    pub(super) inflated: Sender<SectionDecoder>,
}

impl Section {
    /// Runs the job.
    pub(super) fn inflate(mut self) {
        // The reader itself encounters any error there.
        let _ = self.decoder.inflate(self.span);
        // Fails only if the reader was dropped.
        let _ = self.inflated.send(self.decoder);
    }
}

/// The decoder of a section, and its result.
pub(super) struct SectionDecoder {
    blocks: Blocks,
    codec: Codec,
    most_bytes: usize,
    /// The decompressed members, concatenated.
    bytes: Vec<u8>,
    members: Vec<Inflated>,
}

/// A whole member with a valid checksum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Inflated {
    /// Its range in the file.
    pub(super) span: Range<u64>,
    /// Its range in the decompressed bytes.
    pub(super) bytes: Range<usize>,
}

/// The result of decompressing a member.
enum MemberOutcome {
    Whole,
    /// No member begins there, or it is damaged.
    Invalid,
    /// It is too long, or the effort is exhausted.
    OverLimit,
}

impl SectionDecoder {
    /// A decoder that reads with `blocks` and decompresses with `codec`.
    pub(super) fn new(blocks: Blocks, codec: Codec, sizes: SectionSizes) -> SectionDecoder {
        SectionDecoder {
            blocks,
            codec,
            most_bytes: sizes.decoded_bytes,
            // One more step is needed to detect that a member is too long.
            bytes: Vec::with_capacity(sizes.decoded_bytes + STEP_BYTES),
            members: Vec::new(),
        }
    }

    /// The member that begins at `offset` in the file, if it was decompressed.
    pub(super) fn member(&self, offset: u64) -> Option<&Inflated> {
        let found = self
            .members
            .binary_search_by_key(&offset, |member| member.span.start);
        found.ok().and_then(|place| self.members.get(place))
    }

    /// A range of the decompressed bytes.
    pub(super) fn bytes(&self, range: Range<usize>) -> &[u8] {
        self.bytes.get(range).unwrap_or_default()
    }

    /// The number of bytes of memory, without the codec.
    #[cfg(test)]
    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes.capacity() + self.blocks.memory_bytes()
    }

    /// Decompresses all members that seem to begin in `span`, within the limits.
    fn inflate(&mut self, span: Range<u64>) -> Result<()> {
        self.bytes.clear();
        self.members.clear();
        self.blocks.seek(span.start);
        let finder = Finder::new(self.codec.magic());
        let mut effort = EFFORT * self.most_bytes;
        while self.blocks.offset() < span.end {
            let offset = self.blocks.offset();
            let header = self.blocks.peek(HEADER_BYTES)?;
            if header.len() < finder.needle().len() {
                break;
            }
            if !self.codec.begins(header) {
                let skipped = match finder.find(header) {
                    Some(0) => 1,
                    Some(at) => at,
                    None => header.len() + 1 - finder.needle().len(),
                };
                self.blocks.consume(skipped);
                continue;
            }
            let begin = self.bytes.len();
            let tried = self.try_member(&mut effort)?;
            if let MemberOutcome::Whole = tried {
                self.members.push(Inflated {
                    span: offset..self.blocks.offset(),
                    bytes: begin..self.bytes.len(),
                });
                continue;
            }
            self.bytes.truncate(begin);
            if let MemberOutcome::OverLimit = tried {
                break;
            }
            self.blocks.seek(offset + 1);
        }
        Ok(())
    }

    fn try_member(&mut self, effort: &mut usize) -> Result<MemberOutcome> {
        let claim = self.codec.begin(self.blocks.peek(HEADER_BYTES)?);
        let bytes_left = self.most_bytes - self.bytes.len();
        if claim.is_some_and(|claim| claim > bytes_left as u64) {
            return Ok(MemberOutcome::OverLimit);
        }
        loop {
            let input = self.blocks.peek(1)?;
            if input.is_empty() {
                return Ok(MemberOutcome::Invalid);
            }
            let before = self.bytes.len();
            let (used, outcome) = self.codec.step(input, &mut self.bytes);
            self.blocks.consume(used);
            if self.bytes.len() > self.most_bytes {
                return Ok(MemberOutcome::OverLimit);
            }
            match outcome {
                Outcome::Ended => return Ok(MemberOutcome::Whole),
                Outcome::Corrupt(_) => return Ok(MemberOutcome::Invalid),
                Outcome::Going => {}
            }
            match effort.checked_sub(used + self.bytes.len() - before) {
                Some(left) => *effort = left,
                None => return Ok(MemberOutcome::OverLimit),
            }
        }
    }
}
