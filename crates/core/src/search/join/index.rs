//! The index of a block of sketches, for every shape of sketch.

use std::ops::Range;

use super::candidates::{self, CandidateIndex};
use super::fingerprints::{self, FingerprintIndex};
use super::{AnyQuery, NearQuery};
use crate::kernel::Level;
use crate::search::hamming::Plan;
use crate::sketch::{Compare, Score, Shape, Sketches};
use crate::{Error, ErrorKind, Result};

/// Index that finds near sketches among those of a block.
///
/// Positions are indices into the block. Searching takes `&self`, so threads may share an index,
/// each with its own [`Scratch`].
pub struct SketchIndex<'a> {
    method: &'a dyn Compare,
    sketches: Sketches<'a>,
    finder: IndexForm<'a>,
}

enum IndexForm<'a> {
    Narrow(FingerprintIndex<u64>),
    Wide(FingerprintIndex<u128>),
    Candidates(Box<CandidateIndex<'a>>),
}

/// Buffers that a thread reuses from search to search.
#[derive(Debug, Default)]
pub struct Scratch {
    fingerprints: fingerprints::FingerprintScratch,
    candidates: candidates::CandidateScratch,
}

impl Scratch {
    /// The number of sketches with which all searches with these buffers have compared a query, in
    /// full or by an outline; 0 for fingerprints. Equal sketches count once.
    pub fn compared(&self) -> u64 {
        self.candidates.compared
    }
}

impl<'a> SketchIndex<'a> {
    /// The memory in bytes that [`build`](Self::build) needs for `sketch`, besides the sketch
    /// itself, for fast searches: an upper bound on the average over the sketches of an index.
    ///
    /// For fingerprints, the same for all sketches.
    pub fn bytes_for(method: &dyn Compare, sketch: &[u8]) -> usize {
        match method.shape() {
            Shape::Bits { width, distance } if width <= 64 => {
                FingerprintIndex::<u64>::bytes_per_sketch(distance)
            }
            Shape::Bits { distance, .. } => FingerprintIndex::<u128>::bytes_per_sketch(distance),
            Shape::Keys => CandidateIndex::bytes_for(method, sketch),
        }
    }

    /// The maximum of [`bytes_for`](Self::bytes_for) over all sketches; `None` if sketches vary in
    /// length.
    pub fn bytes_per_sketch(method: &dyn Compare) -> Option<usize> {
        let length = method.sketch_bytes()?;
        // A part marked as missing, by zeros, has no keys.
        let of = |byte| SketchIndex::bytes_for(method, &vec![byte; length]);
        Some(of(0).max(of(u8::MAX)))
    }

    /// The minimum memory in bytes of an index over `count` sketches: that for grouping equal ones.
    pub fn min_bytes(method: &dyn Compare, count: usize) -> usize {
        let each = match method.shape() {
            Shape::Bits { width, .. } if width <= 64 => FingerprintIndex::<u64>::fold_bytes(),
            Shape::Bits { .. } => FingerprintIndex::<u128>::fold_bytes(),
            Shape::Keys => CandidateIndex::FOLD_BYTES,
        };
        each.saturating_mul(count)
    }

    /// The plan to build an index over `count` sketches with the usual memory and to find all near
    /// sketches of each, estimated from a sample of them; `None` for sketches that are not
    /// fingerprints. Its seconds are those of one thread.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] if there are more than `u32::MAX` sketches.
    pub fn estimate(
        method: &dyn Compare,
        sample: Sketches<'_>,
        count: usize,
    ) -> Result<Option<Plan>> {
        Ok(match method.shape() {
            Shape::Bits { width, distance } if width <= 64 => {
                Some(FingerprintIndex::<u64>::estimate(sample, count, distance)?)
            }
            Shape::Bits { distance, .. } => {
                Some(FingerprintIndex::<u128>::estimate(sample, count, distance)?)
            }
            Shape::Keys => None,
        })
    }

