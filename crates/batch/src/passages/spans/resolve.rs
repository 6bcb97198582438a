//! The last reading: ranges of units become ranges of bytes, at whole words, sentences or lines.

use std::ops::Range;

use super::job::{Least, SpansJob};
use super::records::{ByteRange, KeptBytes, KeptUnits, UnitRange};
use crate::passages::decisions::ranges::RangesOfDocuments;
use crate::skeleton::context::RunContext;
use crate::table::bits::Bits;
use crate::table::chunk_records::ChunkRecords;
use crate::table::numbering::Numbering;
use crate::table::segment::ChunkPlace;
use crate::{Error, ErrorKind, Result};
use simtool_core::text::units::{Snap, whole_characters};
use simtool_core::text::{Tokenizer, WordRange};
use simtool_engine::documents::ChunkDocuments;
use simtool_files::{RecordFile, Sorter};

/// The ranges of units whose bytes are looked up.
pub struct WantedRanges<'a> {
    /// Removed ranges.
    pub ranges: &'a RecordFile<UnitRange>,
    /// Kept units.
    pub kept: &'a RecordFile<KeptUnits>,
}

/// Where the results go.
pub struct Resolved<'a> {
    /// The removed ranges in bytes.
    pub ranges: &'a mut ChunkRecords<ByteRange>,
    /// The kept units in bytes.
    pub kept: &'a mut Sorter<KeptBytes>,
    /// The documents of which only white space remains.
    pub gone: &'a mut Bits,
}

/// What was found in a chunk.
#[derive(Default)]
struct ChunkRanges {
    ranges: Vec<ByteRange>,
    kept: Vec<KeptBytes>,
    gone: Vec<u32>,
}

/// Reads the documents with wanted units.
///
/// # Errors
/// [`ErrorKind::Changed`] if a source is not as it was; those of reading and writing;
/// [`ErrorKind::Interrupted`].
pub fn resolve(
    job: &SpansJob,
    run: RunContext<'_>,
    numbering: &Numbering<'_>,
    wanted: &WantedRanges<'_>,
    resolved: Resolved<'_>,
) -> Result<()> {
    let work = |reader: &mut DocumentResolver<'_>, documents: ChunkDocuments<'_>| {
        let chunk = documents.chunk;
        let numbers = numbering.numbers_of(chunk, documents.source)?;
        let first = numbers.start;
        let own = RangesOfDocuments::read(wanted.ranges, numbers.clone())?;
        let kept = RangesOfDocuments::read(wanted.kept, numbers)?;
        let of = |ordinal: u32| {
            let number = first.saturating_add(ordinal);
            (number, own.of(number), kept.of(number))
        };
        let is_wanted = |ordinal| {
            let (_, own, kept) = of(ordinal);
            !own.is_empty() || !kept.is_empty()
        };
        let mut found = ChunkRanges::default();
        documents.for_each_wanted(is_wanted, |ordinal, document| {
            let Ok(document) = document else {
                return Ok(());
            };
            let (number, own, kept) = of(ordinal);
            reader.document(document.text, number, own, kept, &mut found)
        })?;
        Ok((ChunkPlace::of(chunk), found))
    };
    let Resolved { ranges, kept, gone } = resolved;
    let mut count = 0;
    let pipeline = run.pipeline();
    pipeline.run_documents(
        &pipeline.units(),
        || DocumentResolver::new(job, run),
        work,
        |_, (place, found): (ChunkPlace, ChunkRanges)| {
            count += found.ranges.len() as u64;
            ranges.add(place, &found.ranges)?;
            found.gone.iter().for_each(|number| gone.insert(*number));
            found
                .kept
                .into_iter()
                .try_for_each(|place| kept.push(place))
        },
    )?;
    match count == wanted.ranges.len() {
        true => Ok(()),
        false => Err(misplaced()),
    }
}

/// Turns units of documents into bytes; one for each thread.
struct DocumentResolver<'a> {
    job: &'a SpansJob,
    tokenizer: Tokenizer,
    words: Vec<WordRange>,
    ranges: Vec<Range<usize>>,
}

