//! The leaders, with their sketches: by the scope's groups, and in keep order within each.
//!
//! The leaders of the reference come first. So the members of a group are two runs of ranks, and
//! only these are compared. Without groups, all leaders are in keep order.

use std::ops::Range;

use rayon::iter::{IndexedParallelIterator, ParallelIterator};
use rayon::slice::ParallelSliceMut;

use crate::{Error, ErrorKind, Result};
use simtool_core::search::join::SketchIndex;
use simtool_core::sketch::{Compare, SignedMethod, SketchList, Sketches};
use simtool_files::{RecordCursor, Spool, Spooled};

use super::shingle_sets::ShingleSets;
use crate::dedup::decision::GroupedLeader;
use crate::table::document_table::DocumentTable;
use crate::table::segment_store::SketchRun;
use crate::table::spooled_records::records;
use simtool_engine::spill_space::SpillSpace;

/// Approximate bytes of sketches that are read at a time.
const BLOCK_BYTES: usize = 1 << 16;
/// The most leaders of a batch, which is compared with a block.
const BATCH: u64 = 1 << 16;
/// The most bytes of sketches of a batch, if their lengths vary; a batch has one sketch at least.
const BATCH_BYTES: u64 = 16 << 20;
/// Sketches of one length that a thread reads at a time.
const READ_TOGETHER: usize = 1 << 12;
/// Extents that are read at a time.
const EXTENTS: u64 = 1 << 13;

/// The most leaders of a block that several groups share. A query of such a block may find leaders
/// of other groups, so this bounds the number of them.
const SHARED: u64 = 1 << 14;

/// Leaders by rank, in temporary files.
pub struct Leaders<'a> {
    method: &'a dyn Compare,
    /// Document numbers, four bytes each.
    documents: Spooled,
    sketches: LeaderSketches<'a>,
    /// The extent of each sketch, if their lengths vary.
    extents: Option<Spooled>,
    /// The group of each document, eight bytes, if the scope has groups.
    groups: Option<Spooled>,
    /// The number of leaders.
    pub count: u64,
    /// How many of them, the first ones, belong to the reference.
    pub references: u64,
}

/// Where the sketches of leaders are.
enum LeaderSketches<'a> {
    /// End to end in a temporary file.
    Copied(Spooled),
    /// Among those of all documents, of whose numbers the leaders' ascend: all of one length.
    Stored(&'a DocumentTable, &'a SignedMethod),
    /// Beside their sets of shingles: all of one length.
    Collected(ShingleSets),
}

/// Where a sketch begins, and the memory that an index needs for all sketches before it.
type Extent = [u64; 2];

/// Leaders of consecutive ranks, in memory.
#[derive(Default)]
pub struct Block {
    /// The rank of the first leader.
    pub first: u64,
    /// The sketches.
    pub sketches: SketchList,
    /// The group of each document; empty if there are no groups.
    pub groups: Vec<u64>,
}

