//! Which sketches of a block are near a given one?
//!
//! A [`SketchIndex`] stands over [`Sketches`] in memory and answers for every method alike. Equal
//! sketches are folded, so that they cost no more than one. Fingerprints go to [`hamming`]. Of the
//! others, those that are sets are found by the rare features that they share, vectors of common
//! features by an outline of each, and the rest by the keys of their method; then they are scored.
//! Either way a query leads to a few ascending *lists* of positions, of which only the part in the
//! wanted range is unfolded.
//!
//! Every answer is that of comparing all pairs, whatever the memory, the level, or the threads,
//! provided that near sketches share a key, or a part of their [vectors], as every method promises.
//!
//! [vectors]: crate::sketch::Vectors

mod bits;
mod dense;
mod fold;
mod listed;
mod lists;
mod prefix;
mod rarity;
mod sets;
mod table;

use bits::Bits;
use listed::Listed;
use lists::Lists;
use std::ops::Range;

use super::hamming;
use crate::kernel::Level;
use crate::sketch::{Compare, Score, Shape, Sketches};
use crate::{Error, ErrorKind, Result};

/// Finds near sketches among those of a block.
///
/// Positions are those in the block. Searching takes `&self`, so threads may share an index, each
/// with its own [`Scratch`].
pub struct SketchIndex<'a> {
    method: &'a dyn Compare,
    sketches: Sketches<'a>,
    finder: Finder<'a>,
}

enum Finder<'a> {
    Narrow(Bits<u64>),
    Wide(Bits<u128>),
    Listed(Box<Listed<'a>>),
}

/// Whether any is near is asked about a sketch, but for one position (its own).
#[derive(Clone, Copy, Debug)]
pub struct Any<'q> {
    /// The sketch.
    pub sketch: &'q [u8],
    /// A position that does not count.
    pub except: Option<u32>,
}

/// What is near a sketch in a range of positions is asked, in bounded portions.
#[derive(Clone, Debug)]
pub struct Near<'q> {
    /// The sketch.
    pub sketch: &'q [u8],
    /// The positions that are wanted.
    pub within: Range<u32>,
    /// How many candidates one answer may have; what is behind them has to be asked for again.
    pub limit: usize,
}

/// Buffers that a thread reuses from search to search.
#[derive(Debug, Default)]
pub struct Scratch {
    hamming: hamming::Scratch,
    except: Vec<Option<u32>>,
    any: Vec<bool>,
    lists: Lists,
    listed: listed::Scratch,
    candidates: Vec<u32>,
    marks: Vec<u64>,
    found: Vec<(u32, Score)>,
}

impl<'a> SketchIndex<'a> {
    /// The memory that [`build`](Self::build) needs for `sketch`, besides the sketch, so that
    /// searches are fast: an upper bound on average over the sketches of an index.
    ///
    /// The same for all sketches that are fingerprints.
    pub fn bytes_for(method: &dyn Compare, sketch: &[u8]) -> usize {
        match method.shape() {
            Shape::Bits { width, distance } if width <= 64 => {
                Bits::<u64>::bytes_per_sketch(distance)
            }
            Shape::Bits { distance, .. } => Bits::<u128>::bytes_per_sketch(distance),
            Shape::Keys => Listed::bytes_for(method, sketch),
        }
    }

    /// At most [`bytes_for`](Self::bytes_for) any sketch, where all sketches have one length.
    pub fn bytes_per_sketch(method: &dyn Compare) -> Option<usize> {
        let length = method.sketch_bytes()?;
        // Parts that a sketch marks as missing, by zeros, have no keys.
        let of = |byte| SketchIndex::bytes_for(method, &vec![byte; length]);
        Some(of(0).max(of(u8::MAX)))
    }

    /// The least memory of an index over that number of sketches: what finds equal ones.
    pub fn least_bytes(method: &dyn Compare, count: usize) -> usize {
        let each = match method.shape() {
            Shape::Bits { width, .. } if width <= 64 => Bits::<u64>::fold_bytes(),
            Shape::Bits { .. } => Bits::<u128>::fold_bytes(),
            Shape::Keys => Listed::FOLD_BYTES,
        };
        each.saturating_mul(count)
    }

    /// Prepares `sketches` for searches; takes at most `memory_bytes`.
    ///
    /// With less than [`bytes_for`](Self::bytes_for) each, fingerprints are searched by brute force,
    /// to which a fold of equal ones is the only help; with more, skewed fingerprints get more
    /// tables. Uses the current rayon pool.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] if there are more than `u32::MAX` sketches or a fingerprint is not
    /// of 32, 64 or 128 bits; [`ErrorKind::Memory`] if keys, or outlines of vectors, do not fit.
    pub fn build(
        method: &'a dyn Compare,
        sketches: Sketches<'a>,
        memory_bytes: usize,
        level: Level,
    ) -> Result<SketchIndex<'a>> {
        if sketches.count() > u32::MAX as usize {
            let message = format!(
                "{} sketches in one block: expected at most {}",
                sketches.count(),
                u32::MAX
            );
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        let finder = match method.shape() {
            Shape::Bits {
                width: 32 | 64,
                distance,
            } => Finder::Narrow(Bits::build(sketches, distance, memory_bytes, level)?),
            Shape::Bits {
                width: 128,
                distance,
            } => Finder::Wide(Bits::build(sketches, distance, memory_bytes, level)?),
            Shape::Bits { width, .. } => {
                let message = format!("fingerprints of {width} bits: expected 32, 64 or 128");
                return Err(Error::new(ErrorKind::Parameter, message));
            }
            Shape::Keys => Finder::Listed(Box::new(Listed::build(method, sketches, memory_bytes)?)),
        };
        Ok(SketchIndex {
            method,
            sketches,
            finder,
        })
    }

