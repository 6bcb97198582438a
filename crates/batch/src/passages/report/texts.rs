//! Texts that reports show, which are read again: passages, and documents with removed ones.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::passages::decisions::decided::misplaced;
use crate::passages::decisions::repeated::Repeated;
use crate::passages::first_reading::documents::PassageTable;
use crate::{Error, Result};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use simtool_corpus::{Compression, Format, Place, Reading, Source};
use simtool_engine::Progress;
use simtool_engine::documents::source_of;
use simtool_engine::item_text::item_text;
use simtool_engine::places::documents_at;

/// The longest text of a passage that is written whole, in bytes.
const MOST_TEXT_BYTES: usize = 4 << 10;

/// Longer documents are read by one thread at a time.
const LONG_BYTES: u64 = 1 << 20;
/// Documents of a file that a thread reads at a time.
const TASK: usize = 32;

/// The text of a passage.
#[derive(Clone, Debug, Default)]
pub struct PassageText {
    /// Its first bytes, whole characters.
    pub text: Vec<u8>,
    /// Whether these are not all.
    pub is_shortened: bool,
    /// Its hash.
    pub hash: u128,
}

/// Documents of a run, read again.
pub struct Texts<'a> {
    /// How documents are read.
    pub reading: &'a Reading,
    /// How documents to compare with are read.
    pub reference_reading: &'a Reading,
    /// How many of the sources are compared with.
    pub references: usize,
    /// All sources.
    pub sources: &'a [Source],
    /// All documents.
    pub table: &'a PassageTable,
    /// Stops the run.
    pub progress: &'a Progress,
}

impl Texts<'_> {
    /// The texts of the first occurrences of `passages`, in the same order, with their hashes, which
    /// functions that `hash_of` makes give.
    ///
    /// Reads each file from the start of the compressed member, or near the document. Uses the
    /// current rayon pool.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] if a text is not where it was; those of reading.
    pub fn of_passages<H: FnMut(&[u8]) -> Option<u128>>(
        &self,
        passages: &[Repeated],
        hash_of: impl Fn() -> H + Sync,
    ) -> Result<Vec<PassageText>> {
        let numbers: Vec<u32> = passages.iter().map(|passage| passage.document).collect();
        self.read(&numbers, hash_of, |hash_of, index, text| {
            let passage = &passages[index];
            let start = passage.start as usize;
            let text = text.get(start..start + passage.length as usize)?;
            let shown = beginning(text);
            Some(PassageText {
                text: shown.to_vec(),
                is_shortened: shown.len() < text.len(),
                hash: hash_of(text)?,
            })
        })
    }

    /// The first `most` bytes, rounded down to whole characters, of the texts of documents.
    ///
    /// # Errors
    /// As [`of_passages`](Self::of_passages).
    pub fn of_documents(&self, numbers: &[u32], most: usize) -> Result<Vec<Vec<u8>>> {
        let places: Vec<_> = numbers
            .iter()
            .map(|number| (*number, 0..usize::MAX))
            .collect();
        self.parts(&places, most)
    }

    /// At most `most` bytes, rounded down to whole characters, of the texts of documents from some
    /// places on: for each the document, the place and the end of what is needed.
    ///
    /// # Errors
    /// As [`of_passages`](Self::of_passages).
    pub fn parts(&self, places: &[(u32, Range<usize>)], most: usize) -> Result<Vec<Vec<u8>>> {
        let numbers: Vec<u32> = places.iter().map(|(number, _)| *number).collect();
        self.read(
            &numbers,
            || (),
            |(), index, text| {
                let (_, part) = &places[index];
                let text = text.get(part.start..part.end.min(text.len()))?;
                Some(whole_characters(text, most).to_vec())
            },
        )
    }

    /// What `make` makes of the texts of documents, in the order of `numbers`; it gets a state of
    /// `start`, and the index of the document there. Each compressed file is read by one thread.
    fn read<S, T: Send>(
        &self,
        numbers: &[u32],
        start: impl Fn() -> S + Sync,
        make: impl Fn(&mut S, usize, &[u8]) -> Option<T> + Sync,
    ) -> Result<Vec<T>> {
        let mut wanted: BTreeMap<u32, Vec<(Place, usize)>> = BTreeMap::new();
        for (index, number) in numbers.iter().enumerate() {
            let place = self.table.rows.get((*number).into())?.place;
            wanted.entry(place.source).or_default().push((place, index));
        }
        let mut tasks: Vec<&[(Place, usize)]> = Vec::new();
        for (source, wanted) in &mut wanted {
            wanted.sort_by_key(|(place, index)| (place.member, place.offset, *index));
            let size = match source_of(self.sources, *source)?.compression {
                Compression::None => TASK,
                Compression::Gzip | Compression::Zstd => wanted.len(),
            };
            tasks.extend(wanted.chunks(size));
        }
        let giants = Mutex::new(());
        let read = |state: &mut S, task: &[(Place, usize)]| -> Result<Vec<(usize, Option<T>)>> {
            // The memory is for one long document. The length of a row is not known.
            let is_long = |(place, _): &(Place, usize)| {
                let source = self.sources.get(place.source as usize);
                place.length > LONG_BYTES
                    || source.is_none_or(|source| source.format == Format::Parquet)
            };
            let long = task.iter().any(is_long);
            let _permit = long.then(|| giants.lock().unwrap_or_else(PoisonError::into_inner));
            let places: Vec<Place> = task.iter().map(|(place, _)| *place).collect();
            let number = places.first().map_or(0, |place| place.source);
            let reading = match (number as usize) < self.references {
                true => self.reference_reading,
                false => self.reading,
            };
            let (source, mut buffer) = (source_of(self.sources, number)?, Vec::new());
            let mut made = Vec::with_capacity(task.len());
            documents_at(source, reading, &places, self.progress, |at, document| {
                let index = task[at].1;
                made.push((index, make(state, index, item_text(document, &mut buffer))));
            })?;
            Ok(made)
        };
        let made = tasks
            .par_iter()
            .map_init(&start, |state, task| read(state, task));
        let mut all: Vec<Option<T>> = numbers.iter().map(|_| None).collect();
        for (index, text) in made.collect::<Result<Vec<_>>>()?.into_iter().flatten() {
            all[index] = text;
        }
        let missing = |number: &u32| self.misplaced(*number).unwrap_or_else(|error| error);
        let found = all.into_iter().zip(numbers);
        found
            .map(|(text, number)| text.ok_or_else(|| missing(number)))
            .collect()
    }

    fn misplaced(&self, number: u32) -> Result<Error> {
        let place = self.table.rows.get(number.into())?.place;
        Ok(misplaced(&source_of(self.sources, place.source)?.path))
    }
}

fn beginning(text: &[u8]) -> &[u8] {
    whole_characters(text, MOST_TEXT_BYTES)
}

/// At most `most` bytes of a text, without cutting a character.
fn whole_characters(text: &[u8], most: usize) -> &[u8] {
    if text.len() <= most {
        return text;
    }
    let is_continued = |byte: &u8| byte & 0xc0 == 0x80;
    let inside: Range<usize> = most.saturating_sub(3)..most + 1;
    let border = inside.rev().find(|&place| !is_continued(&text[place]));
    &text[..border.unwrap_or(most)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_not_cut() {
        let text = "aé中😀".as_bytes();
        let lengths: Vec<usize> = (0..=text.len())
            .map(|most| whole_characters(text, most).len())
            .collect();
        assert_eq!(lengths, [0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10]);
        assert_eq!(whole_characters(&[0x80; 9], 5).len(), 5);
    }
}
