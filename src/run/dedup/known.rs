//! Documents that an index knows: what is near one of them goes.

use ahash::AHashMap;
use bytemuck::{Pod, Zeroable};
use rayon::iter::ParallelIterator;
use rayon::slice::ParallelSlice;
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_128;

use crate::io::{RecordFile, Sorted, Spool, Spooled};
use crate::run::Progress;
use crate::run::room::Room;
use crate::sketch::{Method, Score};
use crate::{Error, ErrorKind, Result};

use super::bits::Bits;
use super::decision::Decision;
use super::gathered::Gathered;
use super::job::Job;
use super::leaders::Nearby;
use super::row::Flags;

/// Rows are read so many at a time.
const ROWS: usize = 8192;
/// Sketches that are asked at a time, so many or so many bytes: an index puts many questions into
/// the order of its tables.
const ASKED: usize = 1 << 17;
const ASKED_BYTES: usize = 8 << 20;
/// The fewest that a thread asks at a time.
const LEAST_PIECE: usize = 256;
/// The share of the memory that ids in answers may take, all threads together, and the least for
/// a thread.
const ANSWERS_SHARE: usize = 8;
const LEAST_ANSWERS_BYTES: usize = 1 << 20;

/// Documents of which only ids and sketches are there.
pub trait KnownDocuments: Sync {
    /// How many they are.
    fn documents(&self) -> u64;

    /// What made their sketches.
    ///
    /// # Errors
    /// Those of making it.
    fn method(&self) -> Result<Box<dyn Method>>;

    /// Fails unless `job` makes sketches in the same way.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`], showing both ways.
    fn expect(&self, job: &Job) -> Result<()>;

    /// Of each sketch, the nearest document that the method accepts, if there is any: the first
    /// one that was known, among equals. Sketches are not empty.
    ///
    /// Answers as many of the first sketches as it can with ids of `most_id_bytes` bytes in all,
    /// and at least one.
    ///
    /// # Errors
    /// Those of reading.
    fn nearest(&self, sketches: &[&[u8]], most_id_bytes: usize) -> Result<Vec<Option<Nearest>>>;

    /// What they are, for the summary.
    fn describe(&self) -> Value;

    /// What a run that goes on has to find as it was.
    ///
    /// # Errors
    /// Those of reading.
    fn state(&self) -> Result<Value>;
}

/// A known document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// Its id.
    pub id: Vec<u8>,
    /// How near it is.
    pub score: Score,
}

/// The ids of the known documents for which others go.
///
/// Their numbers are behind those of all documents of the input.
pub struct KnownIds {
    /// The number of the first.
    pub(super) first: u32,
    /// The ids, end to end.
    pub(super) ids: RecordFile<u8>,
    /// Where each id ends.
    pub(super) ends: RecordFile<u64>,
}

/// The same, not in the work directory yet.
pub struct FoundIds {
    /// The number of the first.
    pub(super) first: u32,
    /// The ids, end to end.
    pub(super) ids: Spooled,
    /// Where each id ends, eight bytes each.
    pub(super) ends: Spooled,
}

/// A document of the input, and the known one near it; sorts by the known one, and in input order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct Hit {
    id_hash: u128,
    document: u32,
    /// Which of the ids that were put aside is the known one's.
    id: u32,
    score: [u32; 2],
}

/// What a collection of known documents says of the input.
pub struct Asked {
    /// Documents that have a known one near them: they go.
    pub decisions: Sorted<Decision>,
    /// The same, by number.
    pub gone: Bits,
    /// The ids of the known ones.
    pub ids: FoundIds,
}