    /// How many sketches there are.
    pub fn count(&self) -> u32 {
        self.sketches.count() as u32
    }

    /// The method whose sketches these are.
    pub fn method(&self) -> &'a dyn Compare {
        self.method
    }

    /// All sketches.
    pub fn sketches(&self) -> Sketches<'a> {
        self.sketches
    }

    /// The sketch at a position.
    pub fn sketch(&self, position: u32) -> &'a [u8] {
        self.sketches.get(position as usize)
    }

    /// Whether any sketch at a position other than `except` is near `query`.
    pub fn any_near(&self, query: &[u8], except: Option<u32>, scratch: &mut Scratch) -> bool {
        let mut answer = false;
        let query = Any {
            sketch: query,
            except,
        };
        self.any_near_batch(&[query], scratch, |_, found| answer = found);
        answer
    }

    /// Calls `sink(i, found)` once for every query, in order: whether any is near.
    ///
    /// Stops at the first near one, so that a million near or equal ones cost nothing. Several
    /// times as fast per query as [`any_near`](Self::any_near) for fingerprints.
    pub fn any_near_batch(
        &self,
        queries: &[Any<'_>],
        scratch: &mut Scratch,
        sink: impl FnMut(usize, bool),
    ) {
        match &self.finder {
            Finder::Narrow(bits) => bits.any(queries, scratch, sink),
            Finder::Wide(bits) => bits.any(queries, scratch, sink),
            Finder::Listed(listed) => listed.any(queries, &mut scratch.listed, sink),
        }
    }

    /// Replaces the contents of `found` by every near position in `within`, ascending, each once,
    /// with its score.
    pub fn near(
        &self,
        query: &[u8],
        within: Range<u32>,
        scratch: &mut Scratch,
        found: &mut Vec<(u32, Score)>,
    ) {
        let query = Near {
            sketch: query,
            within,
            limit: usize::MAX,
        };
        self.near_batch(&[query], scratch, |_, near, _| {
            found.clear();
            found.extend_from_slice(near);
        });
    }

    /// Calls `sink(i, near, next)` once for every query, in order: the near positions from the
    /// start of its range to `next`, ascending, each once, with their scores.
    ///
    /// `next` is the end of the range, unless there were more candidates than the limit up to
    /// there; it is behind the start of a range that is not empty. Several times as fast per query
    /// as [`near`](Self::near) for fingerprints. Memory: as the limit says, for one query at a
    /// time, and one entry for each distinct near fingerprint or key.
    pub fn near_batch(
        &self,
        queries: &[Near<'_>],
        scratch: &mut Scratch,
        sink: impl FnMut(usize, &[(u32, Score)], u32),
    ) {
        match &self.finder {
            Finder::Narrow(bits) => bits.near(queries, scratch, sink),
            Finder::Wide(bits) => bits.near(queries, scratch, sink),
            Finder::Listed(listed) => listed.near(queries, &mut scratch.listed, sink),
        }
    }

    /// Calls `sink(i, positions, next)` as [`near_batch`](Self::near_batch) does, without scores:
    /// many times as fast where very many are near.
    pub fn near_positions_batch(
        &self,
        queries: &[Near<'_>],
        scratch: &mut Scratch,
        mut sink: impl FnMut(usize, &[u32], u32),
    ) {
        match &self.finder {
            Finder::Narrow(bits) => bits.positions(queries, scratch, sink),
            Finder::Wide(bits) => bits.positions(queries, scratch, sink),
            Finder::Listed(_) => {
                let mut positions = Vec::new();
                self.near_batch(queries, scratch, |number, near, next| {
                    positions.clear();
                    positions.extend(near.iter().map(|near| near.0));
                    sink(number, &positions, next);
                });
            }
        }
    }

    /// The memory that a search takes for each candidate of a [limit](Near::limit), with its
    /// position.
    pub const fn bytes_per_candidate(&self) -> usize {
        size_of::<u32>()
            + match self.finder {
                Finder::Narrow(_) | Finder::Wide(_) => 0,
                Finder::Listed(_) => Listed::CANDIDATE_BYTES,
            }
    }

    /// How much memory the index holds besides the sketches, in bytes.
    pub fn bytes(&self) -> usize {
        match &self.finder {
            Finder::Narrow(bits) => bits.bytes(),
            Finder::Wide(bits) => bits.bytes(),
            Finder::Listed(listed) => listed.bytes(),
        }
    }
}
