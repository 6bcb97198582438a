//! A stream of records, cut into shards.

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::place::{ShardCounts, ShardPlace};
use crate::Result;
use crate::shards::formats::encoder::{Encoder, ShardRecord, ShardRecords};

/// Cuts records into shards and writes them.
///
/// A shard ends with the record that reaches its size, a block with the one that reaches the size
/// of blocks. So both depend on the records alone. Several blocks are encoded at the same time.
pub struct ShardWriter<'a, E: Encoder> {
    encoder: &'a E,
    place: &'a ShardPlace<'a>,
    /// How many blocks are encoded at the same time.
    parallel: usize,
    /// The complete shards, those of an interrupted run too.
    shards: Vec<ShardCounts>,
    /// The shard of the next record.
    counts: ShardCounts,
    /// The block of the next record, and its bytes.
    block: E::Block,
    block_bytes: u64,
    /// Complete blocks; one that ends its shard has the counts of that shard.
    waiting: Vec<(E::Block, Option<ShardCounts>)>,
    /// The shard that is being written.
    file: Option<E::File>,
}

impl<'a, E: Encoder> ShardWriter<'a, E> {
    /// Continues after the complete shards in `place`, and encodes `parallel` blocks at a time.
    ///
    /// # Errors
    /// Errors of [`ShardPlace::complete`].
    pub fn new(
        encoder: &'a E,
        place: &'a ShardPlace<'a>,
        parallel: usize,
    ) -> Result<ShardWriter<'a, E>> {
        Ok(ShardWriter {
            encoder,
            place,
            parallel: parallel.max(1),
            shards: place.complete()?,
            counts: ShardCounts::default(),
            block: encoder.block(),
            block_bytes: 0,
            waiting: Vec::new(),
            file: None,
        })
    }

    /// The number of the first document that is in no complete shard.
    pub fn next(&self) -> u32 {
        self.shards.last().map_or(0, |shard| shard.next)
    }

    /// Appends the records of a chunk.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn add(&mut self, records: &ShardRecords<E::Content>) -> Result<()> {
        let ShardRecords { content, each } = records;
        let (mut rows, mut bytes) = (0..0, 0..0);
        for (row, record) in each.iter().enumerate() {
            let ShardRecord {
                number,
                bytes: more,
                has_own_source,
            } = *record;
            rows.end = row + 1;
            bytes.end += more as usize;
            self.block_bytes += more;
            self.counts.records += 1;
            self.counts.bytes += more;
            self.counts.own_source += u64::from(has_own_source);
            self.counts.next = number.saturating_add(1);
            let ends_shard = self.counts.bytes >= self.place.settings.bytes;
            if ends_shard || self.block_bytes >= E::BLOCK_BYTES {
                self.encoder
                    .append(&mut self.block, content, rows.clone(), bytes.clone());
                (rows.start, bytes.start) = (rows.end, bytes.end);
                self.end_block(ends_shard)?;
            }
        }
        if !rows.is_empty() {
            self.encoder.append(&mut self.block, content, rows, bytes);
        }
        Ok(())
    }

    /// Ends the stream; returns the counts of all its shards. Without documents, there is one without
    /// records, if the format has such files.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn finish(mut self) -> Result<Vec<ShardCounts>> {
        if self.counts.records > 0 {
            self.end_block(true)?;
        }
        self.write_waiting()?;
        if self.shards.is_empty() && E::HAS_EMPTY_FILES {
            let file = self.encoder.open(self.place.create(0)?)?;
            self.publish(file, ShardCounts::default())?;
        }
        Ok(self.shards)
    }

    fn end_block(&mut self, ends_shard: bool) -> Result<()> {
        let block = std::mem::replace(&mut self.block, self.encoder.block());
        self.block_bytes = 0;
        let ended = ends_shard.then(|| std::mem::take(&mut self.counts));
        self.waiting.push((block, ended));
        match self.waiting.len() < self.parallel {
            true => Ok(()),
            false => self.write_waiting(),
        }
    }

    /// Encodes the complete blocks and writes them in order.
    fn write_waiting(&mut self) -> Result<()> {
        let encoder = self.encoder;
        let waiting = std::mem::take(&mut self.waiting);
        let encoded: Vec<_> = waiting
            .into_par_iter()
            .map(|(block, ended)| Ok((encoder.encode(block)?, ended)))
            .collect::<Result<_>>()?;
        for (encoded, ended) in encoded {
            let mut file = match self.file.take() {
                Some(file) => file,
                None => encoder.open(self.place.create(self.shards.len() as u32)?)?,
            };
            encoder.write(&mut file, encoded)?;
            match ended {
                Some(counts) => self.publish(file, counts)?,
                None => self.file = Some(file),
            }
        }
        Ok(())
    }

    fn publish(&mut self, file: E::File, counts: ShardCounts) -> Result<()> {
        let file = self.encoder.close(file)?;
        let number = self.shards.len() as u32;
        self.place.publish(number, &counts, file)?;
        self.shards.push(counts);
        Ok(())
    }
}
