//! The shingle sets of documents with a near sketch of another one, in temporary files.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::{Pod, Zeroable};
use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};
use rayon::slice::ParallelSliceMut;

use crate::{Error, ErrorKind, Result};
use simtool_core::dedup::{SetBitmaps, set_index_bytes};
use simtool_core::kernel::Level;
use simtool_core::text::{LeastSimilarity, Measure};
use simtool_engine::spill_space::SpillSpace;
use simtool_files::{SharedSpool, Sorted, Sorter, Spooled};

use crate::dedup::memory;
use crate::table::spooled_records::records;

/// The position and size of a set in the temporary file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct Extent {
    offset: u64,
    shingles: u64,
}

/// The extent of a document, or of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct NumberedExtent {
    of: u64,
    extent: Extent,
}

/// The sets of shingles of some documents.
pub struct CollectedSets {
    file: Arc<Spooled>,
    /// A [`NumberedExtent`] for each document, by number.
    extents: Spooled,
    shingles: u64,
}

/// A sorted set of shingle hashes for each rank.
pub struct ShingleSets {
    /// Unique within the process.
    number: u64,
    file: Arc<Spooled>,
    /// An [`Extent`] for each rank.
    extents: Spooled,
    /// The shingles of all collected sets.
    shingles: u64,
}

/// Where the sets of documents are in the temporary file to which all threads write them.
pub struct SetWriter<'a> {
    placed: Sorter<NumberedExtent>,
    file: &'a SharedSpool,
    /// The shingles of all sets.
    shingles: u64,
}

/// Sets of some documents: numbers and lengths, and the hashes end to end. After the hashes of each
/// document is its sketch, all of one length, filled up to a multiple of eight bytes.
#[derive(Default)]
pub struct DocumentSets {
    documents: Vec<(u32, u32)>,
    hashes: Vec<u64>,
    sketch_words: u64,
}

/// Sets in the temporary file.
pub struct WrittenSets {
    offset: u64,
    documents: Vec<(u32, u32)>,
    sketch_words: u64,
}

impl DocumentSets {
    /// The number of documents.
    pub fn count(&self) -> usize {
        self.documents.len()
    }

    /// Adds the set of a document, and its sketch; all have the same length, which may be zero.
    pub fn push(&mut self, document: u32, set: &[u64], sketch: &[u8]) {
        self.documents.push((document, set.len() as u32));
        self.hashes.extend_from_slice(set);
        self.sketch_words = sketch.len().div_ceil(8) as u64;
        self.hashes.extend(sketch.chunks(8).map(|part| {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            u64::from_ne_bytes(word)
        }));
    }

    /// Writes the sets; their place is to be [added](SetWriter::add).
    ///
    /// # Errors
    /// Errors of temporary files.
    pub fn write(self, file: &SharedSpool) -> Result<WrittenSets> {
        Ok(WrittenSets {
            offset: file.append(bytemuck::cast_slice(&self.hashes))?,
            documents: self.documents,
            sketch_words: self.sketch_words,
        })
    }
}

impl<'a> SetWriter<'a> {
    /// For sets in `file`.
    pub fn new(file: &'a SharedSpool, space: &SpillSpace<'_>) -> SetWriter<'a> {
        SetWriter {
            placed: space.sorter(memory::EXTENTS),
            file,
            shingles: 0,
        }
    }

    /// The file.
    pub fn file(&self) -> &'a SharedSpool {
        self.file
    }

    /// Adds the sets of documents, in any order.
    ///
    /// # Errors
    /// Errors of temporary files.
    pub fn add(&mut self, sets: &WrittenSets) -> Result<()> {
        let mut offset = sets.offset;
        for &(document, shingles) in &sets.documents {
            let shingles = u64::from(shingles);
            self.shingles += shingles;
            self.placed.push(NumberedExtent {
                of: document.into(),
                extent: Extent { offset, shingles },
            })?;
            offset += (shingles + sets.sketch_words) * size_of::<u64>() as u64;
        }
        Ok(())
    }

    /// The extents of the sets by document, and the number of shingles of all.
    ///
    /// # Errors
    /// Errors of temporary files.
    pub fn finish(self, space: &SpillSpace<'_>) -> Result<(Spooled, u64)> {
        let mut extents = space.spool()?;
        for extent in self.placed.finish()? {
            extents.append(bytemuck::bytes_of(&extent?))?;
        }
        Ok((extents.finish()?, self.shingles))
    }
}

