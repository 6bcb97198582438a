//! The reading of the reference.

use super::items::{Item, Items};
use super::job::DecontaminateJob;
use super::memory::{Limit, check};
use crate::Result;
use crate::passages::first_reading::documents::ChunkRows;
use crate::passages::first_reading::reading::{Collection, FirstReading};
use crate::skeleton::context::RunContext;
use crate::skeleton::reading_memory::readers_within;
use crate::table::segment::ChunkPlace;
use simtool_core::kernel::Level;
use simtool_core::sketch::Needs;
use simtool_core::text::{Tokenizer, has_unspaced_scripts};
use simtool_corpus::web::html::DecodedText;
use simtool_engine::documents::ChunkDocuments;
use simtool_engine::item_text::item_text;
use simtool_engine::text_words::WordReader;

/// Reads the words of an item; one for each thread.
pub struct ItemReader {
    words: WordReader,
    tokenizer: Tokenizer,
    ranges: Vec<simtool_core::text::WordRange>,
    buffer: Vec<u8>,
    decoded: DecodedText,
    /// The number of the field with the answer.
    answer: Option<usize>,
}

/// Reads all reference items, and stores their rows unless they are stored. The rest is read by as many
/// threads as the memory that they leave permits.
///
/// # Errors
/// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if the index would not fit into the memory; those
/// of reading and writing; interruption.
pub fn read<'a>(
    job: &DecontaminateJob,
    run: RunContext<'a>,
    mut reading: FirstReading<'a>,
) -> Result<(Items, FirstReading<'a>)> {
    let limit = Limit::new(job, run.resources);
    let start = || ItemReader::new(job, run.resources.level);
    let (mut words, mut count) = (0u64, 0u64);
    let mut items = Items {
        answer_words: job.least.0,
        ..Items::default()
    };
    let mut chunks = Vec::new();
    let mut collect = |place, (documents, chunk): (u32, Items)| {
        words += (chunk.words.len() + chunk.answers.len()) as u64;
        count += chunk.items.len() as u64;
        match limit.fits(words, count) {
            true => chunks.push((place, documents, chunk)),
            // They are only counted, for the message.
            false => chunks = Vec::new(),
        }
        Ok(())
    };
    match reading.has_references() {
        false => reading.read(
            Collection::References,
            &start,
            &ItemReader::chunk,
            &mut collect,
            None,
        )?,
        true => run.reference_pipeline().run_documents(
            &run.reference_units(),
            start,
            |reader, documents| {
                let place = ChunkPlace::of(documents.chunk);
                Ok((place, reader.chunk(documents)?.1))
            },
            |_, (place, found)| collect(place, found),
        )?,
    }
    check(&limit, words, count)?;
    run.progress.check()?;
    chunks.sort_unstable_by_key(|(place, ..)| *place);
    let mut first = 0;
    for (_, documents, chunk) in chunks {
        items.append(first, &chunk);
        first += documents;
    }
    items.words.shrink_to_fit();
    items.ranges.shrink_to_fit();
    let readers = readers_within(
        (run.resources.memory_bytes).saturating_sub(limit.needed(words, count)),
        run.resources.threads,
        job.common.reading.max_document_bytes,
    );
    Ok((items, reading.with_readers(readers)))
}

impl ItemReader {
    /// A reader of the items of a job.
    pub fn new(job: &DecontaminateJob, level: Level) -> ItemReader {
        let fields = job.reference_reading.fields.len();
        ItemReader {
            words: WordReader::new(job.tokenizer, Needs::HASHES, level),
            tokenizer: Tokenizer::new(job.tokenizer, level),
            ranges: Vec::new(),
            buffer: Vec::new(),
            decoded: DecodedText::default(),
            answer: fields.checked_sub(1).filter(|_| job.has_answers),
        }
    }

    /// The rows of a chunk; their number, and the items.
    ///
    /// # Errors
    /// None that depends on the documents.
    pub fn chunk(&mut self, documents: ChunkDocuments<'_>) -> Result<(ChunkRows, (u32, Items))> {
        let mut items = Items::default();
        let rows = ChunkRows::read(documents, |_, document, number, row| {
            let mut own = *document;
            if let Some(answer) = self.answer
                && let Some(answer) = own.fields.get_mut(answer).and_then(Option::take)
            {
                self.decoded.read(answer.text);
                let words = self.words.read(self.decoded.text(answer.text));
                items.answers.extend_from_slice(words.hashes());
            }
            if self.answer.is_some() {
                items.answer_ends.push(items.answers.len() as u32);
            }
            let text = item_text(&own, &mut self.buffer);
            self.decoded.read(text);
            let decoded = self.decoded.text(text);
            let words = self.words.read(decoded);
            let hashes = words.hashes();
            self.tokenizer.word_ranges(decoded, &mut self.ranges);
            self.decoded.place(&mut self.ranges);
            items.items.push(Item {
                document: number,
                first: items.words.len() as u32,
                has_unspaced_scripts: has_unspaced_scripts(decoded),
            });
            items.words.extend_from_slice(hashes);
            items.ranges.extend_from_slice(&self.ranges);
            row.units = u32::try_from(hashes.len()).unwrap_or(u32::MAX);
            row.unit_bytes = text.trim_ascii().len() as u64;
            Ok(())
        })?;
        let documents = rows.documents();
        Ok((rows, (documents, items)))
    }
}
