//! Comparison with the documents of an index; copies of these are dropped.

use ahash::AHashMap;
use bytemuck::{Pod, Zeroable};
use rayon::iter::ParallelIterator;
use rayon::slice::ParallelSlice;
use xxhash_rust::xxh3::xxh3_128;

use crate::{Error, ErrorKind, Result};
use simtool_core::sketch::{Score, SignedMethod};
use simtool_engine::spill_space::SpillSpace;
use simtool_files::{RecordFile, Sorted, Spool, Spooled};

use crate::dedup::decision::Decision;
use crate::dedup::job_context::JobContext;
use crate::dedup::memory;
use crate::dedup::near::leaders::SketchReader;
use crate::skeleton::known_documents::{Asked, CopyEvidence, KnownCopy, KnownDocuments};
use crate::table::bits::Bits;
use crate::table::row::Flags;

/// Rows that are read at a time.
const ROWS: usize = 8192;
/// A batch of queries ends with the sketch that reaches this number, or this number of bytes.
const BATCH: usize = 1 << 17;
const BATCH_BYTES: usize = 8 << 20;
/// The fewest sketches that a thread queries at a time, if the batch has more.
const LEAST_PIECE: usize = 256;
/// The least bound on the bytes of ids in the answers to a thread.
const LEAST_ANSWERS_BYTES: usize = 1 << 20;

/// The ids of the known documents for which others are dropped. Their numbers follow those of all
/// documents of the input.
pub struct KnownIds {
    /// The number of the first.
    pub(crate) first: u32,
    /// The ids, end to end.
    pub(crate) ids: RecordFile<u8>,
    /// Where each id ends.
    pub(crate) ends: RecordFile<u64>,
}

/// [`KnownIds`] that are not in the work directory yet.
pub struct FoundIds {
    /// The number of the first.
    pub(crate) first: u32,
    /// The ids, end to end.
    pub(crate) ids: Spooled,
    /// Where each id ends, eight bytes each.
    pub(crate) ends: Spooled,
}

/// A document of the input and the known one near it. Hits sort by the hash of the known id, then
/// by document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct KnownHit {
    id_hash: u128,
    document: u32,
    /// The position of the known document's id among the stored ones.
    id: u32,
    /// One of the rules of decisions.
    evidence: u32,
    score: [u32; 2],
    /// Similarity and denominator; zeros if it is not known.
    verified: [u32; 2],
    /// Zero.
    _reserved: u32,
}

/// The result of comparing the input with known documents.
pub struct KnownMatches {
    /// Leaders that are copies of a known document, and are dropped.
    pub decisions: Sorted<Decision>,
    /// The numbers of these documents.
    pub gone: Bits,
    /// The ids of the known documents.
    pub ids: FoundIds,
}

/// Asks the known documents for all documents but `followers`, which share the decision about their
/// leader. Sketches are those of `method`; without one, only equal documents are copies.
///
/// Hits and answers take their shares of the memory of `space`. A known document is numbered by the
/// first hit with its id, so that all documents that are dropped for it form one cluster.
///
/// # Errors
/// Errors of queries, of reading and of temporary files; interruption.
pub fn query(
    known: &dyn KnownDocuments,
    method: Option<&SignedMethod>,
    context: &JobContext<'_>,
    followers: &Bits,
) -> Result<KnownMatches> {
    let (table, space, progress) = (context.table(), &context.space, context.progress());
    let first = u32::try_from(table.rows.len()).map_err(|_| too_many())?;
    let mut hits = Hits {
        known,
        sorter: space.sorter(memory::HITS),
        ids: space.spool()?,
        ends: space.spool()?,
        id_bytes: 0,
        count: 0,
        most_answer_bytes: (space.bytes(memory::ANSWERS) / rayon::current_num_threads())
            .max(LEAST_ANSWERS_BYTES),
    };
    let mut sketches = method.map(|method| SketchReader::new(table, method));
    let mut batch: Vec<Waiting> = Vec::new();
    let mut bytes = 0;
    table.rows.for_each_block(ROWS, |number, rows| {
        for (number, row) in (number as u32..).zip(rows) {
            let is_excluded = row.flags.has(Flags::SKIPPED) || row.flags.has(Flags::EMPTY);
            if is_excluded || followers.contains(number) {
                continue;
            }
            let sketch = match &mut sketches {
                Some(sketches) if !row.flags.has(Flags::SHORT) => sketches.get(number.into())?,
                _ => &[],
            };
            bytes += sketch.len();
            batch.push(Waiting {
                document: number,
                words: row.digest,
                text: row.text_digest,
                sketch: sketch.to_vec(),
            });
            if batch.len() >= BATCH || bytes >= BATCH_BYTES {
                progress.check()?;
                hits.query(&batch)?;
                batch.clear();
                bytes = 0;
            }
        }
        progress.advance(rows.len() as u64);
        Ok(())
    })?;
    hits.query(&batch)?;
    hits.finish(first, space)
}

