//! The documents that have a sketch of their own, in keep order, and their sketches.

use crate::Result;
use crate::io::{RecordFile, Sorted, Spooled};

use super::decision::Leader;
use super::gathered::Gathered;
use super::room::Room;

/// Sketches are read in blocks of about so many bytes.
const BLOCK_BYTES: usize = 1 << 16;

/// Documents by rank, put aside in temporary files.
pub struct Leaders {
    /// Their numbers: four bytes each.
    documents: Spooled,
    /// Their sketches, end to end.
    sketches: Spooled,
    /// Their parts, eight bytes each, if parts matter.
    parts: Option<Spooled>,
    sketch_bytes: usize,
    /// How many there are.
    pub count: u64,
    /// How many of them, at the start, belong to the reference.
    pub references: u64,
}

/// Leaders of consecutive ranks, in memory.
#[derive(Default)]
pub struct Block {
    /// The rank of the first.
    pub first: u64,
    /// Their sketches.
    pub sketches: Vec<u8>,
    /// Their parts, or nothing.
    pub parts: Vec<u64>,
}

impl Leaders {
    /// Puts aside what `leaders` name.
    ///
    /// # Errors
    /// Those of reading and of temporary files.
    pub fn put_aside(
        leaders: Sorted<Leader>,
        gathered: &Gathered,
        sketch_bytes: usize,
        with_parts: bool,
        room: &Room<'_>,
    ) -> Result<Leaders> {
        let (mut documents, mut sketches, mut parts) =
            (room.spool()?, room.spool()?, room.spool()?);
        let mut nearby = Nearby::new(&gathered.sketches, sketch_bytes);
        let (mut count, mut references) = (0, 0);
        for leader in leaders {
            let leader = leader?;
            documents.append(&leader.document.to_le_bytes())?;
            sketches.append(nearby.get(leader.document.into())?)?;
            if with_parts {
                let row = gathered.rows.get(leader.document.into())?;
                parts.append(&row.part.to_le_bytes())?;
            }
            count += 1;
            references += u64::from(leader.class == 0);
        }
        let parts = parts.finish()?;
        Ok(Leaders {
            documents: documents.finish()?,
            sketches: sketches.finish()?,
            parts: with_parts.then_some(parts),
            sketch_bytes,
            count,
            references,
        })
    }

    /// The leaders that `ranks` name, ascending, under new ranks from 0.
    ///
    /// # Errors
    /// Those of reading and of temporary files.
    pub fn select(&self, ranks: impl Iterator<Item = u64>, room: &Room<'_>) -> Result<Leaders> {
        let (mut documents, mut sketches, mut parts) =
            (room.spool()?, room.spool()?, room.spool()?);
        let (mut count, mut references) = (0, 0);
        let mut bytes = Vec::new();
        for rank in ranks {
            self.documents.read_at(4 * rank, 4, &mut bytes)?;
            documents.append(&bytes)?;
            let size = self.sketch_bytes;
            self.sketches
                .read_at(rank * size as u64, size, &mut bytes)?;
            sketches.append(&bytes)?;
            if let Some(all) = &self.parts {
                all.read_at(8 * rank, 8, &mut bytes)?;
                parts.append(&bytes)?;
            }
            count += 1;
            references += u64::from(rank < self.references);
        }
        let parts = parts.finish()?;
        Ok(Leaders {
            documents: documents.finish()?,
            sketches: sketches.finish()?,
            parts: self.parts.is_some().then_some(parts),
            sketch_bytes: self.sketch_bytes,
            count,
            references,
        })
    }

    /// The length of a sketch.
    pub fn sketch_bytes(&self) -> usize {
        self.sketch_bytes
    }

    /// The number of the document of a rank.
    ///
    /// # Errors
    /// Those of temporary files.
    pub fn document(&self, rank: u64) -> Result<u32> {
        let mut number = 0u32;
        self.documents
            .fill_at(4 * rank, bytemuck::bytes_of_mut(&mut number))?;
        Ok(u32::from_le(number))
    }

    /// Reads the leaders from rank `first` on, `count` at most.
    ///
    /// # Errors
    /// Those of temporary files.
    pub fn read(&self, first: u64, count: u64, block: &mut Block) -> Result<()> {
        let count = count.min(self.count.saturating_sub(first));
        let size = self.sketch_bytes as u64;
        block.first = first;
        self.sketches
            .read_at(first * size, (count * size) as usize, &mut block.sketches)?;
        block.parts.clear();
        if let Some(parts) = &self.parts {
            let mut bytes = Vec::new();
            parts.read_at(8 * first, 8 * count as usize, &mut bytes)?;
            block.parts = bytemuck::pod_collect_to_vec(&bytes);
        }
        Ok(())
    }
}

/// Reads records by number, fast if the numbers are mostly ascending.
struct Nearby<'a> {
    file: &'a RecordFile<u8>,
    size: usize,
    first: u64,
    bytes: Vec<u8>,
}

impl<'a> Nearby<'a> {
    fn new(file: &'a RecordFile<u8>, size: usize) -> Nearby<'a> {
        Nearby {
            file,
            size: size.max(1),
            first: 0,
            bytes: Vec::new(),
        }
    }

    fn get(&mut self, number: u64) -> Result<&[u8]> {
        let start = number * self.size as u64;
        let held = self.first..self.first + self.bytes.len() as u64;
        if start < held.start || start + self.size as u64 > held.end {
            let block = (BLOCK_BYTES / self.size).max(1) * self.size;
            self.file.read(start, block, &mut self.bytes)?;
            self.first = start;
        }
        let at = (start - self.first) as usize;
        match self.bytes.get(at..at + self.size) {
            Some(bytes) => Ok(bytes),
            // The file is complete; this is its error.
            None => self.file.get(start + self.size as u64 - 1).map(|_| &[][..]),
        }
    }
}
