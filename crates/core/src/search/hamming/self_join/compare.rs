//! Comparison of the fingerprints of a bucket.

use super::super::Fingerprint;
use super::context::{JoinContext, JoinOutput};
use super::marks::Marks;
use super::path::Path;
use crate::Result;
use crate::kernel::hamming::QueryHit;

/// The fingerprints that are compared with many others at a time, if all pairs are reported.
const ROWS: usize = 512;
/// The fingerprints that are compared with many others until each has a neighbour.
const QUERIES: usize = 64;
/// The fingerprints that they are compared with at a time. So lists of pairs have a bounded length.
const PIECE: usize = 4096;
/// The first such piece: where most fingerprints are near, each finds a neighbour among a few.
const FIRST_PIECE: usize = 64;

/// Fingerprints and their positions.
#[derive(Clone, Copy)]
pub(super) struct Bucket<'b, F> {
    pub(super) values: &'b [F],
    pub(super) positions: &'b [u32],
}

/// Compares fingerprints, with buffers that are used again.
#[derive(Debug)]
pub(super) struct Comparer<F> {
    pairs: Vec<QueryHit>,
    queries: List<F>,
    /// Fingerprints without a neighbour yet, and all others.
    lonely: List<F>,
    others: List<F>,
}

/// Fingerprints and their positions.
#[derive(Debug)]
struct List<F> {
    values: Vec<F>,
    positions: Vec<u32>,
}

impl<F: Fingerprint> Comparer<F> {
    pub(super) fn new() -> Self {
        Comparer {
            pairs: Vec::new(),
            queries: List::new(),
            lonely: List::new(),
            others: List::new(),
        }
    }

    /// Reports the pairs of a bucket that count at `path`, or whether each has a neighbour.
    pub(super) fn bucket(
        &mut self,
        bucket: Bucket<'_, F>,
        path: &Path<F>,
        context: &JoinContext<'_, F>,
    ) -> Result<()> {
        match context.output {
            JoinOutput::Any(marks) if bucket.values.len() > context.costs.few => {
                self.any(bucket, marks, context)
            }
            _ => self.pairs(bucket, path, context),
        }
    }

    /// Reports the pairs of a fingerprint of `earlier` and one of `later` like those of a bucket.
    pub(super) fn across(
        &mut self,
        earlier: Bucket<'_, F>,
        later: Bucket<'_, F>,
        path: &Path<F>,
        context: &JoinContext<'_, F>,
    ) -> Result<()> {
        if let JoinOutput::Any(marks) = context.output {
            self.any_across(later, earlier, marks, context)?;
            return self.any_across(earlier, later, marks, context);
        }
        for rows in later.chunks(ROWS) {
            for piece in earlier.chunks(PIECE) {
                self.rows(rows, piece, path, context)?;
            }
        }
        Ok(())
    }

    fn pairs(
        &mut self,
        bucket: Bucket<'_, F>,
        path: &Path<F>,
        context: &JoinContext<'_, F>,
    ) -> Result<()> {
        for (number, rows) in bucket.chunks(ROWS).enumerate() {
            (context.kernels.pairs)(rows.values, context.threshold, &mut self.pairs);
            self.report(rows, rows, path, context);
            let after = ((number + 1) * ROWS).min(bucket.values.len());
            for piece in bucket.from(after).chunks(PIECE) {
                self.rows(rows, piece, path, context)?;
            }
        }
        Ok(())
    }

    fn rows(
        &mut self,
        rows: Bucket<'_, F>,
        piece: Bucket<'_, F>,
        path: &Path<F>,
        context: &JoinContext<'_, F>,
    ) -> Result<()> {
        let scan = context.kernels.scan_each;
        scan(
            piece.values,
            rows.values,
            context.threshold,
            &mut self.pairs,
        );
        self.report(rows, piece, path, context);
        context.check()
    }

    /// Reports and removes the pairs of `rows` and `piece` that were found.
    fn report(
        &mut self,
        rows: Bucket<'_, F>,
        piece: Bucket<'_, F>,
        path: &Path<F>,
        context: &JoinContext<'_, F>,
    ) {
        // A neighbour that is found several times is still a neighbour.
        let counts_once = matches!(context.output, JoinOutput::Pairs(_));
        for QueryHit { query, hit } in self.pairs.drain(..) {
            let (a, b) = (query as usize, hit.position as usize);
            if !counts_once || path.is_first(rows.values[a] ^ piece.values[b]) {
                context.report(rows.positions[a], piece.positions[b], hit.distance);
            }
        }
    }

