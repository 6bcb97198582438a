//! The bytes that a sample of documents takes in shards, for the plan of a run.

use crate::Result;
use crate::shards::formats::encoder::{Encoder, ShardDocument};
use crate::shards::formats::json_lines::JsonLines;
use crate::shards::settings::shard_settings::{ShardSettings, WriteFormat};
use simtool_corpus::Reading;
use simtool_engine::documents::ChunkDocuments;

/// How the documents of a sample are written as shards.
#[derive(Clone, Copy)]
pub struct ShardForm<'a> {
    /// The format.
    pub settings: &'a ShardSettings,
    /// The level of the compression.
    pub level: Option<u32>,
    /// Whether documents with fields of their own are written by their text.
    pub only_text: bool,
}

impl ShardForm<'_> {
    /// Whether shards are compressed.
    #[cfg(feature = "parquet")]
    pub fn is_compressed(&self) -> bool {
        self.settings.format != WriteFormat::Jsonl
    }

    /// The bytes of the documents of a chunk in shards. The columns of Parquet are about as long as
    /// lines in zstd; of a row, only the text and what is known of it count.
    ///
    /// # Errors
    /// Errors of [`Encoder::add`] and of the compression.
    pub fn bytes(&self, documents: ChunkDocuments<'_>, reading: &Reading) -> Result<u64> {
        let mut settings = self.settings.clone();
        if settings.format == WriteFormat::Parquet {
            settings.format = WriteFormat::JsonlZstd;
        }
        let encoder = JsonLines::new(&settings, self.level, self.only_text, reading);
        let (source, mut lines) = (documents.source, encoder.builder());
        documents.for_each(|found| {
            if let Ok(document) = found {
                let named = ShardDocument {
                    number: 0,
                    source,
                    document: &document,
                    has_new_text: false,
                };
                encoder.add(&mut lines, &named)?;
            }
            Ok(())
        })?;
        Ok(encoder.encode(lines)?.len() as u64)
    }
}
