//! Sets of shingles, from the second reading of texts.

use arrow_array::RecordBatch;
use simtool::Result;
use simtool::corpus::RawText;
use simtool::engine::text_words::WordReader;
use simtool::kernel::Level;
use simtool::sketch::{Needs, digest};

use super::batch::{Columns, bytes, column, damaged};
use super::groups::Groups;
use super::settings::Settings;
use super::sketch::MOST_TEXT;
use super::stage::Stage;

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
            most: settings.max_document.unwrap_or(MOST_TEXT),
            words: WordReader::new(settings.tokenizer()?, Needs::HASHES, Level::best()),
            texts: RawText::new(settings.html.unwrap_or_default()),
            groups: Groups::new(&settings)?,
            made: None,
        })
    }
}

impl Stage for SetReader {
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
                0 => to_bytes(set),
                mask => {
                    masked.clear();
                    masked.extend(set.iter().map(|hash| hash ^ mask));
                    masked.sort_unstable();
                    to_bytes(&masked)
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

fn to_bytes(set: &[u64]) -> Vec<u8> {
    set.iter().flat_map(|hash| hash.to_le_bytes()).collect()
}

/// Replaces the contents of `set` by the set in `bytes`.
///
/// # Errors
/// [`ErrorKind::Content`](simtool::ErrorKind::Content) if they are not whole numbers.
pub fn read_set(bytes: &[u8], set: &mut Vec<u64>) -> Result<()> {
    let (hashes, rest) = bytes.as_chunks::<8>();
    set.clear();
    set.extend(hashes.iter().map(|hash| u64::from_le_bytes(*hash)));
    match rest {
        [] => Ok(()),
        _ => Err(damaged("a set of shingles is cut off")),
    }
}
