//! Sketches that share a key with another one.
//!
//! A table of all keys is accessed at random for each key. A join brings equal keys together
//! instead. Each key is hashed, and each hash belongs to one of 4096 buckets by its highest bits. The
//! sketches are read once to count the keys of each bucket, and once for each range of buckets that
//! fits the memory. Then each bucket is sorted, and equal keys are next to each other. All of this is
//! linear in the number of keys, except that a bucket is sorted.
//!
//! An entry of a bucket has 64 bits: the position of the sketch, and as many further bits of the
//! hash as remain. So keys that only begin alike are taken for equal: of 10^8 sketches with 20 keys
//! each, one in 10^4.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use crate::Result;
use crate::search::hamming::self_join::{Marks, Watch};
use crate::search::join::source::SketchSource;
use crate::search::join::table::spread;
use crate::sketch::{Compare, Sketches};

/// The number of bits that determine a bucket.
const BUCKET_BITS: u32 = 12;
const BUCKETS: usize = 1 << BUCKET_BITS;
/// The sketches whose keys a thread moves to buckets at a time.
const PIECE: usize = 1 << 12;
/// The part of the work that is counting.
const COUNTING: f64 = 0.2;
/// The least number of entries that are held.
const LEAST: usize = 1 << 20;

/// Finds sketches that share a key.
pub(super) struct KeyJoin<'a> {
    method: &'a dyn Compare,
    sketches: &'a dyn SketchSource,
    watch: &'a dyn Watch,
    /// The bits of a position.
    position_bits: u32,
    /// The maximum number of entries that are held.
    most: usize,
    marks: Marks,
}