/// Asks for all documents that have a sketch; those that have a known one near them go.
///
/// What is held in memory is `room`'s; a known document has the number of the first hit that named
/// it, so that all which go for it are one cluster.
///
/// # Errors
/// Those of asking, of reading and of temporary files; interruption.
pub fn ask(
    known: &dyn KnownDocuments,
    method: &dyn Method,
    gathered: &Gathered,
    room: &Room<'_>,
    progress: &Progress,
) -> Result<Asked> {
    let first = u32::try_from(gathered.rows.len()).map_err(|_| too_many())?;
    let mut hits = Hits {
        known,
        sorter: room.sorter(4),
        ids: room.spool()?,
        ends: room.spool()?,
        id_bytes: 0,
        count: 0,
        most_answer_bytes: (room.memory_bytes / ANSWERS_SHARE / rayon::current_num_threads())
            .max(LEAST_ANSWERS_BYTES),
    };
    let mut sketches = Nearby::new(gathered, method);
    let mut batch: Vec<(u32, Vec<u8>)> = Vec::new();
    let mut bytes = 0;
    gathered.rows.for_each_block(ROWS, |number, rows| {
        for (number, row) in (number as u32..).zip(rows) {
            let without = [Flags::SKIPPED, Flags::EMPTY, Flags::SHORT];
            if without.iter().any(|flag| row.flags.has(*flag)) {
                continue;
            }
            let sketch = sketches.get(number.into())?;
            bytes += sketch.len();
            batch.push((number, sketch.to_vec()));
            if batch.len() >= ASKED || bytes >= ASKED_BYTES {
                progress.check()?;
                hits.ask(&batch)?;
                batch.clear();
                bytes = 0;
            }
        }
        progress.advance(rows.len() as u64);
        Ok(())
    })?;
    hits.ask(&batch)?;
    hits.finish(first, room)
}

/// What was found so far.
struct Hits<'a> {
    known: &'a dyn KnownDocuments,
    sorter: crate::io::Sorter<Hit>,
    ids: Spool,
    ends: Spool,
    id_bytes: u64,
    count: u32,
    /// The bytes of ids that a thread gets at a time.
    most_answer_bytes: usize,
}

impl Hits<'_> {
    fn ask(&mut self, batch: &[(u32, Vec<u8>)]) -> Result<()> {
        let piece = batch
            .len()
            .div_ceil(rayon::current_num_threads())
            .max(LEAST_PIECE);
        let asked: Vec<Result<Vec<Option<Nearest>>>> = batch
            .par_chunks(piece)
            .map(|piece| self.nearest(piece))
            .collect();
        // An id that many repeat is put aside once a batch.
        let mut aside: AHashMap<u128, u32> = AHashMap::new();
        for (answers, piece) in asked.into_iter().zip(batch.chunks(piece)) {
            let mut answers = answers?;
            let mut rest = piece;
            loop {
                let answered = answers.len();
                let (now, later) = rest.split_at(answered);
                self.take(now, answers, &mut aside)?;
                rest = later;
                if rest.is_empty() {
                    break;
                }
                // What is asked and not answered is asked again.
                answers = self.nearest(&rest[..rest.len().min(2 * answered)])?;
            }
        }
        Ok(())
    }

    /// Answers for the first of some documents, at least for one.
    fn nearest(&self, documents: &[(u32, Vec<u8>)]) -> Result<Vec<Option<Nearest>>> {
        let sketches: Vec<&[u8]> = documents.iter().map(|(_, sketch)| &sketch[..]).collect();
        let answers = self.known.nearest(&sketches, self.most_answer_bytes)?;
        match answers.len() {
            0 => Err(Error::new(
                ErrorKind::Content,
                "a known document has no answer",
            )),
            _ => Ok(answers),
        }
    }

    /// Takes the answers for some documents.
    fn take(
        &mut self,
        documents: &[(u32, Vec<u8>)],
        answers: Vec<Option<Nearest>>,
        aside: &mut AHashMap<u128, u32>,
    ) -> Result<()> {
        for (nearest, (document, _)) in answers.into_iter().zip(documents) {
            let Some(Nearest { id, score }) = nearest else {
                continue;
            };
            let hash = xxh3_128(&id);
            let number = match aside.get(&hash) {
                Some(number) => *number,
                None => {
                    let number = self.put_aside(&id)?;
                    aside.insert(hash, number);
                    number
                }
            };
            self.sorter.push(Hit {
                id_hash: hash,
                document: *document,
                id: number,
                score: Decision::score(score),
            })?;
        }
        Ok(())
    }

    fn put_aside(&mut self, id: &[u8]) -> Result<u32> {
        self.ids.append(id)?;
        self.id_bytes += id.len() as u64;
        self.ends.append(&self.id_bytes.to_ne_bytes())?;
        let number = self.count;
        self.count = number.checked_add(1).ok_or_else(too_many)?;
        Ok(number)
    }

    fn finish(self, first: u32, room: &Room<'_>) -> Result<Asked> {
        if first.checked_add(self.count).is_none() {
            return Err(too_many());
        }
        // Kept while the rest of the input is compared.
        let mut decisions = room.sorter(64);
        let mut gone = Bits::none_of(first.into());
        let mut known: Option<Hit> = None;
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
                evidence: Decision::KNOWN,
                score: hit.score,
                verified: [0, 0],
            })?;
        }
        let ids = FoundIds {
            first,
            ids: self.ids.finish()?,
            ends: self.ends.finish()?,
        };
        Ok(Asked {
            decisions: decisions.finish()?,
            gone,
            ids,
        })
    }
}