impl<'a> Leaders<'a> {
    /// Writes the leaders with their sketches, without signatures, to temporary files. Sketches of
    /// one length are read where they are if the leaders are `in_input_order`.
    ///
    /// # Errors
    /// Errors of reading and of temporary files.
    pub fn store(
        leaders: impl Iterator<Item = Result<GroupedLeader>>,
        table: &'a DocumentTable,
        method: &'a SignedMethod,
        (with_groups, in_input_order): (bool, bool),
        space: &SpillSpace<'_>,
    ) -> Result<Leaders<'a>> {
        let mut writer = LeaderWriter::new(method.plain(), with_groups, space)?;
        let are_stored = in_input_order && !with_groups && method.sketch_bytes().is_some();
        let mut reader = SketchReader::new(table, method);
        for leader in leaders {
            let leader = leader?;
            let group = u64::from_be_bytes(leader.group);
            let sketch = match are_stored {
                true => &[],
                false => method.split(reader.get(leader.document.into())?).0,
            };
            writer.push(leader.document, sketch, group, leader.class == 0)?;
        }
        let leaders = writer.finish()?;
        Ok(match are_stored {
            true => Leaders {
                sketches: LeaderSketches::Stored(table, method),
                ..leaders
            },
            false => leaders,
        })
    }

    /// The leaders at `ranks`, which ascend, under new ranks from 0, without their sketches.
    ///
    /// # Errors
    /// Errors of reading and of temporary files.
    pub fn select_without_sketches(
        &self,
        ranks: impl Iterator<Item = u64>,
        space: &SpillSpace<'_>,
    ) -> Result<Leaders<'a>> {
        let mut writer = LeaderWriter::new(self.method, self.groups.is_some(), space)?;
        let (mut ranks, mut documents) = (ranks.peekable(), Vec::new());
        while let Some(&first) = ranks.peek() {
            let end = self.count.min(first + EXTENTS);
            self.read_documents(first..end, &mut documents)?;
            let groups = self.groups(first..end)?;
            while let Some(rank) = ranks.next_if(|rank| *rank < end) {
                let at = (rank - first) as usize;
                let group = groups.get(at).copied().unwrap_or_default();
                writer.push(documents[at], &[], group, rank < self.references)?;
            }
        }
        writer.finish()
    }

    /// The leaders at `ranks`, which ascend, under new ranks from 0.
    ///
    /// # Errors
    /// Errors of reading and of temporary files.
    pub fn select(
        &self,
        ranks: impl Iterator<Item = u64>,
        space: &SpillSpace<'_>,
    ) -> Result<Leaders<'a>> {
        let mut writer = LeaderWriter::new(self.method, self.groups.is_some(), space)?;
        let mut block = Block::default();
        // Those that are soon after each other are read together.
        let together = match self.method.sketch_bytes() {
            Some(length) => (BLOCK_BYTES / length.max(1)).max(1) as u64,
            None => 1,
        };
        let (mut ranks, mut run, mut documents) = (ranks.peekable(), Vec::new(), Vec::new());
        while let Some(first) = ranks.next() {
            run.clear();
            run.push(first);
            let is_soon = |rank: &u64| *rank < first + together;
            run.extend(std::iter::from_fn(|| ranks.next_if(is_soon)));
            let end = run[run.len() - 1] + 1;
            self.read(first..end, &mut block)?;
            self.read_documents(first..end, &mut documents)?;
            let sketches = block.all(self.method);
            for &rank in &run {
                let at = (rank - first) as usize;
                let group = block.groups.get(at).copied().unwrap_or_default();
                let is_reference = rank < self.references;
                writer.push(documents[at], sketches.get(at), group, is_reference)?;
            }
        }
        writer.finish()
    }

    /// The same leaders with the sketches of `method` that are among `sets`, by rank. All have one
    /// length. They are copied, since they are read several times.
    ///
    /// # Errors
    /// Errors of temporary files.
    pub fn with_sketches<'m>(
        self,
        method: &'m dyn Compare,
        sets: ShingleSets,
        space: &SpillSpace<'_>,
    ) -> Result<Leaders<'m>> {
        let collected = Leaders {
            method,
            documents: self.documents,
            sketches: LeaderSketches::Collected(sets),
            extents: None,
            groups: self.groups,
            count: self.count,
            references: self.references,
        };
        let (mut copied, mut block) = (space.spool()?, Block::default());
        for batch in collected.batches(0..collected.count)? {
            collected.read(batch, &mut block)?;
            copied.append(&block.sketches.bytes)?;
        }
        Ok(Leaders {
            sketches: LeaderSketches::Copied(copied.finish()?),
            ..collected
        })
    }

    /// The method whose sketches these are.
    pub fn method(&self) -> &'a dyn Compare {
        self.method
    }

    /// The numbers of all documents by rank.
    pub fn documents(&self) -> impl Iterator<Item = Result<u32>> {
        records(&self.documents).map(|number| Ok(u32::from_le(number?)))
    }

    fn read_documents(&self, ranks: Range<u64>, numbers: &mut Vec<u32>) -> Result<()> {
        numbers.clear();
        numbers.resize((ranks.end - ranks.start) as usize, 0);
        let bytes = bytemuck::cast_slice_mut(numbers);
        self.documents.fill_at(4 * ranks.start, bytes)?;
        numbers
            .iter_mut()
            .for_each(|number| *number = u32::from_le(*number));
        Ok(())
    }

    /// Reads the leaders of consecutive ranks. Uses the current rayon pool.
    ///
    /// # Errors
    /// Errors of temporary files.
    pub fn read(&self, ranks: Range<u64>, block: &mut Block) -> Result<()> {
        block.first = ranks.start;
        block.groups = self.groups(ranks.clone())?;
        let SketchList { bytes, borders } = &mut block.sketches;
        let count = ranks.end - ranks.start;
        if let Some(length) = self.method.sketch_bytes() {
            borders.clear();
            bytes.resize(count as usize * length, 0);
            let parts = bytes.par_chunks_mut(READ_TOGETHER * length.max(1));
            return parts.enumerate().try_for_each(|(number, part)| {
                let first = ranks.start + (number * READ_TOGETHER) as u64;
                self.read_part(first, length, part)
            });
        }
        let extents = self.extents(ranks.start, count + 1)?;
        *borders = extents.iter().map(|[begin, _]| *begin).collect();
        let begin = borders.first().copied().unwrap_or_default();
        let end = borders.last().copied().unwrap_or_default();
        match &self.sketches {
            LeaderSketches::Copied(copied) => copied.read_at(begin, (end - begin) as usize, bytes),
            // Their sketches are of one length.
            LeaderSketches::Stored(..) | LeaderSketches::Collected(_) => Ok(()),
        }
    }

    /// Fills `part` with the sketches from rank `first` on, of `length` bytes each.
    fn read_part(&self, first: u64, length: usize, part: &mut [u8]) -> Result<()> {
        let (table, method) = match &self.sketches {
            LeaderSketches::Copied(copied) => return copied.fill_at(first * length as u64, part),
            LeaderSketches::Collected(sets) => return sets.sketches(first, length, part),
            LeaderSketches::Stored(table, method) => (table, *method),
        };
        let mut numbers = Vec::new();
        let end = first + (part.len() / length.max(1)) as u64;
        self.read_documents(first..end, &mut numbers)?;
        let mut reader = SketchReader::new(table, method);
        for (number, part) in numbers
            .into_iter()
            .zip(part.chunks_exact_mut(length.max(1)))
        {
            part.copy_from_slice(method.split(reader.get(number.into())?).0);
        }
        Ok(())
    }

    /// The memory of two [batches](Self::batches_of).
    pub fn batch_bytes(method: &dyn Compare) -> usize {
        let sketches = match method.sketch_bytes() {
            Some(length) => BATCH as usize * length,
            None => BATCH_BYTES as usize,
        };
        2 * (sketches + 2 * BATCH as usize * size_of::<u64>())
    }

    /// Batches of the leaders at `ranges`, which are compared with a block one after another.
    ///
    /// # Errors
    /// Errors of temporary files.
    pub fn batches_of(&self, ranges: &[Range<u64>]) -> Result<Vec<Range<u64>>> {
        let ranges = ranges.iter().filter(|ranks| !ranks.is_empty());
        let batches: Vec<Vec<Range<u64>>> = ranges
            .map(|ranks| self.batches(ranks.clone()))
            .collect::<Result<_>>()?;
        Ok(batches.concat())
    }

    fn batches(&self, ranks: Range<u64>) -> Result<Vec<Range<u64>>> {
        let cost = |[begin, _]: &Extent| *begin;
        let most = match self.method.sketch_bytes() {
            Some(_) => u64::MAX,
            None => BATCH_BYTES,
        };
        self.cut(ranks, BATCH, most, cost, 0)
    }

    /// Blocks of the leaders at `ranks`. Each block with its index, and with `per_document` more
    /// bytes per leader, fits into `memory_bytes`. If sketches vary in length, one that alone needs
    /// more has its own block.
    ///
    /// If there are groups, a block has leaders of one group only, or whole groups. It has none of
    /// the reference together with others.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`] if no leader fits and sketches are of one length; those of temporary
    /// files.
    pub fn blocks(
        &self,
        ranks: Range<u64>,
        per_document: usize,
        memory_bytes: usize,
    ) -> Result<Vec<Range<u64>>> {
        let each = 2 * size_of::<u64>() + per_document;
        let mut blocks = Vec::new();
        for ranks in self.whole_groups(ranks, SHARED)? {
            let fitting = match self.method.sketch_bytes() {
                Some(length) => {
                    let index = SketchIndex::bytes_per_sketch(self.method).unwrap_or_default();
                    let most = memory_bytes / (length + index + each);
                    let most = (most as u64).min(u32::MAX.into());
                    if most == 0 {
                        let message = "too little memory to search sketches: give 16 MiB more";
                        return Err(Error::new(ErrorKind::Memory, message));
                    }
                    self.cut(ranks, most, u64::MAX, |_| 0, 0)?
                }
                None => {
                    let cost = |[begin, index]: &Extent| begin + index;
                    let most = memory_bytes as u64;
                    self.cut(ranks, u32::MAX.into(), most, cost, each as u64)?
                }
            };
            blocks.extend(fitting);
        }
        Ok(blocks)
    }

    /// Splits `ranks` at borders of groups, and at the end of the reference: into single groups,
    /// and runs of several groups with at most `shared` leaders together. Without groups, one
    /// range.
    fn whole_groups(&self, ranks: Range<u64>, shared: u64) -> Result<Vec<Range<u64>>> {
        if ranks.is_empty() {
            return Ok(Vec::new());
        }
        if self.groups.is_none() {
            return Ok(vec![ranks]);
        }
        let mut parts = Vec::new();
        let (mut part, mut group) = (ranks.start, ranks.start);
        let mut before = None;
        for first in ranks.clone().step_by(EXTENTS as usize) {
            let end = ranks.end.min(first + EXTENTS);
            for (rank, of) in (first..).zip(self.groups(first..end)?) {
                let begins = before.is_some_and(|before| before != of);
                if begins || rank == self.references {
                    // The group that ends here shares a block with those before it if it may.
                    if part < group && rank - part > shared {
                        parts.push(part..group);
                        part = group;
                    }
                    if rank - part > shared || rank == self.references {
                        parts.push(part..rank);
                        part = rank;
                    }
                    group = rank;
                }
                before = Some(of);
            }
        }
        if part < group && ranks.end - part > shared {
            parts.push(part..group);
            part = group;
        }
        parts.push(part..ranks.end);
        parts.retain(|part| !part.is_empty());
        Ok(parts)
    }

    /// Ranges of leaders that are compared with each other, as by
    /// [`compared_with`](Self::compared_with): together, they have all leaders, and all of a group
    /// are in one of them.
    ///
    /// # Errors
    /// Errors of temporary files.
    pub fn compared_parts(&self) -> Result<Vec<[Range<u64>; 2]>> {
        let parts = self.whole_groups(0..self.count, SHARED)?;
        parts
            .iter()
            .map(|ranks| self.compared_with(ranks))
            .collect()
    }

    /// The two ranges of ranks, in the reference and after it, that the block at `ranks` is
    /// compared with: those of its groups. Without groups, all ranks.
    ///
    /// # Errors
    /// Errors of temporary files.
    pub fn compared_with(&self, ranks: &Range<u64>) -> Result<[Range<u64>; 2]> {
        let [references, others] = [0..self.references, self.references..self.count];
        let first = self.groups(ranks.start..ranks.start + 1)?;
        let last = self.groups(ranks.end - 1..ranks.end)?;
        let (Some(&first), Some(&last)) = (first.first(), last.first()) else {
            return Ok([references, others]);
        };
        Ok([
            self.of_groups(references, first, last)?,
            self.of_groups(others, first, last)?,
        ])
    }

    /// The ranks within `ranks`, whose groups ascend, of the groups from `first` to `last`.
    fn of_groups(&self, ranks: Range<u64>, first: u64, last: u64) -> Result<Range<u64>> {
        let start = self.partition_point(ranks.clone(), |group| group < first)?;
        let end = self.partition_point(start..ranks.end, |group| group <= last)?;
        Ok(start..end)
    }

    fn partition_point(&self, ranks: Range<u64>, is_before: impl Fn(u64) -> bool) -> Result<u64> {
        let Range { mut start, mut end } = ranks;
        while start < end {
            let middle = start + (end - start) / 2;
            match self.groups(middle..middle + 1)?.first() {
                Some(group) if is_before(*group) => start = middle + 1,
                _ => end = middle,
            }
        }
        Ok(start)
    }

    /// The groups of the leaders at `ranks`; empty if there are no groups.
    fn groups(&self, ranks: Range<u64>) -> Result<Vec<u64>> {
        let mut bytes = Vec::new();
        if let Some(groups) = &self.groups {
            let count = (ranks.end - ranks.start) as usize;
            groups.read_at(8 * ranks.start, 8 * count, &mut bytes)?;
        }
        Ok(bytemuck::pod_collect_to_vec(&bytes))
    }

    /// Splits `ranks` into parts of at most `most` leaders and a cost of at most `most_cost`,
    /// unless a single leader costs more. A leader costs `each` and the increase of `cost` to the
    /// next leader. Costs count only if sketches vary in length.
    fn cut(
        &self,
        ranks: Range<u64>,
        most: u64,
        most_cost: u64,
        cost: impl Fn(&Extent) -> u64,
        each: u64,
    ) -> Result<Vec<Range<u64>>> {
        let mut parts = Vec::new();
        let mut start = ranks.start;
        if self.extents.is_none() {
            while start < ranks.end {
                let end = ranks.end.min(start.saturating_add(most));
                parts.push(start..end);
                start = end;
            }
            return Ok(parts);
        }
        let mut before: Option<u64> = None;
        for first in ranks.clone().step_by(EXTENTS as usize) {
            let scanned = EXTENTS.min(ranks.end - first);
            let extents = self.extents(first, scanned + 1)?;
            for (rank, pair) in (first..).zip(extents.windows(2)) {
                let (begin, end) = (cost(&pair[0]), cost(&pair[1]));
                let since = *before.get_or_insert(begin);
                let count = rank - start;
                if count > 0 && (count == most || end - since + each * (count + 1) > most_cost) {
                    parts.push(start..rank);
                    start = rank;
                    before = Some(begin);
                }
            }
        }
        if start < ranks.end {
            parts.push(start..ranks.end);
        }
        Ok(parts)
    }

    fn extents(&self, first: u64, count: u64) -> Result<Vec<Extent>> {
        let mut bytes = Vec::new();
        let size = size_of::<Extent>() as u64;
        if let Some(extents) = &self.extents {
            extents.read_at(first * size, (count * size) as usize, &mut bytes)?;
        }
        Ok(bytemuck::pod_collect_to_vec(&bytes))
    }
}