impl CollectedSets {
    /// The sets in `file`: [their extents, and the number of shingles of all](SetWriter::finish).
    pub fn new(file: SharedSpool, (extents, shingles): (Spooled, u64)) -> CollectedSets {
        CollectedSets {
            file: Arc::new(file.finish()),
            extents,
            shingles,
        }
    }

    /// The sets of `count` leaders with these documents, by rank. A leader whose set was not collected
    /// has an empty one.
    ///
    /// # Errors
    /// Errors of temporary files.
    pub fn of_ranks(
        &self,
        documents: impl Iterator<Item = Result<u32>>,
        count: u64,
        space: &SpillSpace<'_>,
    ) -> Result<ShingleSets> {
        let mut ranks = space.sorter::<[u32; 2]>(memory::RANKS);
        for (rank, document) in (0..).zip(documents) {
            ranks.push([document?, rank])?;
        }
        let extents = by_rank(records(&self.extents), ranks.finish()?, count, space)?;
        static SETS: AtomicU64 = AtomicU64::new(1);
        Ok(ShingleSets {
            number: SETS.fetch_add(1, Ordering::Relaxed),
            file: self.file.clone(),
            extents,
            shingles: self.shingles,
        })
    }

    /// Bytes of the sets in temporary space.
    pub fn bytes(&self) -> u64 {
        self.file.bytes()
    }
}

impl ShingleSets {
    /// Fills `sketches` with those from rank `first` on, of `length` bytes each, if sketches were
    /// collected.
    ///
    /// # Errors
    /// Errors of temporary files; [`ErrorKind::Content`] if there is none.
    pub fn sketches(&self, first: u64, length: usize, sketches: &mut [u8]) -> Result<()> {
        let sketches = sketches.chunks_exact_mut(length.max(1));
        let mut extents = vec![Extent::default(); sketches.len()];
        let size = size_of::<Extent>() as u64;
        let bytes = bytemuck::cast_slice_mut(&mut extents);
        self.extents.fill_at(first * size, bytes)?;
        for (extent, sketch) in extents.into_iter().zip(sketches) {
            if extent.shingles == 0 {
                let message = "a document that is compared was not read again";
                return Err(Error::new(ErrorKind::Content, message));
            }
            let begin = extent.offset + extent.shingles * size_of::<u64>() as u64;
            self.file.fill_at(begin, sketch)?;
        }
        Ok(())
    }

    /// The similarity of the sets of two ranks, the earlier first: the shared shingles, and the
    /// number with which they are compared.
    ///
    /// Sets that are in `buffers`, from the last call, are not read again.
    ///
    /// # Errors
    /// Errors of temporary files.
    pub fn similarity(
        &self,
        measure: Measure,
        (earlier, later): (u64, u64),
        buffers: &mut SetBuffers,
    ) -> Result<(u64, u64)> {
        let (a, b) = self.pair(earlier, later, buffers)?;
        Ok(measure.similarity(a, b))
    }

    /// The similarity if it is at least `least`; stops early if it cannot be.
    ///
    /// # Errors
    /// Errors of temporary files.
    pub fn reached(
        &self,
        least: LeastSimilarity,
        (earlier, later): (u64, u64),
        buffers: &mut SetBuffers,
    ) -> Result<Option<(u64, u64)>> {
        let (a, b) = self.pair(earlier, later, buffers)?;
        Ok(least.reached(a, b))
    }

