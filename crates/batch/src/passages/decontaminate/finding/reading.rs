//! The readings of the input: which documents have n-grams of the reference, and where.

use std::ops::Range;

use super::clusters::{Cluster, ClusterFinder, Weights};
use super::counts::ItemCounts;
use super::edited::EditedFinder;
use super::grams::Grams;
use super::stretches::{
    CoveredStretch, count_clusters, find_stretches, join_clusters, merge_edited,
};
use super::tables::ReferenceTables;
use super::widen::Wide;
use crate::Result;
use crate::passages::decisions::decided::Origin;
use crate::passages::decisions::ranges::{RemovedRange, Why};
use crate::passages::decontaminate::index::{Index, NgramHit};
use crate::passages::decontaminate::job::DecontaminateJob;
use crate::passages::first_reading::documents::ChunkRows;
use crate::table::segment::ChunkPlace;
use simtool_core::sketch::Needs;
use simtool_core::text::{Tokenizer, WordRange};
use simtool_corpus::web::html::DecodedText;
use simtool_engine::Resources;
use simtool_engine::documents::ChunkDocuments;
use simtool_engine::text_words::WordReader;

/// Buffers with more entries are freed after the document.
const MOST_KEPT: usize = 1 << 20;

/// What was found in the documents of a chunk.
#[derive(Default)]
pub struct ChunkFound {
    /// The ranges that go, with the numbers of documents in the chunk.
    pub ranges: Vec<RemovedRange>,
    /// For each of them, the longest match with an item.
    pub origins: Vec<Origin>,
    /// The documents of which nothing remains, or too many pieces.
    pub gone: Vec<u32>,
}

/// Finds n-grams in documents; one for each thread.
pub struct Finder<'a> {
    job: &'a DecontaminateJob,
    index: &'a Index,
    grams: &'a Grams,
    words: WordReader,
    tokenizer: Tokenizer,
    /// The current chunk.
    chunk: ChunkPlace,
    counts: ItemCounts,
    clusters: Option<(ClusterFinder, &'a Weights)>,
    found: Vec<Cluster>,
    edited: Option<EditedFinder<'a>>,
    hits: Vec<NgramHit>,
    decoded: DecodedText,
    /// N-grams, each with its first hit; then with that hit's stretch.
    distinct: Vec<(u32, u32)>,
    ranges: Vec<WordRange>,
    stretches: Vec<CoveredStretch>,
    wide: Vec<Wide>,
}