impl Block {
    /// The sketches, which are of `method`.
    pub fn all(&self, method: &dyn Compare) -> Sketches<'_> {
        self.sketches.all(method)
    }
}

/// Writes leaders to temporary files.
struct LeaderWriter<'a> {
    method: &'a dyn Compare,
    with_groups: bool,
    documents: Spool,
    sketches: Spool,
    extents: Spool,
    groups: Spool,
    /// Where the next sketch begins.
    extent: Extent,
    count: u64,
    references: u64,
}

impl<'a> LeaderWriter<'a> {
    fn new(
        method: &'a dyn Compare,
        with_groups: bool,
        space: &SpillSpace<'_>,
    ) -> Result<LeaderWriter<'a>> {
        Ok(LeaderWriter {
            method,
            with_groups,
            documents: space.spool()?,
            sketches: space.spool()?,
            extents: space.spool()?,
            groups: space.spool()?,
            extent: [0; 2],
            count: 0,
            references: 0,
        })
    }

    fn push(&mut self, document: u32, sketch: &[u8], group: u64, is_reference: bool) -> Result<()> {
        self.documents.append(&document.to_le_bytes())?;
        self.sketches.append(sketch)?;
        if self.method.sketch_bytes().is_none() {
            self.extents.append(bytemuck::bytes_of(&self.extent))?;
            let index = SketchIndex::bytes_for(self.method, sketch);
            self.extent[0] += sketch.len() as u64;
            self.extent[1] += index as u64;
        }
        if self.with_groups {
            self.groups.append(&group.to_ne_bytes())?;
        }
        self.count += 1;
        self.references += u64::from(is_reference);
        Ok(())
    }

    fn finish(mut self) -> Result<Leaders<'a>> {
        self.extents.append(bytemuck::bytes_of(&self.extent))?;
        let (extents, groups) = (self.extents.finish()?, self.groups.finish()?);
        Ok(Leaders {
            method: self.method,
            documents: self.documents.finish()?,
            sketches: LeaderSketches::Copied(self.sketches.finish()?),
            extents: self.method.sketch_bytes().is_none().then_some(extents),
            groups: self.with_groups.then_some(groups),
            count: self.count,
            references: self.references,
        })
    }
}