    /// Prepares `sketches` for searches, with an index of about `memory_bytes` at most (of
    /// [`min_bytes`](Self::min_bytes) if that is more).
    ///
    /// With less than [`bytes_for`](Self::bytes_for) each, fingerprints may be searched by brute
    /// force. With more, skewed ones may get more tables. Uses the current rayon pool.
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
        SketchIndex::build_while(method, sketches, memory_bytes, level, &|| Ok(()))
    }

    /// [`build`](Self::build), which an error of `check` stops. `check` is called now and then,
    /// except for fingerprints.
    ///
    /// # Errors
    /// Errors of [`build`](Self::build) and `check`.
    pub fn build_while(
        method: &'a dyn Compare,
        sketches: Sketches<'a>,
        memory_bytes: usize,
        level: Level,
        check: &(dyn Fn() -> Result<()> + Sync),
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
            } => IndexForm::Narrow(FingerprintIndex::build(
                sketches,
                distance,
                memory_bytes,
                level,
            )?),
            Shape::Bits {
                width: 128,
                distance,
            } => IndexForm::Wide(FingerprintIndex::build(
                sketches,
                distance,
                memory_bytes,
                level,
            )?),
            Shape::Bits { width, .. } => {
                let message = format!("fingerprints of {width} bits: expected 32, 64 or 128");
                return Err(Error::new(ErrorKind::Parameter, message));
            }
            Shape::Keys => IndexForm::Candidates(Box::new(CandidateIndex::build(
                method,
                sketches,
                memory_bytes,
                check,
            )?)),
        };
        Ok(SketchIndex {
            method,
            sketches,
            finder,
        })
    }

    /// Allows later searches to leave out positions for which `keep` does not hold. In place, linear
    /// in the size of the index.
    ///
    /// Fingerprints are all left out. Those that other methods find by keys are left out unless an
    /// equal sketch is kept, and no others are. [`count`](Self::count) and positions stay.
    pub fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        match &mut self.finder {
            IndexForm::Narrow(index) => index.retain(keep),
            IndexForm::Wide(index) => index.retain(keep),
            IndexForm::Candidates(index) => index.retain(keep),
        }
    }

    /// The number of sketches.
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
        let query = AnyQuery {
            sketch: query,
            except,
        };
        self.any_near_batch(&[query], scratch, |_, found| answer = found);
        answer
    }

    /// Calls `sink(i, found)` once for every query, in order; `found` is the answer of
    /// [`any_near`](Self::any_near).
    ///
    /// Stops at the first near sketch, so further ones cost nothing. For fingerprints, several
    /// times as fast per query as [`any_near`](Self::any_near).
    pub fn any_near_batch(
        &self,
        queries: &[AnyQuery<'_>],
        scratch: &mut Scratch,
        sink: impl FnMut(usize, bool),
    ) {
        match &self.finder {
            IndexForm::Narrow(index) => index.any(queries, &mut scratch.fingerprints, sink),
            IndexForm::Wide(index) => index.any(queries, &mut scratch.fingerprints, sink),
            IndexForm::Candidates(index) => index.any(queries, &mut scratch.candidates, sink),
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
        let query = NearQuery {
            sketch: query,
            within,
            limit: usize::MAX,
        };
        self.near_batch(&[query], scratch, |_, near, _| {
            found.clear();
            found.extend_from_slice(near);
        });
    }

    /// Calls `sink(i, near, next)` once for every query, in order. `near` has the near positions
    /// from the start of the range to `next`, ascending, each once, with their scores.
    ///
    /// `next` is the end of the range, unless the candidates up to there exceed the limit. It is
    /// greater than the start of a range that is not empty. For fingerprints, several times as fast
    /// per query as [`near`](Self::near). Memory: the limit's candidates for one query at a time,
    /// and one entry for each distinct near fingerprint or key.
    pub fn near_batch(
        &self,
        queries: &[NearQuery<'_>],
        scratch: &mut Scratch,
        sink: impl FnMut(usize, &[(u32, Score)], u32),
    ) {
        match &self.finder {
            IndexForm::Narrow(index) => index.near(queries, &mut scratch.fingerprints, sink),
            IndexForm::Wide(index) => index.near(queries, &mut scratch.fingerprints, sink),
            IndexForm::Candidates(index) => index.near(queries, &mut scratch.candidates, sink),
        }
    }

    /// Calls `sink(i, positions, next)` like [`near_batch`](Self::near_batch), without scores. Many
    /// times as fast if very many are near.
    pub fn near_positions_batch(
        &self,
        queries: &[NearQuery<'_>],
        scratch: &mut Scratch,
        mut sink: impl FnMut(usize, &[u32], u32),
    ) {
        match &self.finder {
            IndexForm::Narrow(index) => index.positions(queries, &mut scratch.fingerprints, sink),
            IndexForm::Wide(index) => index.positions(queries, &mut scratch.fingerprints, sink),
            IndexForm::Candidates(_) => {
                let mut positions = Vec::new();
                self.near_batch(queries, scratch, |number, near, next| {
                    positions.clear();
                    positions.extend(near.iter().map(|near| near.0));
                    sink(number, &positions, next);
                });
            }
        }
    }

    /// The memory in bytes that a search takes for each candidate of a [limit](NearQuery::limit),
    /// including its position.
    pub const fn bytes_per_candidate(&self) -> usize {
        size_of::<u32>()
            + match self.finder {
                IndexForm::Narrow(_) | IndexForm::Wide(_) => 0,
                IndexForm::Candidates(_) => CandidateIndex::CANDIDATE_BYTES,
            }
    }

    /// The memory of the index in bytes, without the sketches.
    pub fn bytes(&self) -> usize {
        match &self.finder {
            IndexForm::Narrow(index) => index.bytes(),
            IndexForm::Wide(index) => index.bytes(),
            IndexForm::Candidates(index) => index.bytes(),
        }
    }
}
