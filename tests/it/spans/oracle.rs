//! The definition: all stretches are compared with each other.

use std::collections::HashMap;
use std::ops::Range;

use simtool::jobs::passages::KeptOccurrence;
use simtool::jobs::passages::spans::{Least, SpansJob};
use simtool::kernel::Level;
use simtool::text::units::Snap;
use simtool::text::{Choice, Tokenizer};

/// A unit and its bytes.
type Unit = (Vec<u8>, Range<usize>);

/// What the definition says of some documents.
pub struct Definition {
    /// The units of each document.
    pub units: Vec<Vec<Unit>>,
    /// The places of each stretch of the least length.
    places: HashMap<Vec<Vec<u8>>, Vec<(usize, usize)>>,
    least: usize,
}

impl Definition {
    pub fn new(job: &SpansJob, texts: &[&str]) -> Definition {
        let mut definition = Definition::units_of(job, texts);
        for (number, units) in definition.units.iter().enumerate() {
            for (start, window) in units.windows(definition.least).enumerate() {
                let key = window.iter().map(|(unit, _)| unit.clone()).collect();
                let places = definition.places.entry(key).or_default();
                places.push((number, start));
            }
        }
        definition
    }

    /// Only the units.
    pub fn units_of(job: &SpansJob, texts: &[&str]) -> Definition {
        Definition {
            units: texts.iter().map(|text| units(job, text)).collect(),
            places: HashMap::new(),
            least: job.least.units(),
        }
    }

    /// The places of the stretch of the least length at a place.
    pub fn places(&self, document: usize, start: usize) -> &[(usize, usize)] {
        let window = &self.units[document][start..start + self.least];
        let key: Vec<Vec<u8>> = window.iter().map(|(unit, _)| unit.clone()).collect();
        &self.places[&key]
    }

    /// Whether the stretch of the least length at a place is repeated.
    pub fn is_repeated(&self, keep: KeptOccurrence, document: usize, start: usize) -> bool {
        let places = self.places(document, start);
        match keep {
            KeptOccurrence::First => places[0] != (document, start),
            KeptOccurrence::None => places.len() > 1,
        }
    }

    /// The ranges of repeated units of a document.
    pub fn ranges(&self, keep: KeptOccurrence, document: usize) -> Vec<Range<usize>> {
        let windows = (self.units[document].len() + 1).saturating_sub(self.least);
        let starts = (0..windows).map(|start| self.is_repeated(keep, document, start));
        self.ranges_of(document, &starts.collect::<Vec<_>>())
    }

    /// The ranges of the units in the stretches that begin at the `starts`.
    fn ranges_of(&self, document: usize, starts: &[bool]) -> Vec<Range<usize>> {
        let mut repeated = vec![false; self.units[document].len()];
        // Where stretches end, counted from their beginnings.
        let mut left = 0;
        for (place, is_repeated) in repeated.iter_mut().enumerate() {
            if starts.get(place) == Some(&true) {
                left = self.least;
            }
            *is_repeated = left > 0;
            left = left.saturating_sub(1);
        }
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for (unit, _) in repeated.iter().enumerate().filter(|(_, is)| **is) {
            match ranges.last_mut() {
                Some(last) if last.end == unit => last.end += 1,
                _ => ranges.push(unit..unit + 1),
            }
        }
        ranges
    }

    /// The removed bytes of a document.
    pub fn removed(&self, job: &SpansJob, text: &str, document: usize) -> Vec<Range<usize>> {
        let windows = (self.units[document].len() + 1).saturating_sub(self.least);
        let starts = (0..windows).map(|start| self.is_repeated(job.keep, document, start));
        self.bytes_of(job, text, document, &starts.collect::<Vec<_>>())
    }

    /// The removed bytes of a document of which the stretches at the `starts` are repeated.
    pub fn bytes_of(
        &self,
        job: &SpansJob,
        text: &str,
        document: usize,
        starts: &[bool],
    ) -> Vec<Range<usize>> {
        let units = &self.units[document];
        let is_words = matches!(job.least, Least::Words(_));
        let extends = matches!(job.snap, Snap::Sentence | Snap::Line);
        let mut bytes: Vec<Range<usize>> = Vec::new();
        for range in self.ranges_of(document, starts) {
            let mut own = units[range.start].1.start..units[range.end - 1].1.end;
            if is_words && range.start == 0 {
                own.start = 0;
            } else if is_words && extends {
                own.start = own.start.min(units[range.start - 1].1.end);
            }
            if is_words && range.end == units.len() {
                own.end = text.len();
            } else if is_words && extends {
                own.end = own.end.max(units[range.end].1.start);
            }
            bytes.push(own);
        }
        job.snap.shrink(text.as_bytes(), &mut bytes);
        // Sentences without a word are not repeated.
        let has_word = |range: &Range<usize>| {
            let mut own = units.iter().map(|(_, bytes)| bytes);
            own.any(|bytes| bytes.start >= range.start && bytes.end <= range.end)
        };
        bytes.retain(|range| !range.is_empty() && (!is_words || has_word(range)));
        bytes
    }
}

fn units(job: &SpansJob, text: &str) -> Vec<Unit> {
    if let Least::Bytes(_) = job.least {
        let bytes = text.bytes().enumerate();
        return bytes
            .map(|(place, byte)| (vec![byte], place..place + 1))
            .collect();
    }
    if job.tokenizer == Choice::Ascii {
        let mut found: Vec<Unit> = Vec::new();
        let letters = text
            .bytes()
            .enumerate()
            .filter(|(_, byte)| byte.is_ascii_alphabetic());
        for (place, byte) in letters {
            match found.last_mut() {
                Some((word, range)) if range.end == place => {
                    word.push(byte.to_ascii_lowercase());
                    range.end += 1;
                }
                _ => found.push((vec![byte.to_ascii_lowercase()], place..place + 1)),
            }
        }
        return found;
    }
    let mut tokenizer = Tokenizer::new(job.tokenizer, Level::best());
    let (mut words, mut ranges) = (Vec::new(), Vec::new());
    tokenizer.for_each_word(text.as_bytes(), &mut |word| words.push(word.to_vec()));
    tokenizer.word_ranges(text.as_bytes(), &mut ranges);
    let ranges = ranges
        .iter()
        .map(|range| range.start as usize..range.end as usize);
    words.into_iter().zip(ranges).collect()
}