impl DocumentResolver<'_> {
    fn new<'a>(job: &'a SpansJob, run: RunContext<'_>) -> DocumentResolver<'a> {
        DocumentResolver {
            job,
            tokenizer: Tokenizer::new(job.tokenizer, run.resources.level),
            words: Vec::new(),
            ranges: Vec::new(),
        }
    }

    fn document(
        &mut self,
        text: &[u8],
        number: u32,
        own: &[UnitRange],
        kept: &[KeptUnits],
        found: &mut ChunkRanges,
    ) -> Result<()> {
        self.tokenizer.word_ranges(text, &mut self.words);
        self.ranges.clear();
        for range in own {
            let bytes = self.removed(text, range.start as usize..range.end as usize)?;
            self.ranges.push(bytes);
        }
        self.job.snap.shrink(text, &mut self.ranges);
        let is_by_words = matches!(self.job.least, Least::Words(_));
        for number in 0..self.ranges.len() {
            let words = self.words_in(&self.ranges[number]);
            let range = &mut self.ranges[number];
            // A sentence or a line may have no word, and then it is not repeated.
            if is_by_words && words == 0 {
                range.end = range.start;
            }
            found.ranges.push(ByteRange {
                start: range.start as u32,
                length: range.len() as u32,
                words,
            });
        }
        let mut ranges = self.ranges.iter();
        let mut at = 0;
        let is_blank = |text: &[u8]| text.trim_ascii().is_empty();
        let is_gone = ranges.all(|range| {
            let before = &text[at..range.start.max(at)];
            at = range.end.max(at);
            is_blank(before)
        });
        if !own.is_empty() && is_gone && is_blank(&text[at..]) {
            found.gone.push(number);
        }
        for units in kept {
            let start = units.start as usize;
            let bytes = self.bytes(text, start..start + units.units as usize)?;
            let bytes = whole_characters(text, bytes);
            let [window, units_of] = match self.job.least {
                Least::Words(_) => [units.start, units.units],
                Least::Bytes(_) => [bytes.start as u32, bytes.len() as u32],
            };
            found.kept.push(KeptBytes {
                range: units.range,
                document: number,
                start: bytes.start as u32,
                length: bytes.len() as u32,
                window,
                windows: (units_of + 1).saturating_sub(self.job.least.units() as u32),
            });
        }
        if self.words.capacity() > 1 << 20 {
            self.words = Vec::new();
        }
        Ok(())
    }

    /// The bytes of some units.
    fn bytes(&self, text: &[u8], units: Range<usize>) -> Result<Range<usize>> {
        match self.job.least {
            Least::Bytes(_) if units.end <= text.len() => Ok(units),
            Least::Bytes(_) => Err(misplaced()),
            Least::Words(_) => match self.words.get(units) {
                Some([word]) => Ok(word.start as usize..word.end as usize),
                Some([first, .., last]) => Ok(first.start as usize..last.end as usize),
                _ => Err(misplaced()),
            },
        }
    }

    /// The bytes of removed units before they shrink. What is between words is not compared. At the
    /// beginning and the end of a text, it is removed with the words beside it; if whole sentences or
    /// lines are removed, it may also complete one.
    fn removed(&self, text: &[u8], units: Range<usize>) -> Result<Range<usize>> {
        let bytes = self.bytes(text, units.clone())?;
        if let Least::Bytes(_) = self.job.least {
            return Ok(bytes);
        }
        let extends = matches!(self.job.snap, Snap::Sentence | Snap::Line);
        let before = units
            .start
            .checked_sub(1)
            .and_then(|word| self.words.get(word));
        let start = match before {
            None => 0,
            Some(word) if extends => bytes.start.min(word.end as usize),
            Some(_) => bytes.start,
        };
        let end = match self.words.get(units.end) {
            None => text.len(),
            Some(word) if extends => bytes.end.max(word.start as usize),
            Some(_) => bytes.end,
        };
        Ok(start..end)
    }

    /// The number of words in a range.
    fn words_in(&self, range: &Range<usize>) -> u32 {
        let first = self
            .words
            .partition_point(|word| (word.start as usize) < range.start);
        let after = self
            .words
            .partition_point(|word| word.end as usize <= range.end);
        after.saturating_sub(first) as u32
    }
}

fn misplaced() -> Error {
    let message = "a text changed while it was read (start again with --restart)";
    Error::new(ErrorKind::Changed, message)
}