/// A reader of sketches by document number, fast if the numbers mostly ascend.
pub(crate) struct SketchReader<'a> {
    bytes: RecordCursor<'a, u8>,
    borders: RecordCursor<'a, u8>,
    runs: &'a [SketchRun],
    /// The run of the last sketch.
    run: usize,
    length: Option<usize>,
}

impl<'a> SketchReader<'a> {
    /// A reader of all sketches, which are of `method`.
    pub fn new(table: &'a DocumentTable, method: &dyn Compare) -> SketchReader<'a> {
        SketchReader {
            bytes: RecordCursor::new(&table.bytes),
            borders: RecordCursor::new(&table.bytes),
            runs: &table.sketches,
            run: 0,
            length: method.sketch_bytes(),
        }
    }

    fn extent(&mut self, number: u64) -> Result<Range<u64>> {
        let begins = |run: usize| self.runs.get(run).map_or(u64::MAX, |run| run.first);
        if !(begins(self.run)..begins(self.run + 1)).contains(&number) {
            let after = self.runs.partition_point(|run| run.first <= number);
            self.run = after.saturating_sub(1);
        }
        let run = self.runs.get(self.run).ok_or_else(cut)?;
        let place = number - run.first;
        let [begin, end] = match self.length {
            Some(length) => [place, place + 1].map(|place| place * length as u64),
            None => {
                let borders = self.borders.read(run.borders + 8 * place, 16)?;
                bytemuck::try_pod_read_unaligned(borders).map_err(|_| cut())?
            }
        };
        Ok(run.sketches + begin..run.sketches + end.max(begin))
    }

    /// The sketch of document `number`; cheap if it soon follows the previous one.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn get(&mut self, number: u64) -> Result<&[u8]> {
        let wanted = self.extent(number)?;
        let length = (wanted.end - wanted.start) as usize;
        let bytes = self.bytes.read(wanted.start, length)?;
        match bytes.len() < length {
            true => Err(cut()),
            false => Ok(bytes),
        }
    }
}