/// A document that is asked for.
struct Waiting {
    document: u32,
    words: u128,
    text: u64,
    sketch: Vec<u8>,
}

/// The hits so far.
struct Hits<'a> {
    known: &'a dyn KnownDocuments,
    sorter: simtool_files::Sorter<KnownHit>,
    ids: Spool,
    ends: Spool,
    id_bytes: u64,
    count: u32,
    /// The most bytes of ids in the answers to one query of a thread.
    most_answer_bytes: usize,
}

impl Hits<'_> {
    fn query(&mut self, batch: &[Waiting]) -> Result<()> {
        let piece = batch
            .len()
            .div_ceil(rayon::current_num_threads())
            .max(LEAST_PIECE);
        let answers: Vec<Result<Vec<Option<KnownCopy>>>> = batch
            .par_chunks(piece)
            .map(|piece| self.copied(piece))
            .collect();
        // An id that occurs several times in a batch is stored once.
        let mut stored: AHashMap<u128, u32> = AHashMap::new();
        for (answers, piece) in answers.into_iter().zip(batch.chunks(piece)) {
            let mut answers = answers?;
            let mut rest = piece;
            loop {
                let answered = answers.len();
                let (now, later) = rest.split_at(answered);
                self.take(now, answers, &mut stored)?;
                rest = later;
                if rest.is_empty() {
                    break;
                }
                // Sketches that were not answered are queried again.
                answers = self.copied(&rest[..rest.len().min(2 * answered)])?;
            }
        }
        Ok(())
    }

    /// Answers for the first of `documents`, at least for one.
    fn copied(&self, documents: &[Waiting]) -> Result<Vec<Option<KnownCopy>>> {
        let asked = documents.iter().map(|waiting| Asked {
            words: waiting.words,
            text: waiting.text,
            sketch: &waiting.sketch,
        });
        let asked: Vec<Asked<'_>> = asked.collect();
        let answers = self.known.copied(&asked, self.most_answer_bytes)?;
        match answers.len() {
            0 => Err(Error::new(
                ErrorKind::Content,
                "the known documents gave no answer",
            )),
            _ => Ok(answers),
        }
    }

    /// Records the answers for `documents`.
    fn take(
        &mut self,
        documents: &[Waiting],
        answers: Vec<Option<KnownCopy>>,
        stored: &mut AHashMap<u128, u32>,
    ) -> Result<()> {
        for (copied, waiting) in answers.into_iter().zip(documents) {
            let Some(KnownCopy { id, evidence }) = copied else {
                continue;
            };
            let hash = xxh3_128(&id);
            let number = match stored.get(&hash) {
                Some(number) => *number,
                None => {
                    let number = self.store(&id)?;
                    stored.insert(hash, number);
                    number
                }
            };
            let (evidence, score, verified) = match evidence {
                CopyEvidence::Text => (Decision::SAME_TEXT, [0, 1], [1, 1]),
                CopyEvidence::Words => (Decision::SAME_WORDS, [0, 1], [1, 1]),
                CopyEvidence::Near { score, similarity } => {
                    let similarity = similarity.map(|[part, whole]| Score::Fraction(part, whole));
                    let verified = similarity.map_or([0, 0], Decision::score);
                    (Decision::KNOWN, Decision::score(score), verified)
                }
            };
            self.sorter.push(KnownHit {
                id_hash: hash,
                document: waiting.document,
                id: number,
                evidence,
                score,
                verified,
                _reserved: 0,
            })?;
        }
        Ok(())
    }

    fn store(&mut self, id: &[u8]) -> Result<u32> {
        self.ids.append(id)?;
        self.id_bytes += id.len() as u64;
        self.ends.append(&self.id_bytes.to_ne_bytes())?;
        let number = self.count;
        self.count = number.checked_add(1).ok_or_else(too_many)?;
        Ok(number)
    }

    fn finish(self, first: u32, space: &SpillSpace<'_>) -> Result<KnownMatches> {
        if first.checked_add(self.count).is_none() {
            return Err(too_many());
        }
        // These decisions are kept while the rest of the input is compared with itself.
        let mut decisions = space.sorter(memory::KNOWN_DECISIONS);
        let mut gone = Bits::none_of(first.into());
        let mut known: Option<KnownHit> = None;
        for hit in self.sorter.finish()? {
            let hit = hit?;
            let of = match known {
                Some(earlier) if earlier.id_hash == hit.id_hash => earlier,
                _ => hit,
            };
            known = Some(of);
            gone.insert(hit.document);
            decisions.push(Decision {
                document: hit.document,
                kept: first + of.id,
                evidence: hit.evidence,
                score: hit.score,
                verified: hit.verified,
            })?;
        }
        let ids = FoundIds {
            first,
            ids: self.ids.finish()?,
            ends: self.ends.finish()?,
        };
        Ok(KnownMatches {
            decisions: decisions.finish()?,
            gone,
            ids,
        })
    }
}

