//! Reading of the fingerprints of some buckets.

use std::ops::Range;

use super::super::Fingerprint;
use super::super::sample::{self, FingerprintSample};
use super::context::JoinContext;
use super::marks::Marks;
use super::source::Source;
use crate::Result;
use crate::kernel::hamming::Key;

/// The fingerprints that are filtered at a time.
const CHUNK: usize = 1024;

/// Some buckets of a key.
#[derive(Clone, Debug)]
pub(super) struct Filter<F> {
    pub(super) key: Key<F>,
    pub(super) buckets: Range<u32>,
}

/// Reads a source, except some of its fingerprints.
pub(super) struct SourceReader<'a, F: Fingerprint, S: ?Sized> {
    pub(super) source: &'a S,
    pub(super) count: u32,
    pub(super) context: &'a JoinContext<'a, F>,
    /// Positions that are not read.
    pub(super) skipped: &'a Marks,
}

/// A run of fingerprints, masked to the compared bits.
struct FingerprintRun<'r, F> {
    first: u32,
    values: &'r [F],
    /// Which of them pass.
    passes: &'r [bool],
}

impl<F: Fingerprint, S: Source<F> + ?Sized> SourceReader<'_, F, S> {
    /// Calls `visit` for runs of all fingerprints, in order.
    fn read(
        &self,
        filters: &[Filter<F>],
        mut visit: impl FnMut(FingerprintRun<'_, F>),
    ) -> Result<()> {
        let JoinContext {
            threshold, kernels, ..
        } = self.context;
        let mut values = [F::default(); CHUNK];
        let (mut passes, mut buckets) = ([false; CHUNK], [0; CHUNK]);
        self.source.for_each(&mut |first, run| {
            self.context.check()?;
            for (chunk, first) in run.chunks(CHUNK).zip((first..).step_by(CHUNK)) {
                let values = &mut values[..chunk.len()];
                let passes = &mut passes[..chunk.len()];
                let buckets = &mut buckets[..chunk.len()];
                for (((value, pass), from), position) in
                    values.iter_mut().zip(&mut *passes).zip(chunk).zip(first..)
                {
                    *value = *from & threshold.mask;
                    *pass = !self.skipped.contains(position);
                }
                for filter in filters {
                    (kernels.buckets)(values, filter.key, buckets);
                    for (pass, bucket) in passes.iter_mut().zip(&*buckets) {
                        *pass &= filter.buckets.contains(bucket);
                    }
                }
                visit(FingerprintRun {
                    first,
                    values,
                    passes,
                });
            }
            Ok(())
        })
    }

    /// The number of fingerprints in each bucket of `key`.
    pub(super) fn histogram(&self, filters: &[Filter<F>], key: Key<F>) -> Result<Vec<u32>> {
        let mut counts = vec![0; 1 << key.bucket_bits()];
        let mut buckets = [0; CHUNK];
        self.read(filters, |run| {
            let buckets = &mut buckets[..run.values.len()];
            (self.context.kernels.buckets)(run.values, key, buckets);
            for (bucket, pass) in buckets.iter().zip(run.passes) {
                counts[*bucket as usize] += u32::from(*pass);
            }
        })?;
        Ok(counts)
    }

    /// Replaces the contents of `values` and `positions` by the fingerprints within a range of
    /// positions that pass, and their positions. Ends after a run that reaches `most`; returns the
    /// range after it.
    pub(super) fn extract(
        &self,
        filters: &[Filter<F>],
        within: Range<u32>,
        most: usize,
        (values, positions): (&mut Vec<F>, &mut Vec<u32>),
    ) -> Result<Range<u32>> {
        let (mut end, mut next) = (0, within.start);
        self.read(filters, |run| {
            let after = run.first + run.values.len() as u32;
            if after <= within.start || run.first >= within.end || end >= most {
                return;
            }
            // Each is written; the next one overwrites it unless it passes.
            let room = end + run.values.len();
            values.resize(values.len().max(room), F::default());
            positions.resize(positions.len().max(room), 0);
            let all = run.values.iter().zip(run.passes).zip(run.first..);
            for ((value, pass), position) in all {
                values[end] = *value;
                positions[end] = position;
                end += usize::from(*pass && within.contains(&position));
            }
            next = after.min(within.end);
        })?;
        values.truncate(end);
        positions.truncate(end);
        // A source that has fewer than it says is read to its end.
        let is_complete = end < most;
        Ok(if is_complete { within.end } else { next }..within.end)
    }

    /// The number of fingerprints that are read.
    pub(super) fn remaining(&self) -> Result<usize> {
        let mut count = 0;
        self.for_each(&[], |_, _| count += 1)?;
        Ok(count)
    }

    /// Calls `visit` for each fingerprint that passes, with its position, in order.
    pub(super) fn for_each(
        &self,
        filters: &[Filter<F>],
        mut visit: impl FnMut(F, u32),
    ) -> Result<()> {
        self.read(filters, |run| {
            let all = run.values.iter().zip(run.passes).zip(run.first..);
            let passing = all.filter(|((_, pass), _)| **pass);
            passing.for_each(|((value, _), position)| visit(*value, position));
        })
    }

    /// A sample of the fingerprints that pass, of which there are `count`.
    pub(super) fn sample(
        &self,
        filters: &[Filter<F>],
        count: usize,
    ) -> Result<FingerprintSample<F>> {
        let mut wanted = sample::places(count).peekable();
        let (mut values, mut number) = (Vec::new(), 0);
        self.for_each(filters, |value, _| {
            if wanted.next_if_eq(&number).is_some() {
                values.push(value);
            }
            number += 1;
        })?;
        Ok(FingerprintSample { values })
    }
}
