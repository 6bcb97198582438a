//! The readings of the input: which documents have n-grams of the reference, and where.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use super::clusters::{Cluster, ClusterFinder, Weights};
use super::counts::{ItemCount, ItemCounts};
use super::index::{Index, NgramHit};
use super::job::DecontaminateJob;
use super::widen::Wide;
use crate::Result;
use crate::passages::decisions::decided::Origin;
use crate::passages::decisions::ranges::{RemovedRange, Why};
use crate::passages::first_reading::documents::ChunkRows;
use simtool_core::sketch::Needs;
use simtool_core::text::{Tokenizer, WordRange};
use simtool_corpus::web::html::DecodedText;
use simtool_engine::Resources;
use simtool_engine::documents::ChunkDocuments;
use simtool_engine::text_words::WordReader;

/// The most places of an n-gram that are compared for the longest match.
const MOST_PLACES: usize = 256;
/// Buffers with more entries are freed after the document.
const MOST_KEPT: usize = 1 << 20;

/// What is known of each n-gram and each item of the reference.
pub struct Grams {
    /// Whether a document has it.
    found: Vec<AtomicBool>,
    /// The number of documents with it, if the job limits it.
    documents: Vec<AtomicU32>,
    most_documents: u32,
    /// The counts by item of finders that ended.
    counts: Mutex<Vec<ItemCounts>>,
}

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

impl Grams {
    /// Nothing is known of the n-grams of `index`.
    pub fn new(index: &Index, most_documents: Option<u32>) -> Grams {
        let counted = most_documents.map_or(0, |_| index.count());
        Grams {
            found: (0..index.count()).map(|_| AtomicBool::new(false)).collect(),
            documents: (0..counted).map(|_| AtomicU32::new(0)).collect(),
            most_documents: most_documents.unwrap_or(u32::MAX),
            counts: Mutex::new(Vec::new()),
        }
    }

    /// What the documents of all finders, which have ended, have of each item.
    pub fn items(&self, index: &Index) -> Vec<ItemCount> {
        let mut items = vec![ItemCount::default(); index.items.items.len()];
        let mut all = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        for counts in all.drain(..) {
            let own = counts.finish(index);
            items
                .iter_mut()
                .zip(&own)
                .for_each(|(all, own)| all.merge(own));
        }
        items
    }

    /// Whether a document has the n-gram.
    pub fn is_found(&self, gram: u32) -> bool {
        self.found[gram as usize].load(Ordering::Relaxed)
    }

    /// Whether too many documents have the n-gram.
    pub fn is_ignored(&self, gram: u32) -> bool {
        let documents = self.documents.get(gram as usize);
        documents.is_some_and(|count| count.load(Ordering::Relaxed) > self.most_documents)
    }
}

/// Finds n-grams in documents; one for each thread.
pub struct Finder<'a> {
    job: &'a DecontaminateJob,
    index: &'a Index,
    grams: &'a Grams,
    words: WordReader,
    tokenizer: Tokenizer,
    /// The source and the number of the chunk.
    chunk: (u32, u64),
    counts: ItemCounts,
    clusters: Option<(ClusterFinder, &'a Weights)>,
    found: Vec<Cluster>,
    hits: Vec<NgramHit>,
    decoded: DecodedText,
    /// N-grams, each with its first hit; then with that hit's stretch.
    distinct: Vec<(u32, u32)>,
    ranges: Vec<WordRange>,
    stretches: Vec<CoveredStretch>,
    wide: Vec<Wide>,
}

/// A stretch of a text that n-grams cover.
struct CoveredStretch {
    /// Its words.
    words: Range<usize>,
    /// The n-grams.
    hits: Range<usize>,
    /// The words of an item that its longest match has.
    origin: Range<usize>,
}

impl<'a> Finder<'a> {
    /// A finder of the n-grams of `index`.
    pub fn new(
        job: &'a DecontaminateJob,
        (index, weights): (&'a Index, Option<&'a Weights>),
        grams: &'a Grams,
        resources: &Resources,
    ) -> Finder<'a> {
        let level = resources.level;
        // Units, and chunks within them, are read in order, so the next finder of the same thread has
        // later documents.
        let counts = grams
            .counts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        Finder {
            job,
            index,
            grams,
            words: WordReader::new(job.tokenizer, Needs::HASHES, level),
            tokenizer: Tokenizer::new(job.tokenizer, level),
            chunk: (0, 0),
            counts: counts.unwrap_or_else(|| ItemCounts::new(index.items.items.len())),
            clusters: (job.clusters.zip(weights))
                .map(|(rule, weights)| (ClusterFinder::new(rule, index), weights)),
            found: Vec::new(),
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
        self.begin_chunk(documents.chunk.source, documents.chunk.start.chunk);
        ChunkRows::read(documents, |_, document, number, row| {
            let (words, has_hits) = self.find(document.text, number, found);
            row.set_hits(has_hits);
            row.units = u32::try_from(words).unwrap_or(u32::MAX);
            row.unit_bytes = document.text.trim_ascii().len() as u64;
            Ok(())
        })
    }

