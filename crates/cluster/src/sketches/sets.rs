//! Sets of shingles, from the second reading of texts.

use arrow_array::RecordBatch;
use simtool_core::Result;
use simtool_core::kernel::Level;
use simtool_core::sketch::{Needs, digest};
use simtool_corpus::RawText;
use simtool_engine::text_words::WordReader;

use super::sketch::MAX_TEXT_BYTES;
use crate::columns::{Columns, bytes, column};
use crate::groups::Groups;
use crate::numbers::to_bytes;
use crate::settings::Settings;
use crate::step::Step;

/// The step `sets`: keys and texts, and the columns of groups, to keys, digests of words, and sets of
/// shingles.
pub struct SetReader {
    width: usize,
    most: u64,
    words: WordReader,
    texts: RawText,
    groups: Option<Groups>,
    made: Option<RecordBatch>,
}

impl SetReader {
    /// The step.
    ///
    /// # Errors
    /// Errors of the settings.
    pub fn new(settings: Settings) -> Result<SetReader> {
        Ok(SetReader {
            width: settings.verification()?.shingle,
            most: settings.max_document.unwrap_or(MAX_TEXT_BYTES),
            words: WordReader::new(settings.tokenizer()?, Needs::HASHES, Level::best()),
            texts: RawText::new(settings.html.unwrap_or_default()),
            groups: Groups::new(&settings)?,
            made: None,
        })
    }
}

impl Step for SetReader {
    fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let texts = bytes(batch, "text")?;
        let columns = self.groups.as_ref().map(|groups| groups.columns(batch));
        let mut masked = Vec::new();
        let (mut digests, mut sets) = (Vec::new(), Vec::new());
        for row in 0..batch.num_rows() {
            let text = texts.get(row).map(|text| self.texts.of_string(text));
            let text = text.filter(|text| text.len() as u64 <= self.most);
            let text = text.unwrap_or_default();
            let mask = match (&self.groups, &columns) {
                (Some(groups), Some(columns)) => groups.mask(columns, row, text),
                _ => 0,
            };
            let mut words = self.words.read(text);
            let of_words = digest::of_words(words.hashes()) ^ u128::from(mask);
            digests.push(Some(of_words.to_be_bytes().to_vec()));
            let set = words.shingle_set(self.width);
            sets.push(Some(match mask {
                0 => to_bytes(set.iter().copied()),
                mask => {
                    masked.clear();
                    masked.extend(set.iter().map(|hash| hash ^ mask));
                    masked.sort_unstable();
                    to_bytes(masked.iter().copied())
                }
            }));
        }
        let batch = Columns::default()
            .same("key", column(batch, "key")?)
            .bytes("digest_now", &digests)
            .bytes("set", &sets)
            .batch()?;
        self.made = Some(batch);
        Ok(())
    }

    fn take(&mut self) -> Result<Option<RecordBatch>> {
        Ok(self.made.take())
    }
}
