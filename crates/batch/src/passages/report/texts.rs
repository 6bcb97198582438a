//! Texts that reports show, which are read again: passages, and documents with removed ones.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::passages::decisions::decided::misplaced;
use crate::passages::decisions::repeated::Repeated;
use crate::passages::first_reading::documents::PassageTable;
use crate::{Error, Result};
use simtool_corpus::{Place, Reading, Source};
use simtool_engine::Progress;
use simtool_engine::documents::source_of;
use simtool_engine::item_text::item_text;
use simtool_engine::places::documents_at;

/// The longest text of a passage that is written whole, in bytes.
const MOST_TEXT_BYTES: usize = 4 << 10;

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
    /// The texts of the first occurrences of `passages`, in the same order, with their hashes.
    ///
    /// Reads each file from the start of the compressed member, or near the document.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] if a text is not where it was; those of reading.
    pub fn of_passages(
        &self,
        passages: &[Repeated],
        mut hash_of: impl FnMut(&[u8]) -> Option<u128>,
    ) -> Result<Vec<PassageText>> {
        let mut texts: Vec<Option<PassageText>> = passages.iter().map(|_| None).collect();
        let numbers: Vec<u32> = passages.iter().map(|passage| passage.document).collect();
        self.for_each(&numbers, |place, text| {
            let passage = &passages[place];
            let start = passage.start as usize;
            let text = text.get(start..start + passage.length as usize);
            texts[place] = text.and_then(|text| {
                let shown = beginning(text);
                Some(PassageText {
                    text: shown.to_vec(),
                    is_shortened: shown.len() < text.len(),
                    hash: hash_of(text)?,
                })
            });
        })?;
        let mut all = Vec::with_capacity(passages.len());
        for (text, number) in texts.into_iter().zip(&numbers) {
            all.push(match text {
                Some(text) => text,
                None => return Err(self.misplaced(*number)?),
            });
        }
        Ok(all)
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
        let mut texts: Vec<Option<Vec<u8>>> = places.iter().map(|_| None).collect();
        self.for_each(&numbers, |place, text| {
            let (_, part) = &places[place];
            let text = text.get(part.start..part.end.min(text.len()));
            texts[place] = text.map(|text| whole_characters(text, most).to_vec());
        })?;
        let mut all = Vec::with_capacity(places.len());
        for (text, number) in texts.into_iter().zip(&numbers) {
            all.push(match text {
                Some(text) => text,
                None => return Err(self.misplaced(*number)?),
            });
        }
        Ok(all)
    }

    /// Passes the texts of documents to `visit`, with the index of each in `numbers`.
    fn for_each(&self, numbers: &[u32], mut visit: impl FnMut(usize, &[u8])) -> Result<()> {
        let mut wanted: BTreeMap<u32, Vec<(Place, usize)>> = BTreeMap::new();
        for (index, number) in numbers.iter().enumerate() {
            let place = self.table.rows.get((*number).into())?.place;
            wanted.entry(place.source).or_default().push((place, index));
        }
        let mut buffer = Vec::new();
        for (source, mut wanted) in wanted {
            let reading = match (source as usize) < self.references {
                true => self.reference_reading,
                false => self.reading,
            };
            wanted.sort_by_key(|(place, index)| (place.member, place.offset, *index));
            let places: Vec<Place> = wanted.iter().map(|(place, _)| *place).collect();
            let source = source_of(self.sources, source)?;
            documents_at(source, reading, &places, self.progress, |at, document| {
                visit(wanted[at].1, item_text(document, &mut buffer));
            })?;
        }
        Ok(())
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
