//! A join of sketches with themselves: which of them have a near one?

mod combined;
mod key_join;

use super::fingerprints::fingerprints;
use super::source::SketchSource;
use crate::kernel::Level;
use crate::search::hamming::self_join::{Marks, SelfJoin, Source, Watch};
use crate::search::hamming::{Fingerprint, U256};
use crate::sketch::{Combination, Compare};
use crate::{Error, ErrorKind, Result};
use key_join::KeyJoin;

/// The share of the memory that copies of the fingerprints may take.
const COPIES: usize = 2;

/// A join of the sketches of a method with themselves: of fingerprints by their bits, of others by
/// their keys.
///
/// Takes time nearly proportional to the number of sketches, where a query of an index for each
/// grows with the size of the index.
#[derive(Clone, Copy)]
pub enum SketchJoin<'m> {
    /// Fingerprints are compared.
    Fingerprints {
        /// Their width in bits.
        width: u32,
        /// The maximum distance.
        distance: u32,
    },
    /// Equal keys are found.
    Keys(&'m dyn Compare),
    /// Both methods of a combination are joined.
    Combined(&'m dyn Combination),
}

impl<'m> SketchJoin<'m> {
    /// The join for a method; `None` for methods whose sketches are vectors, which are found by the
    /// features that they share, and for combinations with such a method.
    pub fn of(method: &'m dyn Compare) -> Option<SketchJoin<'m>> {
        if let Some(combined) = method.combination() {
            let methods = combined.methods();
            let has_all = methods
                .into_iter()
                .all(|side| SketchJoin::of(side).is_some());
            return has_all.then_some(SketchJoin::Combined(combined));
        }
        if let Some((width, distance)) = method.fingerprint_bits()
            && matches!(width, 32 | 64 | 128 | 256)
        {
            return Some(SketchJoin::Fingerprints { width, distance });
        }
        method
            .vectors()
            .is_none()
            .then_some(SketchJoin::Keys(method))
    }

    /// Whether nearly every sketch that [`any`](Self::any) finds has a near one.
    pub fn decides(self) -> bool {
        match self {
            SketchJoin::Fingerprints { .. } => true,
            SketchJoin::Keys(method) => method.is_near_by_key(),
            SketchJoin::Combined(combined) => {
                let decides = |side| SketchJoin::of(side).is_some_and(SketchJoin::decides);
                combined.is_either() && combined.methods().into_iter().all(decides)
            }
        }
    }

    /// The positions of all sketches that have a near one at another position. Of sketches that are
    /// found by their keys, also those that share a key, and some others.
    ///
    /// `memory_bytes` bounds the memory for fingerprints or keys; with less, the sketches are read
    /// more often. Some bits for each sketch, and half a megabyte for each thread (for keys, 8 MiB)
    /// are always used. Uses the current rayon pool.
    ///
    /// # Errors
    /// Errors of the source and of `watch`.
    pub fn any(
        self,
        sketches: &dyn SketchSource,
        memory_bytes: usize,
        level: Level,
        watch: &dyn Watch,
    ) -> Result<Marks> {
        match self {
            SketchJoin::Keys(method) => KeyJoin::new(method, sketches, memory_bytes, watch).marks(),
            SketchJoin::Combined(combined) => {
                let join = |side: &dyn Compare, sketches: &dyn SketchSource, watch: &dyn Watch| {
                    let missing = || {
                        let message = "a method of the combination has no join";
                        Error::new(ErrorKind::Parameter, message)
                    };
                    let join = SketchJoin::of(side).ok_or_else(missing)?;
                    join.any(sketches, memory_bytes, level, watch)
                };
                combined::any(combined, sketches, watch, join)
            }
            SketchJoin::Fingerprints { width, distance } => {
                let join = BitJoin { width, distance };
                match width {
                    32 | 64 => join.any_of::<u64>(sketches, memory_bytes, level, watch),
                    128 => join.any_of::<u128>(sketches, memory_bytes, level, watch),
                    _ => join.any_of::<U256>(sketches, memory_bytes, level, watch),
                }
            }
        }
    }
}

/// A join of fingerprints.
#[derive(Clone, Copy)]
struct BitJoin {
    width: u32,
    distance: u32,
}

impl BitJoin {
    fn any_of<F: Fingerprint>(
        self,
        sketches: &dyn SketchSource,
        memory_bytes: usize,
        level: Level,
        watch: &dyn Watch,
    ) -> Result<Marks> {
        let bytes = sketches.count() as usize * size_of::<F>();
        if bytes > memory_bytes / COPIES {
            let source = Converted(sketches);
            let source: &dyn Source<F> = &source;
            return self.join(source, memory_bytes, level)?.any(watch);
        }
        let mut all: Vec<F> = Vec::with_capacity(sketches.count() as usize);
        sketches.for_each(&mut |run| {
            all.extend_from_slice(&fingerprints(run));
            watch.reached(0.0)
        })?;
        self.join(&all[..], memory_bytes - bytes, level)?.any(watch)
    }

    fn join<'a, F: Fingerprint, S: Source<F> + ?Sized>(
        self,
        source: &'a S,
        memory_bytes: usize,
        level: Level,
    ) -> Result<SelfJoin<'a, F, S>> {
        SelfJoin::new(source, self.width, self.distance, memory_bytes, level)
    }
}

/// Sketches as fingerprints.
struct Converted<'a>(&'a dyn SketchSource);

impl<F: Fingerprint> Source<F> for Converted<'_> {
    fn count(&self) -> usize {
        self.0.count() as usize
    }

    fn for_each(&self, visit: &mut dyn FnMut(u32, &[F]) -> Result<()>) -> Result<()> {
        let mut first = 0;
        self.0.for_each(&mut |run| {
            visit(first, &fingerprints(run))?;
            first += run.count() as u32;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::join::source::testing::{SketchRuns, Unwatched};
    use crate::sketch::SketchList;
    use crate::sketch::hashed::SimHashSettings;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// Promise (Deduplication): The join of fingerprints with themselves …
        #[test]
        fn sketches_with_a_near_one_are_found(
            seeds in prop::collection::vec(any::<[u8; 2]>(), 0..60),
            memory_bytes in prop::sample::select(vec![0, 1 << 20]),
        ) {
            for width in [32, 64, 128, 256] {
                let method = SimHashSettings::default().method(width, Level::best()).unwrap();
                let mut list = SketchList::new(&*method);
                for [place, byte] in &seeds {
                    // Few bytes differ, so that some sketches are near.
                    let mut sketch = vec![0; width as usize / 8];
                    let length = sketch.len();
                    sketch[usize::from(*place) % length] = *byte;
                    sketch[usize::from(*byte) % length] ^= 0xF0;
                    list.push(&sketch);
                }
                let sketches = list.all(&*method);
                let near = |a: usize, b: usize| {
                    a != b && method.accepts(&method.score(sketches.get(a), sketches.get(b)))
                };
                let join = SketchJoin::of(&*method).unwrap();
                let found = join.any(&SketchRuns(sketches, 7), memory_bytes, Level::best(), &Unwatched);
                let found = found.unwrap();
                for a in 0..sketches.count() {
                    let expected = (0..sketches.count()).any(|b| near(a, b));
                    prop_assert_eq!(found.contains(a as u32), expected, "{} bits, {}", width, a);
                }
            }
        }
    }
}