    /// Marks the fingerprints that have a neighbour in their bucket.
    ///
    /// A fingerprint without a neighbour yet is compared with all others until it has one. Those
    /// without one to the end are compared with each other once.
    fn any(
        &mut self,
        bucket: Bucket<'_, F>,
        marks: &Marks,
        context: &JoinContext<'_, F>,
    ) -> Result<()> {
        let (mut lonely, mut others) = (self.lonely.taken(), self.others.taken());
        for (value, position) in bucket.values.iter().zip(bucket.positions) {
            match marks.contains(*position) {
                true => others.push(*value, *position),
                false => lonely.push(*value, *position),
            }
        }
        for (number, queries) in lonely.all().chunks(QUERIES).enumerate() {
            self.any_across(queries, others.all(), marks, context)?;
            (context.kernels.pairs)(queries.values, context.threshold, &mut self.pairs);
            self.mark(queries, queries, context);
            let after = ((number + 1) * QUERIES).min(lonely.values.len());
            self.any_across(queries, lonely.all().from(after), marks, context)?;
            // They may not have been compared with all.
            for (value, position) in queries.values.iter().zip(queries.positions) {
                if marks.contains(*position) {
                    others.push(*value, *position);
                }
            }
        }
        (self.lonely, self.others) = (lonely, others);
        Ok(())
    }

    /// Compares each of `queries` with `with` until it has a neighbour.
    fn any_across(
        &mut self,
        queries: Bucket<'_, F>,
        with: Bucket<'_, F>,
        marks: &Marks,
        context: &JoinContext<'_, F>,
    ) -> Result<()> {
        for queries in queries.chunks(QUERIES) {
            let (mut start, mut length) = (0, FIRST_PIECE);
            while start < with.values.len() {
                let mut left = self.queries.taken();
                for (value, position) in queries.values.iter().zip(queries.positions) {
                    if !marks.contains(*position) {
                        left.push(*value, *position);
                    }
                }
                let piece = with.from(start).first(length);
                let (scan, threshold) = (context.kernels.scan_each, context.threshold);
                scan(piece.values, &left.values, threshold, &mut self.pairs);
                self.mark(left.all(), piece, context);
                let is_done = left.values.is_empty();
                self.queries = left;
                if is_done {
                    break;
                }
                (start, length) = (start + length, (4 * length).min(PIECE));
            }
            context.check()?;
        }
        Ok(())
    }

    fn mark(&mut self, queries: Bucket<'_, F>, piece: Bucket<'_, F>, context: &JoinContext<'_, F>) {
        for QueryHit { query, hit } in self.pairs.drain(..) {
            let (a, b) = (query as usize, hit.position as usize);
            context.report(queries.positions[a], piece.positions[b], hit.distance);
        }
    }
}

impl<F> List<F> {
    fn new() -> Self {
        List {
            values: Vec::new(),
            positions: Vec::new(),
        }
    }

    /// The list, emptied; an unallocated one takes its place.
    fn taken(&mut self) -> Self {
        let mut list = std::mem::replace(self, List::new());
        list.values.clear();
        list.positions.clear();
        list
    }

    fn push(&mut self, value: F, position: u32) {
        self.values.push(value);
        self.positions.push(position);
    }

    fn all(&self) -> Bucket<'_, F> {
        Bucket {
            values: &self.values,
            positions: &self.positions,
        }
    }
}

impl<'b, F> Bucket<'b, F> {
    fn chunks(self, length: usize) -> impl Iterator<Item = Bucket<'b, F>> {
        let pieces = self
            .values
            .chunks(length)
            .zip(self.positions.chunks(length));
        pieces.map(|(values, positions)| Bucket { values, positions })
    }

    fn from(self, start: usize) -> Self {
        Bucket {
            values: &self.values[start..],
            positions: &self.positions[start..],
        }
    }

    fn first(self, length: usize) -> Self {
        let length = length.min(self.values.len());
        Bucket {
            values: &self.values[..length],
            positions: &self.positions[..length],
        }
    }
}