    /// The next documents are those of the chunk `number` of `source`, which comes after all earlier
    /// ones in input order.
    pub fn begin_chunk(&mut self, source: u32, number: u64) {
        self.chunk = (source, number);
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
            self.grams.documents[*gram as usize].fetch_add(1, Ordering::Relaxed);
        }
        let has_hits = !self.hits.is_empty();
        self.free();
        (count, has_hits)
    }

    /// Adds what a document has to `found`; returns the number of its words, and whether it has an
    /// n-gram that is not ignored.
    pub fn find(&mut self, text: &[u8], ordinal: u32, found: &mut ChunkFound) -> (usize, bool) {
        self.decoded.read(text);
        let decoded = self.decoded.text(text);
        let words = self.words.read(decoded);
        let count = words.hashes().len();
        self.index.find_all(words.hashes(), &mut self.hits);
        let grams = self.grams;
        self.hits.retain(|hit| !grams.is_ignored(hit.gram));
        if self.hits.is_empty() {
            return (count, false);
        }
        match &mut self.clusters {
            None => find_stretches(self.index, words.hashes(), &self.hits, &mut self.stretches),
            Some((clusters, weights)) => {
                let tables = (self.index, *weights);
                clusters.find(tables, words.hashes(), &self.hits, &mut self.found);
                join_clusters(self.index, &self.found, &self.hits, &mut self.stretches);
            }
        }
        drop(words);
        if self.stretches.is_empty() {
            return (count, true);
        }
        self.tokenizer.word_ranges(decoded, &mut self.ranges);
        self.decoded.place(&mut self.ranges);
        let bytes: Vec<Range<usize>> = self
            .stretches
            .iter()
            .map(|own| self.bytes(text, own))
            .collect();
        match &self.clusters {
            None => self.count_grams(),
            Some(_) => self.count_clusters(),
        }
        let (source, chunk) = self.chunk;
        self.counts.end_document((source, chunk, ordinal), &bytes);
        self.job.widening.widen(text, &bytes, &mut self.wide);
        self.add_ranges(ordinal, found);
        if self.is_gone(text) {
            found.gone.push(ordinal);
        }
        self.free();
        (count, true)
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

    fn count_clusters(&mut self) {
        let mut stretch = 0;
        for cluster in &self.found {
            while self.stretches[stretch].words.end < cluster.words.end {
                stretch += 1;
            }
            self.counts
                .add_cluster(cluster.item, stretch as u32, cluster.grams);
        }
    }

    fn count_grams(&mut self) {
        self.list_distinct();
        for (gram, _) in &self.distinct {
            self.grams.found[*gram as usize].store(true, Ordering::Relaxed);
        }
        let mut stretch = 0;
        for (_, number) in &mut self.distinct {
            while self.stretches[stretch].hits.end <= *number as usize {
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
            let own = &self.stretches[stretches.clone()];
            let hits: usize = own.iter().map(|stretch| stretch.hits.len()).sum();
            let longest = own.iter().map(|stretch| &stretch.origin);
            let longest = longest.reduce(|best, next| match next.len() > best.len() {
                true => next,
                false => best,
            });
            found.ranges.push(RemovedRange {
                document,
                start: bytes.start as u32,
                length: bytes.len() as u32,
                why: Why::Against as u32,
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
        let counts = std::mem::replace(&mut self.counts, ItemCounts::new(0));
        let all = self.grams.counts.lock();
        all.unwrap_or_else(PoisonError::into_inner).push(counts);
    }
}

/// Replaces `stretches` by those that `hits` cover. Stretches that touch are one.
fn find_stretches(
    index: &Index,
    words: &[u64],
    hits: &[NgramHit],
    stretches: &mut Vec<CoveredStretch>,
) {
    stretches.clear();
    // Where the last match ends.
    let mut reached = 0;
    for (number, hit) in hits.iter().enumerate() {
        let own = hit.first as usize..hit.first as usize + hit.words as usize;
        match stretches.last_mut() {
            Some(last) if own.start <= last.words.end => {
                last.words.end = last.words.end.max(own.end);
                last.hits.end = number + 1;
            }
            _ => {
                stretches.push(CoveredStretch {
                    words: own.clone(),
                    hits: number..number + 1,
                    origin: 0..0,
                });
                // A match may go on where n-grams are ignored, up to here.
                reached = 0;
            }
        }
        if own.end <= reached {
            continue;
        }
        let found = index.longest(words, hit, MOST_PLACES);
        reached = own.start + found.len();
        if let Some(last) = stretches.last_mut()
            && found.len() > last.origin.len()
        {
            last.origin = found;
        }
    }
}

/// Replaces `stretches` by those that clusters cover, which are ascending. Stretches that touch are one.
/// The origin of each is the item of its largest cluster.
fn join_clusters(
    index: &Index,
    clusters: &[Cluster],
    hits: &[NgramHit],
    stretches: &mut Vec<CoveredStretch>,
) {
    stretches.clear();
    let mut most = 0;
    for cluster in clusters {
        match stretches.last_mut() {
            Some(last) if cluster.words.start <= last.words.end => {
                last.words.end = last.words.end.max(cluster.words.end);
            }
            _ => {
                stretches.push(CoveredStretch {
                    words: cluster.words.clone(),
                    hits: 0..0,
                    origin: 0..0,
                });
                most = 0;
            }
        }
        if let Some(last) = stretches.last_mut()
            && cluster.grams > most
        {
            most = cluster.grams;
            last.origin = index.items.words_of(cluster.item);
        }
    }
    for stretch in stretches {
        let before = |end: usize| hits.partition_point(|hit| (hit.first as usize) < end);
        stretch.hits = before(stretch.words.start)..before(stretch.words.end);
    }
}