fn cut() -> Error {
    let message = "a sketch is cut: start with --restart";
    Error::new(ErrorKind::Content, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use simtool_core::kernel::Level;
    use simtool_core::sketch::hashed::SimHashSettings;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// Promise (Deduplication): `--within` gives what a run of its …
        #[test]
        fn blocks_have_one_group_or_whole_groups(
            lengths in prop::collection::vec((0..40u64, 0..9u64, any::<bool>()), 0..60),
            shared in 1..30u64,
            most in 1..50usize,
        ) {
            let directory = tempfile::tempdir().unwrap();
            let space = SpillSpace { directory: directory.path(), memory_bytes: 1 << 20 };
            let method = SimHashSettings::default().method(64, Level::Scalar).unwrap();
            let mut all: Vec<(bool, u64)> = lengths
                .iter()
                .flat_map(|&(group, length, is_new)| vec![(is_new, group); length as usize])
                .collect();
            all.sort_unstable();
            let mut writer = LeaderWriter::new(&*method, true, &space).unwrap();
            for (number, (is_new, group)) in all.iter().enumerate() {
                writer.push(number as u32, &[0; 8], *group, !is_new).unwrap();
            }
            let leaders = writer.finish().unwrap();
            let count = all.len() as u64;
            let references = all.iter().filter(|(is_new, _)| !is_new).count() as u64;
            prop_assert_eq!((leaders.count, leaders.references), (count, references));

            let parts = leaders.whole_groups(0..count, shared).unwrap();
            let mut next = 0;
            for part in &parts {
                prop_assert_eq!(part.start, next);
                next = part.end;
                let of = &all[part.start as usize..part.end as usize];
                let groups = of.chunk_by(|a, b| a == b).count();
                prop_assert!(of.iter().all(|(is_new, _)| *is_new == of[0].0));
                prop_assert!(groups == 1 || of.len() as u64 <= shared, "{part:?}");
                // Groups are not split.
                let end = part.end as usize;
                prop_assert!(part.end == count || all[end - 1] != all[end]);
            }
            prop_assert_eq!(next, count);

            let each = 8 + SketchIndex::bytes_per_sketch(&*method).unwrap() + 16;
            for block in leaders.blocks(0..count, 0, most * each).unwrap() {
                prop_assert!((1..=most as u64).contains(&(block.end - block.start)));
                let of = &all[block.start as usize..block.end as usize];
                let compared = leaders.compared_with(&block).unwrap();
                for (ranks, new) in compared.into_iter().zip([false, true]) {
                    let expected = (0..count).filter(|rank| {
                        let (is_new, group) = all[*rank as usize];
                        is_new == new && (of[0].1..=of[of.len() - 1].1).contains(&group)
                    });
                    prop_assert_eq!(ranks.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
                }
            }
        }
    }
}