impl KnownIds {
    /// The id of the document that has this number; `None` for one of the input.
    ///
    /// # Errors
    /// Those of temporary files.
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
        "more than {} documents, with those that repeat known ones counted twice: split the input",
        u32::MAX
    );
    Error::new(ErrorKind::Content, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Every document has a known one near it, of 50 different ids.
    struct LongIds {
        most_answers: usize,
        largest_reply: AtomicUsize,
    }

    impl KnownDocuments for LongIds {
        fn documents(&self) -> u64 {
            50
        }

        fn method(&self) -> Result<Box<dyn Method>> {
            Err(Error::new(ErrorKind::Parameter, "not asked for"))
        }

        fn expect(&self, _: &Job) -> Result<()> {
            Ok(())
        }

        fn nearest(
            &self,
            sketches: &[&[u8]],
            most_id_bytes: usize,
        ) -> Result<Vec<Option<Nearest>>> {
            let mut bytes = 0;
            let answer = |sketch: &&[u8]| {
                let id = vec![sketch[0] % 50; 40_000];
                bytes += id.len();
                let score = Score::Distance(0);
                (bytes <= most_id_bytes).then_some(Some(Nearest { id, score }))
            };
            let answers: Vec<_> = sketches
                .iter()
                .take(self.most_answers)
                .map_while(answer)
                .collect();
            let bytes = answers.len() * 40_000;
            self.largest_reply.fetch_max(bytes, Ordering::Relaxed);
            Ok(answers)
        }

        fn describe(&self) -> Value {
            Value::Null
        }

        fn state(&self) -> Result<Value> {
            Ok(Value::Null)
        }
    }

    /// Document, id and its number, of all hits.
    fn asked(most_answers: usize, most_answer_bytes: usize) -> Vec<(u32, u128, u32)> {
        let known = LongIds {
            most_answers,
            largest_reply: AtomicUsize::new(0),
        };
        let directory = std::env::temp_dir();
        let room = Room {
            directory: &directory,
            memory_bytes: 64 << 20,
        };
        let mut hits = Hits {
            known: &known,
            sorter: room.sorter(4),
            ids: room.spool().unwrap(),
            ends: room.spool().unwrap(),
            id_bytes: 0,
            count: 0,
            most_answer_bytes,
        };
        let batch: Vec<(u32, Vec<u8>)> = (0..900)
            .map(|number| (number, vec![number as u8]))
            .collect();
        for part in batch.chunks(600) {
            hits.ask(part).unwrap();
        }
        assert!(known.largest_reply.load(Ordering::Relaxed) <= most_answer_bytes);
        let sorted = hits.sorter.finish().unwrap();
        sorted
            .map(|hit| hit.map(|hit| (hit.document, hit.id_hash, hit.id)).unwrap())
            .collect()
    }

    #[test]
    fn answers_are_the_same_for_any_bound_on_their_bytes() {
        let expected = asked(usize::MAX, usize::MAX);
        assert_eq!(expected.len(), 900);
        // Fifty ids in each batch.
        assert_eq!(
            expected.iter().map(|(_, _, number)| *number).max(),
            Some(99)
        );
        for (most_answers, bytes) in [(usize::MAX, 40_000), (7, usize::MAX), (usize::MAX, 1 << 20)]
        {
            assert_eq!(
                asked(most_answers, bytes),
                expected,
                "{most_answers} {bytes}"
            );
        }
    }
}
