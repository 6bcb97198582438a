//! A stretch of a compressed file, inflated before its reader comes there.

use super::blocks::Blocks;
use super::codec::{Codec, HEADER_BYTES, Outcome, STEP_BYTES};
use super::inflaters::Sizes;
use crate::Result;
use crossbeam_channel::Sender;
use memchr::memmem::Finder;
use std::ops::Range;

/// So many times its room is what a stretch may read and decompress, false members included.
const EFFORT: usize = 4;

/// The work of inflating one stretch.
pub(super) struct Stretch {
    pub(super) kit: Kit,
    /// Where in the file its members begin.
    pub(super) span: Range<u64>,
    pub(super) inflated: Sender<Kit>,
}

impl Stretch {
    /// Does the work.
    pub(super) fn inflate(mut self) {
        // The reader will come to what could not be read.
        let _ = self.kit.inflate(self.span);
        // If it left meanwhile, nobody misses it.
        let _ = self.inflated.send(self.kit);
    }
}

/// What inflating takes, and what it gives.
pub(super) struct Kit {
    blocks: Blocks,
    codec: Codec,
    room: usize,
    /// The members one behind another.
    bytes: Vec<u8>,
    members: Vec<Inflated>,
}

/// A whole member whose checksum is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Inflated {
    /// Where it is in the file.
    pub(super) span: Range<u64>,
    /// Where it is in the bytes.
    pub(super) bytes: Range<usize>,
}

/// What became of a member.
enum Tried {
    Whole,
    /// None begins there, or it is damaged.
    Not,
    /// It is too long, or too much was tried already.
    TooMuch,
}

impl Kit {
    /// Reads by `blocks` and decompresses with `codec`.
    pub(super) fn new(blocks: Blocks, codec: Codec, sizes: Sizes) -> Kit {
        Kit {
            blocks,
            codec,
            room: sizes.room,
            // A step more shows that a member is too long.
            bytes: Vec::with_capacity(sizes.room + STEP_BYTES),
            members: Vec::new(),
        }
    }

    /// The member that begins at this offset of the file, if it is there.
    pub(super) fn member(&self, offset: u64) -> Option<&Inflated> {
        let found = self
            .members
            .binary_search_by_key(&offset, |member| member.span.start);
        found.ok().and_then(|place| self.members.get(place))
    }

    /// What there is of its bytes.
    pub(super) fn bytes(&self, range: Range<usize>) -> &[u8] {
        self.bytes.get(range).unwrap_or_default()
    }

    /// How much it holds, the codec apart.
    #[cfg(test)]
    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes.capacity() + self.blocks.memory_bytes()
    }

    /// Decompresses all members that seem to begin in `span`, as far as there is room.
    fn inflate(&mut self, span: Range<u64>) -> Result<()> {
        self.bytes.clear();
        self.members.clear();
        self.blocks.seek(span.start);
        let finder = Finder::new(self.codec.magic());
        let mut effort = EFFORT * self.room;
        while self.blocks.offset() < span.end {
            let offset = self.blocks.offset();
            let header = self.blocks.peek(HEADER_BYTES)?;
            if header.len() < finder.needle().len() {
                break;
            }
            if !self.codec.begins(header) {
                let passed = match finder.find(header) {
                    Some(0) => 1,
                    Some(at) => at,
                    None => header.len() + 1 - finder.needle().len(),
                };
                self.blocks.consume(passed);
                continue;
            }
            let begin = self.bytes.len();
            let tried = self.try_member(&mut effort)?;
            if let Tried::Whole = tried {
                self.members.push(Inflated {
                    span: offset..self.blocks.offset(),
                    bytes: begin..self.bytes.len(),
                });
                continue;
            }
            self.bytes.truncate(begin);
            if let Tried::TooMuch = tried {
                break;
            }
            self.blocks.seek(offset + 1);
        }
        Ok(())
    }

    fn try_member(&mut self, effort: &mut usize) -> Result<Tried> {
        let claim = self.codec.begin(self.blocks.peek(HEADER_BYTES)?);
        let room = self.room - self.bytes.len();
        if claim.is_some_and(|claim| claim > room as u64) {
            return Ok(Tried::TooMuch);
        }
        loop {
            let input = self.blocks.peek(1)?;
            if input.is_empty() {
                return Ok(Tried::Not);
            }
            let before = self.bytes.len();
            let (used, outcome) = self.codec.step(input, &mut self.bytes);
            self.blocks.consume(used);
            if self.bytes.len() > self.room {
                return Ok(Tried::TooMuch);
            }
            match outcome {
                Outcome::Ended => return Ok(Tried::Whole),
                Outcome::Corrupt(_) => return Ok(Tried::Not),
                Outcome::Going => {}
            }
            match effort.checked_sub(used + self.bytes.len() - before) {
                Some(left) => *effort = left,
                None => return Ok(Tried::TooMuch),
            }
        }
    }
}