impl KnownIds {
    /// The id of the known document `number`; `None` for a document of the input.
    ///
    /// # Errors
    /// [`ErrorKind::Read`]; [`ErrorKind::Content`] if there is no such document.
    pub fn get(&self, number: u32) -> Result<Option<Vec<u8>>> {
        let Some(place) = number.checked_sub(self.first) else {
            return Ok(None);
        };
        let begin = match place.checked_sub(1) {
            Some(before) => self.ends.get(before.into())?,
            None => 0,
        };
        let mut id = Vec::new();
        let length = self.ends.get(place.into())?.saturating_sub(begin) as usize;
        self.ids.read(begin, length, &mut id)?;
        Ok(Some(id))
    }
}

fn too_many() -> Error {
    let message = format!(
        "more than {} documents, those of the input and the known ones near them: split the input",
        u32::MAX
    );
    Error::new(ErrorKind::Content, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skeleton::known_documents::Sketching;
    use serde_json::Value;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A known document with one of 50 ids is near each document.
    struct LongIds {
        most_answers: usize,
        largest_reply: AtomicUsize,
    }

    impl KnownDocuments for LongIds {
        fn documents(&self) -> u64 {
            50
        }

        fn method(&self) -> Result<SignedMethod> {
            Err(Error::new(ErrorKind::Parameter, "the test needs no method"))
        }

        fn expect(&self, _: &Sketching<'_>) -> Result<()> {
            Ok(())
        }

        fn copied(
            &self,
            asked: &[Asked<'_>],
            most_id_bytes: usize,
        ) -> Result<Vec<Option<KnownCopy>>> {
            let mut bytes = 0;
            let answer = |asked: &Asked<'_>| {
                let id = vec![asked.sketch[0] % 50; 40_000];
                bytes += id.len();
                let evidence = CopyEvidence::Words;
                (bytes <= most_id_bytes).then_some(Some(KnownCopy { id, evidence }))
            };
            let answers: Vec<_> = asked
                .iter()
                .take(self.most_answers)
                .map_while(answer)
                .collect();
            let bytes = answers.len() * 40_000;
            self.largest_reply.fetch_max(bytes, Ordering::Relaxed);
            Ok(answers)
        }

        fn estimates(&self) -> bool {
            false
        }

        fn describe(&self) -> Value {
            Value::Null
        }

        fn state(&self) -> Result<Value> {
            Ok(Value::Null)
        }
    }

    /// Document, id hash and id number of all hits.
    fn answers(most_answers: usize, most_answer_bytes: usize) -> Vec<(u32, u128, u32)> {
        let known = LongIds {
            most_answers,
            largest_reply: AtomicUsize::new(0),
        };
        let directory = std::env::temp_dir();
        let space = SpillSpace {
            directory: &directory,
            memory_bytes: 64 << 20,
        };
        let mut hits = Hits {
            known: &known,
            sorter: space.sorter(memory::HITS),
            ids: space.spool().unwrap(),
            ends: space.spool().unwrap(),
            id_bytes: 0,
            count: 0,
            most_answer_bytes,
        };
        let waiting = |document: u32| Waiting {
            document,
            words: 0,
            text: 0,
            sketch: vec![document as u8],
        };
        let batch: Vec<Waiting> = (0..900).map(waiting).collect();
        for part in batch.chunks(600) {
            hits.query(part).unwrap();
        }
        assert!(known.largest_reply.load(Ordering::Relaxed) <= most_answer_bytes);
        let sorted = hits.sorter.finish().unwrap();
        sorted
            .map(|hit| hit.map(|hit| (hit.document, hit.id_hash, hit.id)).unwrap())
            .collect()
    }

    /// Promise (Deduplication): Answers of an index are held in bounded memory, for ids of any
    /// length
    #[test]
    fn answers_are_the_same_for_any_bound_on_their_bytes() {
        let expected = answers(usize::MAX, usize::MAX);
        assert_eq!(expected.len(), 900);
        // Each batch has fifty ids.
        assert_eq!(
            expected.iter().map(|(_, _, number)| *number).max(),
            Some(99)
        );
        for (most_answers, bytes) in [(usize::MAX, 40_000), (7, usize::MAX), (usize::MAX, 1 << 20)]
        {
            assert_eq!(
                answers(most_answers, bytes),
                expected,
                "{most_answers} {bytes}"
            );
        }
    }
}