    fn pair<'b>(
        &self,
        a: u64,
        b: u64,
        buffers: &'b mut SetBuffers,
    ) -> Result<(&'b [u64], &'b [u64])> {
        let [first, second] = &mut buffers.0;
        let key = |rank| (self.number, rank);
        if second.key == key(a) || first.key == key(b) {
            std::mem::swap(first, second);
        }
        for (cached, rank) in [(&mut *first, a), (&mut *second, b)] {
            if cached.key != key(rank) {
                cached.key = (0, 0);
                self.read(rank, &mut cached.set)?;
                cached.key = key(rank);
            }
        }
        Ok((&first.set, &second.set))
    }

    /// How many words each bitmap of [`bitmaps`](Self::bitmaps) has if all are to fit into
    /// `memory_bytes`; `None` if they cannot.
    pub fn bitmap_words(&self, memory_bytes: usize) -> Option<usize> {
        let count = self.extents.bytes() / size_of::<Extent>() as u64;
        SetBitmaps::words(count, self.shingles.div_ceil(count.max(1)), memory_bytes)
    }

    /// The memory of an index of all sets, or `most` if that is less.
    pub fn index_bytes(&self, least: LeastSimilarity, most: usize) -> usize {
        let sets = self.extents.bytes() / size_of::<Extent>() as u64;
        set_index_bytes(sets, self.shingles, least).min(most)
    }

    /// The bitmaps of all sets, by rank; reads them all, in parallel.
    ///
    /// # Errors
    /// Errors of temporary files.
    pub fn bitmaps(&self, words: usize, level: Level) -> Result<SetBitmaps> {
        let count = (self.extents.bytes() / size_of::<Extent>() as u64) as usize;
        let (mut bitmaps, mut sizes) = (vec![0; words * count], vec![0; count]);
        bitmaps
            .par_chunks_mut(words)
            .zip(sizes.par_iter_mut())
            .enumerate()
            .try_for_each_init(Vec::new, |set, (rank, (bitmap, size))| {
                self.read(rank as u64, set)?;
                *size = SetBitmaps::fill(set, bitmap);
                Ok(())
            })?;
        Ok(SetBitmaps::new(words, bitmaps, sizes, level))
    }

    fn extent(&self, rank: u64) -> Result<Extent> {
        let mut extent = Extent::default();
        let size = size_of::<Extent>() as u64;
        self.extents
            .fill_at(rank * size, bytemuck::bytes_of_mut(&mut extent))?;
        Ok(extent)
    }

    /// Replaces the contents of `set` by the set of a rank.
    ///
    /// # Errors
    /// Errors of temporary files.
    pub fn read(&self, rank: u64, set: &mut Vec<u64>) -> Result<()> {
        let extent = self.extent(rank)?;
        set.resize(extent.shingles as usize, 0);
        self.file
            .fill_at(extent.offset, bytemuck::cast_slice_mut(set))
    }
}

/// Sorts the extents of documents by rank; ranks without an extent get an empty one.
fn by_rank(
    placed: impl Iterator<Item = Result<NumberedExtent>>,
    ranks: Sorted<[u32; 2]>,
    count: u64,
    space: &SpillSpace<'_>,
) -> Result<Spooled> {
    let mut sorter = space.sorter::<NumberedExtent>(memory::EXTENTS);
    let mut placed = placed.peekable();
    for pair in ranks {
        let [document, rank] = pair?;
        let is_due = |next: &Result<NumberedExtent>| {
            next.as_ref()
                .map_or(true, |placed| placed.of <= document.into())
        };
        while let Some(found) = placed.next_if(is_due).transpose()? {
            if found.of == u64::from(document) {
                sorter.push(NumberedExtent {
                    of: rank.into(),
                    ..found
                })?;
            }
        }
    }
    let mut extents = space.spool()?;
    let mut next = 0;
    for found in sorter.finish()? {
        let found = found?;
        while next < found.of {
            extents.append(bytemuck::bytes_of(&Extent::default()))?;
            next += 1;
        }
        extents.append(bytemuck::bytes_of(&found.extent))?;
        next += 1;
    }
    for _ in next..count {
        extents.append(bytemuck::bytes_of(&Extent::default()))?;
    }
    extents.finish()
}

/// The two sets that a thread read last.
#[derive(Debug, Default)]
pub struct SetBuffers([CachedSet; 2]);

#[derive(Debug, Default)]
struct CachedSet {
    /// The number of the [`ShingleSets`], never zero, and the rank.
    key: (u64, u64),
    set: Vec<u64>,
}