impl<'a> KeyJoin<'a> {
    /// Prepares a join with `memory_bytes` for entries, or 8 MiB if that is more.
    pub(super) fn new(
        method: &'a dyn Compare,
        sketches: &'a dyn SketchSource,
        memory_bytes: usize,
        watch: &'a dyn Watch,
    ) -> KeyJoin<'a> {
        KeyJoin {
            method,
            sketches,
            watch,
            position_bits: u32::BITS - sketches.count().leading_zeros(),
            most: (memory_bytes / size_of::<u64>()).max(LEAST),
            marks: Marks::none_of(sketches.count()),
        }
    }

    /// The positions of all sketches that share a key with a sketch at another position, and of a
    /// few others. Uses the current rayon pool.
    ///
    /// # Errors
    /// Errors of the source and of the watch.
    pub(super) fn marks(self) -> Result<Marks> {
        let counts = self.counts()?;
        let mut buckets = 0..0;
        let mut entries = Vec::new();
        while buckets.end < BUCKETS {
            let held: usize;
            (buckets, held) = fitting(&counts, buckets.end, self.most);
            if held > self.most {
                self.mark_all(buckets.start)?;
            } else if held > 0 {
                entries = self.join(buckets.clone(), &counts, entries)?;
            }
        }
        Ok(self.marks)
    }

    /// The number of keys of each bucket.
    fn counts(&self) -> Result<Vec<usize>> {
        let counts: Vec<AtomicU64> = (0..BUCKETS).map(|_| AtomicU64::new(0)).collect();
        self.for_each_piece([0.0, COUNTING], |_, piece| {
            let own = self.counts_of(piece, &(0..BUCKETS));
            for (count, own) in counts.iter().zip(own) {
                count.fetch_add(own.into(), Ordering::Relaxed);
            }
        })?;
        let counts = counts.into_iter().map(AtomicU64::into_inner);
        Ok(counts.map(|count| count as usize).collect())
    }

    /// The number of keys of a piece in each of `buckets`.
    fn counts_of(&self, piece: Sketches<'_>, buckets: &Range<usize>) -> Vec<u32> {
        let mut counts = vec![0; buckets.len()];
        self.for_each_key(piece, |_, hash| {
            if let Some(count) = counts.get_mut(bucket(hash).wrapping_sub(buckets.start)) {
                *count += 1;
            }
        });
        counts
    }

    /// Marks the sketches that share a key of `buckets`, which have these `counts`. Returns the
    /// memory of `entries`.
    fn join(&self, buckets: Range<usize>, counts: &[usize], entries: Vec<u64>) -> Result<Vec<u64>> {
        let counts = &counts[buckets.clone()];
        let mut end = 0;
        let next = counts.iter().map(|count| {
            let start = end;
            end += count;
            AtomicU64::new(start as u64)
        });
        let next: Vec<AtomicU64> = next.collect();
        // Collected in place.
        let mut entries: Vec<AtomicU64> = entries.into_iter().map(AtomicU64::new).collect();
        entries.resize_with(end, AtomicU64::default);
        let work @ [_, done] = work(&buckets);
        self.for_each_piece(work, |first, piece| {
            let own = self.counts_of(piece, &buckets);
            let places = own.iter().zip(&next).map(|(count, next)| match count {
                0 => 0,
                count => next.fetch_add((*count).into(), Ordering::Relaxed),
            });
            let mut places: Vec<u64> = places.collect();
            self.for_each_key(piece, |position, hash| {
                if let Some(place) = places.get_mut(bucket(hash).wrapping_sub(buckets.start)) {
                    let entry = self.entry(hash, first + position);
                    entries[*place as usize].store(entry, Ordering::Relaxed);
                    *place += 1;
                }
            });
        })?;
        let mut entries: Vec<u64> = entries.into_iter().map(AtomicU64::into_inner).collect();
        let mut rest = &mut entries[..];
        let mut each = Vec::new();
        for count in counts {
            let (bucket, after) = rest.split_at_mut(*count);
            each.push(bucket);
            rest = after;
        }
        each.into_par_iter()
            .with_max_len(16)
            .try_for_each(|bucket| {
                self.mark_equal(bucket);
                self.watch.reached(done)
            })?;
        Ok(entries)
    }

    /// Marks the sketches of equal keys in a bucket.
    fn mark_equal(&self, bucket: &mut [u64]) {
        bucket.sort_unstable();
        let positions = (1 << self.position_bits) - 1;
        for equal in bucket.chunk_by(|a, b| (a ^ b) >> self.position_bits == 0) {
            // A sketch may have a key twice. Positions ascend.
            if equal[0] != equal[equal.len() - 1] {
                for entry in equal {
                    self.marks.insert((entry & positions) as u32);
                }
            }
        }
    }

    /// Marks all sketches that have a key in a bucket. A bucket has more keys than fit only if most
    /// of them are equal.
    fn mark_all(&self, wanted: usize) -> Result<()> {
        self.for_each_piece(work(&(wanted..wanted + 1)), |first, piece| {
            self.for_each_key(piece, |position, hash| {
                if bucket(hash) == wanted {
                    self.marks.insert(first + position);
                }
            });
        })
    }

    fn entry(&self, hash: u64, position: u32) -> u64 {
        let rest = hash << BUCKET_BITS;
        (rest >> self.position_bits << self.position_bits) | u64::from(position)
    }

    fn for_each_key(&self, piece: Sketches<'_>, mut visit: impl FnMut(u32, u64)) {
        let mut keys = Vec::new();
        for (position, sketch) in (0..).zip(piece.iter()) {
            keys.clear();
            self.method.append_keys(sketch, &mut keys);
            keys.iter().for_each(|key| visit(position, spread(*key)));
        }
    }

    /// Calls `visit` with all sketches in pieces, each with the position of its first, from several
    /// threads. `from` and `to` are the parts of the work that are done before and after.
    fn for_each_piece(
        &self,
        [from, to]: [f64; 2],
        visit: impl Fn(u32, Sketches<'_>) + Sync,
    ) -> Result<()> {
        let all = f64::from(self.sketches.count());
        let mut first = 0;
        self.sketches.for_each(&mut |run| {
            self.watch
                .reached(from + (to - from) * f64::from(first) / all)?;
            let count = run.count();
            (0..count.div_ceil(PIECE))
                .into_par_iter()
                .for_each(|piece| {
                    let range = piece * PIECE..count.min((piece + 1) * PIECE);
                    visit(first + range.start as u32, run.range(range));
                });
            first += count as u32;
            Ok(())
        })
    }
}

/// The parts of the work that are done before and after a range of buckets.
fn work(buckets: &Range<usize>) -> [f64; 2] {
    let done = |bucket: usize| COUNTING + (1.0 - COUNTING) * bucket as f64 / BUCKETS as f64;
    [done(buckets.start), done(buckets.end)]
}

