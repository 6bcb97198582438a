//! What the formats of shards have in common.

use std::ops::Range;

use crate::Result;
use simtool_corpus::{Document, Source};
use simtool_files::AtomicFile;

/// The documents of a chunk as records.
pub struct ShardRecords<C> {
    /// The records.
    pub content: C,
    /// The document of each, and its bytes before compression.
    pub each: Vec<ShardRecord>,
}

/// A record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardRecord {
    /// The number of its document.
    pub number: u32,
    /// Its bytes before compression.
    pub bytes: u64,
    /// Whether it has a field of its own with the name of the source field.
    pub has_own_source: bool,
}

/// A document with what it is called in reports.
pub struct ShardDocument<'a> {
    /// The number of the document.
    pub number: u32,
    /// Its source.
    pub source: &'a Source,
    /// The document, with its new text if it gets one.
    pub document: &'a Document<'a>,
    /// Whether the text is new. Then the raw record has the earlier one.
    pub has_new_text: bool,
}

/// Rows of a table, with all columns.
#[cfg(feature = "parquet")]
pub struct SelectedRows<'a> {
    /// The table.
    pub source: &'a Source,
    /// The rows, with their new texts.
    pub batch: arrow_array::RecordBatch,
    /// The numbers of their documents.
    pub numbers: Vec<u32>,
    /// The numbers of the rows in the file.
    pub rows: Vec<u64>,
}

/// A format of shards.
///
/// Workers make [`ShardRecords`] of chunks. The collector finds the borders of blocks, which depend on
/// the sequence of records alone; blocks are encoded in parallel and written in order.
pub trait Encoder: Sync {
    /// Records of a chunk.
    type Content: Send + Sync;
    /// Collects the records of a chunk.
    type Builder;
    /// Records that are encoded together.
    type Block;
    /// An encoded block.
    type Encoded: Send;
    /// A shard that is being written.
    type File: Send;

    /// The bytes of a block before encoding: it ends with the record that reaches them.
    const BLOCK_BYTES: u64;

    /// Whether other programs read files without records.
    const HAS_EMPTY_FILES: bool;

    /// Starts the records of a chunk.
    fn builder(&self) -> Self::Builder;

    /// Adds a document as a record.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`](crate::ErrorKind::Changed) if the document is not as it was.
    fn add(&self, builder: &mut Self::Builder, named: &ShardDocument<'_>) -> Result<ShardRecord>;

    /// The records that were added.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write) if the format cannot hold them.
    fn finish(&self, builder: Self::Builder) -> Result<Self::Content>;

    /// The rows of a table as records, with all columns.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write) if the format cannot hold them.
    #[cfg(feature = "parquet")]
    fn rows(&self, selected: &SelectedRows<'_>) -> Result<ShardRecords<Self::Content>>;

    /// An empty block.
    fn block(&self) -> Self::Block;

    /// Appends the records `rows` of a chunk, which are its bytes `bytes`.
    fn append(
        &self,
        block: &mut Self::Block,
        content: &Self::Content,
        rows: Range<usize>,
        bytes: Range<usize>,
    );

    /// Encodes a block.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    fn encode(&self, block: Self::Block) -> Result<Self::Encoded>;

    /// Starts a shard.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    fn open(&self, file: AtomicFile) -> Result<Self::File>;

    /// Writes an encoded block.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    fn write(&self, file: &mut Self::File, encoded: Self::Encoded) -> Result<()>;

    /// Ends a shard, which has to be published then.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    fn close(&self, file: Self::File) -> Result<AtomicFile>;
}
