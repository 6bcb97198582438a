//! A stream of records, cut into shards.

use std::ops::Range;
use std::sync::Arc;

use super::place::{ShardCounts, ShardPlace};
use crate::Result;
use crate::shards::formats::encoder::{Encoder, ShardRecord, ShardRecords};
use crate::write::background::{Background, InOrder, Sequence};

/// Cuts records into blocks and shards. Blocks are encoded in the background, and written in order.
///
/// A shard ends with the record that reaches its size, a block with the one that reaches the size
/// of blocks. So both depend on the records alone.
pub struct ShardWriter<'a, E: Encoder> {
    encoder: &'a E,
    place: &'a ShardPlace<'a>,
    files: Arc<Sequence<ShardFiles<'a, E>>>,
    /// The number of the first document that is in no complete shard.
    pub next: u32,
    /// The shard of the next record.
    counts: ShardCounts,
    /// The block of the next record, and its bytes.
    block: Vec<BlockPart<E::Content>>,
    block_bytes: u64,
}

/// Records of a chunk that are in one block.
struct BlockPart<C> {
    content: Arc<C>,
    rows: Range<usize>,
    bytes: Range<usize>,
}

/// Writes encoded blocks to shards.
pub struct ShardFiles<'a, E: Encoder> {
    encoder: &'a E,
    place: &'a ShardPlace<'a>,
    /// The complete shards, those of an interrupted run too.
    shards: Vec<ShardCounts>,
    /// The shard that is being written.
    file: Option<E::File>,
}

impl<'a, E: Encoder> ShardWriter<'a, E> {
    /// Continues after the complete shards in `place`.
    ///
    /// # Errors
    /// Errors of [`ShardPlace::complete`].
    pub fn new(encoder: &'a E, place: &'a ShardPlace<'a>) -> Result<ShardWriter<'a, E>> {
        let shards = place.complete()?;
        Ok(ShardWriter {
            encoder,
            place,
            next: shards.last().map_or(0, |shard| shard.next),
            files: Sequence::new(ShardFiles {
                encoder,
                place,
                shards,
                file: None,
            }),
            counts: ShardCounts::default(),
            block: Vec::new(),
            block_bytes: 0,
        })
    }

    /// Appends the records of a chunk.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn add<'scope>(
        &mut self,
        records: ShardRecords<E::Content>,
        background: &Background<'_, 'scope>,
    ) -> Result<()>
    where
        'a: 'scope,
    {
        let content = Arc::new(records.content);
        let (mut rows, mut bytes) = (0..0, 0..0);
        for (row, record) in records.each.into_iter().enumerate() {
            let ShardRecord {
                number,
                bytes: more,
                has_own_source,
            } = record;
            rows.end = row + 1;
            bytes.end += more as usize;
            self.block_bytes += more;
            self.counts.records += 1;
            self.counts.bytes += more;
            self.counts.own_source += u64::from(has_own_source);
            self.counts.next = number.saturating_add(1);
            let ends_shard = self.counts.bytes >= self.place.settings.bytes;
            if ends_shard || self.block_bytes >= E::BLOCK_BYTES {
                self.append(&content, rows.clone(), bytes.clone());
                (rows.start, bytes.start) = (rows.end, bytes.end);
                self.end_block(ends_shard, background)?;
            }
        }
        if !rows.is_empty() {
            self.append(&content, rows, bytes);
        }
        Ok(())
    }

    fn append(&mut self, content: &Arc<E::Content>, rows: Range<usize>, bytes: Range<usize>) {
        let content = Arc::clone(content);
        self.block.push(BlockPart {
            content,
            rows,
            bytes,
        });
    }

    /// Ends the last shard.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn end<'scope>(&mut self, background: &Background<'_, 'scope>) -> Result<()>
    where
        'a: 'scope,
    {
        match self.counts.records {
            0 => Ok(()),
            _ => self.end_block(true, background),
        }
    }

    /// The counts of all shards, when all blocks are written. Without documents, there is one without
    /// records, if the format has such files.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn finish(self) -> Result<Vec<ShardCounts>> {
        let Some(mut files) = self.files.take() else {
            return Ok(Vec::new());
        };
        if files.shards.is_empty() && E::HAS_EMPTY_FILES {
            let file = files.open()?;
            files.publish(file, ShardCounts::default())?;
        }
        Ok(files.shards)
    }

    fn end_block<'scope>(
        &mut self,
        ends_shard: bool,
        background: &Background<'_, 'scope>,
    ) -> Result<()>
    where
        'a: 'scope,
    {
        let ended = ends_shard.then(|| std::mem::take(&mut self.counts));
        let parts = std::mem::take(&mut self.block);
        let bytes = std::mem::take(&mut self.block_bytes);
        let encoder = self.encoder;
        background.append(&self.files, bytes, move || {
            let mut block = encoder.block();
            for part in parts {
                encoder.append(&mut block, &part.content, part.rows, part.bytes);
            }
            Ok((encoder.encode(block)?, ended))
        })
    }
}

/// An encoded block, with the counts of the shard that it ends.
impl<E: Encoder> InOrder for ShardFiles<'_, E> {
    type Item = (E::Encoded, Option<ShardCounts>);

    fn write(mut self, (encoded, ended): Self::Item) -> Result<Option<Self>> {
        let mut file = match self.file.take() {
            Some(file) => file,
            None => self.open()?,
        };
        self.encoder.write(&mut file, encoded)?;
        match ended {
            Some(counts) => self.publish(file, counts)?,
            None => self.file = Some(file),
        }
        Ok(Some(self))
    }
}

impl<E: Encoder> ShardFiles<'_, E> {
    fn open(&self) -> Result<E::File> {
        let number = self.shards.len() as u32;
        self.encoder.open(self.place.create(number)?)
    }

    fn publish(&mut self, file: E::File, counts: ShardCounts) -> Result<()> {
        let file = self.encoder.close(file)?;
        let number = self.shards.len() as u32;
        self.place.publish(number, &counts, file)?;
        self.shards.push(counts);
        Ok(())
    }
}