/// The bucket of a hash.
fn bucket(hash: u64) -> usize {
    (hash >> (u64::BITS - BUCKET_BITS)) as usize
}

/// The buckets from `start` on that together have at most `most` keys, at least one; and the number
/// of their keys.
fn fitting(counts: &[usize], start: usize, most: usize) -> (Range<usize>, usize) {
    let (mut end, mut held) = (start, 0);
    while end < counts.len() && (end == start || held + counts[end] <= most) {
        held += counts[end];
        end += 1;
    }
    (start..end, held)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::search::join::source::testing::{SketchRuns, Unwatched};
    use crate::sketch::{Score, SketchList};

    /// Sketches whose bytes are their keys.
    struct Bytes;

    impl Compare for Bytes {
        fn name(&self) -> &'static str {
            "bytes"
        }

        fn parameters(&self) -> Vec<(&'static str, String)> {
            Vec::new()
        }

        fn keys(&self, sketch: &[u8], emit: &mut dyn FnMut(u64)) {
            sketch.iter().for_each(|key| emit((*key).into()));
        }

        fn score(&self, _: &[u8], _: &[u8]) -> Score {
            Score::Fraction(1, 1)
        }

        fn accepts(&self, _: &Score) -> bool {
            true
        }
    }

    /// The positions that share a key with another one, by a map of all keys.
    fn naive(sketches: &[Vec<u8>]) -> Vec<bool> {
        let mut holders: BTreeMap<u8, Vec<usize>> = BTreeMap::new();
        for (position, sketch) in sketches.iter().enumerate() {
            let mut keys = sketch.clone();
            keys.sort_unstable();
            keys.dedup();
            keys.into_iter()
                .for_each(|key| holders.entry(key).or_default().push(position));
        }
        let mut shares = vec![false; sketches.len()];
        for positions in holders.values().filter(|positions| positions.len() > 1) {
            positions
                .iter()
                .for_each(|position| shares[*position] = true);
        }
        shares
    }

    fn marks(sketches: &[Vec<u8>], run: usize, most: usize, threads: usize) -> Vec<bool> {
        let mut list = SketchList::new(&Bytes);
        sketches.iter().for_each(|sketch| list.push(sketch));
        let source = SketchRuns(list.all(&Bytes), run);
        let mut join = KeyJoin::new(&Bytes, &source, 0, &Unwatched);
        join.most = most;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let marks = pool.unwrap().install(|| join.marks()).unwrap();
        (0..sketches.len() as u32)
            .map(|position| marks.contains(position))
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Promise (Deduplication): Marking by a join misses no …
        #[test]
        fn sketches_that_share_a_key_are_marked(
            sketches in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..6), 0..50),
            run in 1usize..20,
            most in 1usize..40,
            threads in 1usize..4,
        ) {
            let expected = naive(&sketches);
            prop_assert_eq!(&marks(&sketches, run, 1000, threads), &expected);
            // If a bucket does not fit, all that have a key in it are marked.
            let found = marks(&sketches, run, most, threads);
            let missed = expected.iter().zip(&found).filter(|(expected, found)| **expected && !**found);
            prop_assert_eq!(missed.count(), 0);
        }
    }

    /// Several pieces, several ranges of buckets, and one key that most sketches have.
    #[test]
    fn many_sketches_are_marked_like_few() {
        let sketches: Vec<Vec<u8>> = (0..30_000u32)
            .map(|number| match number % 5 {
                0 => vec![7],
                1 if number < 100 => vec![(100 + number) as u8],
                _ => Vec::new(),
            })
            .collect();
        let expected = naive(&sketches);
        for most in [100, 7000] {
            assert_eq!(marks(&sketches, 10_000, most, 3), expected);
        }
    }

    #[test]
    fn ranges_of_buckets_fit_or_are_single() {
        let counts = [3, 0, 4, 9, 1, 1];
        let mut found = Vec::new();
        let mut end = 0;
        while end < counts.len() {
            let (range, held) = fitting(&counts, end, 7);
            end = range.end;
            found.push((range, held));
        }
        assert_eq!(found, [(0..3, 7), (3..4, 9), (4..6, 2)]);
    }
}