impl<'a> Finder<'a> {
    /// A finder of what `tables` have.
    pub fn new(
        job: &'a DecontaminateJob,
        tables: &'a ReferenceTables,
        grams: &'a Grams,
        resources: &Resources,
    ) -> Finder<'a> {
        let (index, level) = (&tables.index, resources.level);
        Finder {
            job,
            index,
            grams,
            words: WordReader::new(job.tokenizer, Needs::HASHES, level),
            tokenizer: Tokenizer::new(job.tokenizer, level),
            chunk: ChunkPlace::default(),
            counts: grams.counts.take(index.items.items.len()),
            clusters: (job.clusters.zip(tables.weights.as_ref()))
                .map(|(rule, weights)| (ClusterFinder::new(rule, index), weights)),
            found: Vec::new(),
            edited: (job.edited.zip(tables.edited.as_ref()))
                .map(|(rule, tables)| EditedFinder::new(rule, tables, &grams.edited)),
            hits: Vec::new(),
            decoded: DecodedText::default(),
            distinct: Vec::new(),
            ranges: Vec::new(),
            stretches: Vec::new(),
            wide: Vec::new(),
        }
    }

    /// The rows and labels of a chunk; adds what its documents have to `found`.
    ///
    /// # Errors
    /// None that depends on the documents.
    pub fn chunk(
        &mut self,
        documents: ChunkDocuments<'_>,
        found: &mut ChunkFound,
    ) -> Result<ChunkRows> {
        self.begin_chunk(ChunkPlace::of(documents.chunk));
        ChunkRows::read(documents, |_, document, number, row| {
            let (words, has_hits) = self.find(document.text, number, found);
            row.set_hits(has_hits);
            row.units = u32::try_from(words).unwrap_or(u32::MAX);
            row.unit_bytes = document.text.trim_ascii().len() as u64;
            Ok(())
        })
    }

    /// The next documents are those of the chunk at `place`.
    pub fn begin_chunk(&mut self, place: ChunkPlace) {
        self.chunk = place;
    }

    /// Counts the document for each of its n-grams. Returns the number of words, and whether it has
    /// an n-gram.
    pub fn count(&mut self, text: &[u8]) -> (usize, bool) {
        self.decoded.read(text);
        let words = self.words.read(self.decoded.text(text));
        let count = words.hashes().len();
        self.index.find_all(words.hashes(), &mut self.hits);
        drop(words);
        self.list_distinct();
        for (gram, _) in &self.distinct {
            self.grams.count(*gram);
        }
        let has_hits = !self.hits.is_empty();
        self.free();
        (count, has_hits)
    }

    /// Adds what a document has to `found`; returns the number of its words, and whether it has an
    /// n-gram that is not ignored or an edited item.
    pub fn find(&mut self, text: &[u8], ordinal: u32, found: &mut ChunkFound) -> (usize, bool) {
        self.decoded.read(text);
        let (count, has_hits) = self.find_stretches(text);
        if !self.stretches.is_empty() {
            self.add_stretches(text, ordinal, found);
        }
        self.free();
        (count, has_hits)
    }

    /// Finds the stretches of a decoded text; returns the number of its words, and whether it has an
    /// n-gram that is not ignored or an edited item.
    fn find_stretches(&mut self, text: &[u8]) -> (usize, bool) {
        self.stretches.clear();
        let words = self.words.read(self.decoded.text(text));
        let hashes = words.hashes();
        match &mut self.edited {
            None => self.index.find_all(hashes, &mut self.hits),
            Some(edited) => edited.find(hashes, self.index, &mut self.hits),
        }
        let grams = self.grams;
        self.hits.retain(|hit| !grams.is_ignored(hit.gram));
        match &mut self.clusters {
            None => find_stretches(self.index, hashes, &self.hits, &mut self.stretches),
            Some((clusters, weights)) => {
                let tables = (self.index, *weights);
                clusters.find(tables, hashes, &self.hits, &mut self.found);
                join_clusters(self.index, &self.found, &self.hits, &mut self.stretches);
            }
        }
        if let Some(edited) = &self.edited {
            merge_edited(&edited.stretches, &mut self.stretches);
        }
        let has_hits = !self.hits.is_empty() || !self.stretches.is_empty();
        (hashes.len(), has_hits)
    }

    /// Adds the stretches of a document to `found`, and counts its items.
    fn add_stretches(&mut self, text: &[u8], ordinal: u32, found: &mut ChunkFound) {
        let decoded = self.decoded.text(text);
        self.tokenizer.word_ranges(decoded, &mut self.ranges);
        self.decoded.place(&mut self.ranges);
        let bytes: Vec<Range<usize>> = self
            .stretches
            .iter()
            .map(|own| self.bytes(text, own))
            .collect();
        match &self.clusters {
            None => self.count_grams(),
            Some(_) => count_clusters(&self.found, &self.stretches, &mut self.counts),
        }
        let key = (self.chunk, ordinal);
        if let Some(edited) = &mut self.edited {
            edited.count(&self.stretches, (&self.counts, self.index));
            edited.counts.end_document(key, &bytes);
        }
        self.counts.end_document(key, &bytes);
        self.job.widening.widen(text, &bytes, &mut self.wide);
        self.add_ranges(ordinal, found);
        if self.is_gone(text) {
            found.gone.push(ordinal);
        }
    }

    /// Lists each n-gram of the hits once, with its first hit, in order of these.
    fn list_distinct(&mut self) {
        self.distinct.clear();
        let hits = self.hits.iter().zip(0u32..);
        self.distinct
            .extend(hits.map(|(hit, number)| (hit.gram, number)));
        self.distinct.sort_unstable();
        self.distinct.dedup_by_key(|(gram, _)| *gram);
        self.distinct.sort_unstable_by_key(|(_, number)| *number);
    }

    fn count_grams(&mut self) {
        self.list_distinct();
        for (gram, _) in &self.distinct {
            self.grams.set_found(*gram);
        }
        let mut stretch = 0;
        for (_, number) in &mut self.distinct {
            while self.stretches[stretch].is_edited
                || self.stretches[stretch].hits.end <= *number as usize
            {
                stretch += 1;
            }
            *number = stretch as u32;
        }
        self.counts.add_grams(self.index, &self.distinct);
    }

    /// The bytes of a stretch. What is before the first and after the last word of a text goes with
    /// these words.
    fn bytes(&self, text: &[u8], stretch: &CoveredStretch) -> Range<usize> {
        let Range { start, end } = stretch.words;
        let first = match start {
            0 => 0,
            _ => self.ranges[start].start as usize,
        };
        let last = match end == self.ranges.len() {
            true => text.len(),
            false => self.ranges[end - 1].end as usize,
        };
        first..last
    }

    fn add_ranges(&self, document: u32, found: &mut ChunkFound) {
        for Wide { bytes, stretches } in &self.wide {
            let all = &self.stretches[stretches.clone()];
            let is_edited = all.iter().all(|stretch| stretch.is_edited);
            let own = || all.iter().filter(|stretch| stretch.is_edited == is_edited);
            let hits: usize = own().map(|stretch| stretch.hits.len()).sum();
            let longest = own().map(|stretch| &stretch.origin);
            let longest = longest.reduce(|best, next| match next.len() > best.len() {
                true => next,
                false => best,
            });
            found.ranges.push(RemovedRange {
                document,
                start: bytes.start as u32,
                length: bytes.len() as u32,
                why: match is_edited {
                    true => Why::Edited as u32,
                    false => Why::Against as u32,
                },
                count: hits as u64,
            });
            let mut origin = longest
                .map(|longest| self.origin(longest))
                .unwrap_or_default();
            origin.words = self.words_in(bytes);
            found.origins.push(origin);
        }
    }

    /// The place of some words of an item.
    fn origin(&self, places: &Range<usize>) -> Origin {
        let items = &self.index.items;
        let item = items.item_at(places.start as u32);
        let start = items.ranges[places.start].start;
        Origin {
            document: items.items[item].document,
            start,
            length: items.ranges[places.end - 1].end - start,
            words: 0,
        }
    }

    /// The number of words in a range.
    fn words_in(&self, range: &Range<usize>) -> u32 {
        let words = &self.ranges;
        let first = words.partition_point(|word| (word.start as usize) < range.start);
        let after = words.partition_point(|word| word.end as usize <= range.end);
        after.saturating_sub(first) as u32
    }

    /// Whether nothing remains of a document after a cut, or too many pieces.
    fn is_gone(&self, text: &[u8]) -> bool {
        let ends = self.wide.iter().map(|wide| wide.bytes.end);
        let starts = self.wide.iter().map(|wide| wide.bytes.start);
        let gaps = [0].into_iter().chain(ends).zip(starts.chain([text.len()]));
        let pieces = gaps.filter(|(start, end)| !text[*start..*end].trim_ascii().is_empty());
        let pieces = pieces.count();
        pieces == 0
            || self
                .job
                .most_pieces
                .is_some_and(|most| pieces > most as usize)
    }

    /// Frees buffers after a giant document.
    fn free(&mut self) {
        if self.hits.capacity() > MOST_KEPT {
            self.hits = Vec::new();
            self.distinct = Vec::new();
        }
        if self.ranges.capacity() > MOST_KEPT {
            self.ranges = Vec::new();
        }
    }
}

impl Drop for Finder<'_> {
    fn drop(&mut self) {
        self.grams.counts.put(&mut self.counts);
        if let Some(edited) = &mut self.edited {
            self.grams.edited.put(&mut edited.counts);
        }
    }
}
