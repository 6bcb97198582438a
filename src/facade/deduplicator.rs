//! Deduplication of texts in memory.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rayon::iter::{IntoParallelRefIterator, IntoParallelRefMutIterator, ParallelIterator};
use rayon::slice::ParallelSlice;

use super::similarity::Similarity;
use super::words::{Words, shingle_width};
use crate::dedup::star::Star;
use crate::dedup::{Event, Judge, Parallel, Verdict};
use crate::engine::methods::{Common, preview};
use crate::engine::sketcher::{Sketched, Sketcher};
use crate::jobs::dedup::{EXACT, MOST_SHINGLE, NORMALIZED};
use crate::kernel::Level;
use crate::search::join::{AnyQuery, Scratch, SketchIndex};
use crate::sketch::registry::Spec;
use crate::sketch::{Method, SketchList, digest};
use crate::text::shingles::overlap_of_at_least;
use crate::text::{Choice, builtin_stop_words};
use crate::{Error, ErrorKind, Result};

/// The default method and the default similarity of duplicates, in thousandths.
const METHOD: &str = "simhash";
const THOUSANDTHS: u32 = 800;
/// Documents, and queries, that a thread takes at a time.
const CHUNK: usize = 256;
/// A small index may take more than its share.
const LEAST_INDEX_BYTES: usize = 1 << 20;

/// A document that repeats another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Duplicate {
    /// Its number, from 0.
    pub document: usize,
    /// The number of the document that is kept in its place.
    pub kept: usize,
    /// Why the two are duplicates.
    pub evidence: Evidence,
}

/// Why two documents are duplicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Evidence {
    /// They are equal, byte for byte.
    SameText,
    /// They have the same words in the same order.
    SameWords,
    /// They have this similarity, counted exactly.
    Similar(Similarity),
}

/// Finds duplicates among texts in memory.
///
/// The rules are those of `simtool dedup`: the first copy is kept; each document that is dropped
/// was compared with the very document that is kept; texts without words are never duplicates; texts
/// that are too short for the method only if their words are the same.
///
/// ```
/// use simtool::Deduplicator;
///
/// let documents = ["one two three four five six seven eight", "something else"];
/// let duplicates = Deduplicator::new().similarity(0.9)?.method("minhash")?.run(documents)?;
/// assert!(duplicates.is_empty());
/// # Ok::<(), simtool::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Deduplicator {
    method: String,
    thousandths: u32,
    shingle: usize,
}

/// Finds duplicates with the defaults of `simtool dedup`.
///
/// Returns the documents that repeat an earlier one, in their order. The answer does not depend on
/// the number of threads. [`Deduplicator`] has settings.
///
/// # Errors
/// Those of [`Deduplicator::run`].
///
/// ```
/// let text = "A cat sat on the mat while a dog slept in the sun behind the old house by the sea";
/// let pages = [text.to_owned(), "something else".to_owned(), text.to_uppercase()];
/// let duplicates = simtool::dedup(&pages)?;
/// assert_eq!((duplicates[0].document, duplicates[0].kept), (2, 0));
/// assert_eq!(duplicates[0].evidence, simtool::Evidence::SameWords);
/// # Ok::<(), simtool::Error>(())
/// ```
pub fn dedup<T: AsRef<[u8]> + Sync>(
    documents: impl IntoIterator<Item = T>,
) -> Result<Vec<Duplicate>> {
    Deduplicator::new().run(documents)
}

impl Default for Deduplicator {
    fn default() -> Deduplicator {
        Deduplicator::new()
    }
}

impl Deduplicator {
    /// The defaults: SimHash proposes pairs, and they are duplicates from a similarity of 0.8.
    pub fn new() -> Deduplicator {
        Deduplicator {
            method: METHOD.to_owned(),
            thousandths: THOUSANDTHS,
            shingle: shingle_width(),
        }
    }

    /// Sets the least similarity of duplicates, in steps of 0.001.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] if it is not from 0.001 to 1.
    pub fn similarity(mut self, least: f64) -> Result<Deduplicator> {
        let thousandths = (least * 1000.0).round();
        if !(1.0..=1000.0).contains(&thousandths) {
            return refuse(format!("similarity {least}: expected 0.001 to 1"));
        }
        self.thousandths = thousandths as u32;
        Ok(self)
    }

    /// Sets the number of words in a shingle.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] if it is not from 1 to 100.
    pub fn shingle(mut self, words: usize) -> Result<Deduplicator> {
        if !(1..=MOST_SHINGLE).contains(&words) {
            return refuse(format!("shingle {words}: expected 1 to {MOST_SHINGLE}"));
        }
        self.shingle = words;
        Ok(self)
    }

    /// Sets the method that proposes pairs, as in `simtool dedup --method`: `minhash`,
    /// `simhash:bits=128,distance=12`. `simtool methods` lists them.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for an unknown method or parameter, and for methods that need
    /// statistics of the whole collection first.
    pub fn method(mut self, method: &str) -> Result<Deduplicator> {
        if !Spec::parse(method)?.required_counts().is_empty() {
            return refuse(format!(
                "method {method}: needs statistics of the whole collection, which are counted \
                 only from files (simtool dedup)"
            ));
        }
        self.method = method.to_owned();
        Ok(self)
    }

    /// Finds the documents that repeat an earlier one, in their order.
    ///
    /// Runs on the current rayon pool; the answer does not depend on its threads. Memory: the
    /// documents, a sketch of each (8 bytes with the default method), and eight bytes for each word
    /// of those that are near another one.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for more than 2³² - 1 documents or parameters that contradict each
    /// other; [`ErrorKind::Memory`] if the index of sketches does not fit.
    pub fn run<T: AsRef<[u8]> + Sync>(
        &self,
        documents: impl IntoIterator<Item = T>,
    ) -> Result<Vec<Duplicate>> {
        let documents: Vec<T> = documents.into_iter().collect();
        if u32::try_from(documents.len()).is_err() {
            return refuse(format!(
                "{} documents: expected less than 2^32",
                documents.len()
            ));
        }
        let stop_words = builtin_stop_words();
        let common = Common {
            tokenizer: Choice::default(),
            stop_words: &stop_words,
            level: Level::best(),
        };
        let methods = [preview(&Spec::parse(&self.method)?, common)?];
        let read = FirstReading::of(&documents, &methods, common);
        let groups = Groups::of(&read, &*methods[0]);
        let near = match self.method.as_str() {
            EXACT | NORMALIZED => HashMap::new(),
            _ => self.near(&documents, &groups, &*methods[0])?,
        };
        let mut found = groups.followers;
        for duplicate in &mut found {
            if let Some(of_leader) = near.get(&duplicate.kept) {
                (duplicate.kept, duplicate.evidence) = (of_leader.kept, of_leader.evidence);
            }
        }
        found.extend(near.into_values());
        found.sort_unstable_by_key(|duplicate| duplicate.document);
        Ok(found)
    }

    /// The leaders that are dropped, by number.
    fn near<T: AsRef<[u8]> + Sync>(
        &self,
        documents: &[T],
        groups: &Groups,
        method: &dyn Method,
    ) -> Result<HashMap<usize, Duplicate>> {
        let is_near = with_neighbour(&groups.sketches, method)?;
        let mut sketches = SketchList::new(method);
        let mut numbers = Vec::new();
        let all = groups
            .leaders
            .iter()
            .zip(groups.sketches.all(method).iter());
        for ((&number, sketch), _) in all.zip(is_near).filter(|(_, is_near)| *is_near) {
            numbers.push(number);
            sketches.push(sketch);
        }
        let sets = numbers.par_iter().map_init(Words::new, |words, &number| {
            words.shingles(documents[number].as_ref(), self.shingle)
        });
        let judge = SetJudge {
            sets: sets.collect(),
            thousandths: self.thousandths,
        };
        let index = build_index(&sketches, method)?;
        let mut star = Star::new(&index, 0, &[]);
        let mut found = HashMap::new();
        let mut sink = |event: Event| {
            if let Verdict::Same(similarity) = event.verdict {
                let document = numbers[event.member as usize];
                let duplicate = Duplicate {
                    document,
                    kept: numbers[event.centre as usize],
                    evidence: Evidence::Similar(similarity.into()),
                };
                found.insert(document, duplicate);
            }
            Ok(())
        };
        while star.step(&Pool, &judge, &mut sink)? {}
        Ok(found)
    }
}

/// What the first reading found of each document.
#[derive(Default)]
struct FirstReading {
    /// Digests of the bytes and of the words.
    digests: Vec<(u128, u128)>,
    /// The number of words.
    words: Vec<usize>,
    sketched: Sketched,
}

impl FirstReading {
    fn of<T: AsRef<[u8]> + Sync>(
        documents: &[T],
        methods: &[Box<dyn Method>],
        common: Common<'_>,
    ) -> FirstReading {
        let start = || (Words::new(), Sketcher::new(methods, common));
        let parts = documents
            .par_chunks(CHUNK)
            .map_init(start, |(words, sketcher), part| {
                let mut found = FirstReading::default();
                let mut sketched = sketcher.nothing();
                for document in part {
                    let text = document.as_ref();
                    let hashes = words.of(text);
                    found
                        .digests
                        .push((digest::of_text(text), digest::of_words(hashes)));
                    found.words.push(hashes.len());
                    sketcher.sketch(text, &mut sketched);
                }
                found.sketched = sketched.swap_remove(0);
                found
            });
        let mut all = FirstReading {
            sketched: Sketcher::new(methods, common).nothing().swap_remove(0),
            ..FirstReading::default()
        };
        for part in parts.collect::<Vec<_>>() {
            all.digests.extend(part.digests);
            all.words.extend(part.words);
            all.sketched.append(&part.sketched);
        }
        all
    }
}

/// Documents with the same words: the first of them leads, the others follow it.
struct Groups {
    followers: Vec<Duplicate>,
    /// The leaders that are long enough for the method, and their sketches.
    leaders: Vec<usize>,
    sketches: SketchList,
}

impl Groups {
    fn of(read: &FirstReading, method: &dyn Method) -> Groups {
        let mut groups = Groups {
            followers: Vec::new(),
            leaders: Vec::new(),
            sketches: SketchList::new(method),
        };
        let sketches = read.sketched.sketches.all(method);
        let mut first_with = HashMap::new();
        for (document, &(text, words)) in read.digests.iter().enumerate() {
            let count = read.words[document];
            if count == 0 {
                continue;
            }
            let digest = match method.name() {
                EXACT => text,
                _ => words,
            };
            match first_with.entry(digest) {
                Entry::Occupied(first) => {
                    let &kept: &usize = first.get();
                    let is_same_text = read.digests[kept].0 == text;
                    groups.followers.push(Duplicate {
                        document,
                        kept,
                        evidence: match is_same_text {
                            true => Evidence::SameText,
                            false => Evidence::SameWords,
                        },
                    });
                }
                Entry::Vacant(place) => {
                    place.insert(document);
                    if count >= method.least_words() && read.sketched.usable[document] {
                        groups.leaders.push(document);
                        groups.sketches.push(sketches.get(document));
                    }
                }
            }
        }
        groups
    }
}

/// Whether each sketch has another one near.
fn with_neighbour(sketches: &SketchList, method: &dyn Method) -> Result<Vec<bool>> {
    let index = build_index(sketches, method)?;
    let queries: Vec<AnyQuery<'_>> = (0..)
        .zip(sketches.all(method).iter())
        .map(|(position, sketch)| AnyQuery {
            sketch,
            except: Some(position),
        })
        .collect();
    let parts = queries
        .par_chunks(CHUNK)
        .map_init(Scratch::default, |scratch, part| {
            let mut found = vec![false; part.len()];
            index.any_near_batch(part, scratch, |query, any| found[query] = any);
            found
        });
    Ok(parts.collect::<Vec<_>>().concat())
}

fn build_index<'a>(sketches: &'a SketchList, method: &'a dyn Method) -> Result<SketchIndex<'a>> {
    let sketches = sketches.all(method);
    let bytes = sketches
        .iter()
        .map(|sketch| SketchIndex::bytes_for(method, sketch));
    let memory = bytes.sum::<usize>().max(LEAST_INDEX_BYTES);
    SketchIndex::build(method, sketches, memory, Level::best())
}

/// Compares sets of shingles, by rank.
struct SetJudge {
    sets: Vec<Vec<u64>>,
    thousandths: u32,
}

impl Judge for SetJudge {
    fn verify(&self, earlier: u64, later: u64) -> Result<Verdict> {
        let (a, b) = (&self.sets[earlier as usize], &self.sets[later as usize]);
        let (total, share) = (a.len() + b.len(), self.thousandths as usize);
        // Shared * 1000 >= (total - shared) * share.
        let least = (total * share).div_ceil(1000 + share);
        Ok(match overlap_of_at_least(a, b, least) {
            Some(shared) => Verdict::Same((shared as u64, (total - shared) as u64)),
            None => Verdict::Refused,
        })
    }

    fn reports_refusal(&self, _: u64, _: u64) -> bool {
        false
    }
}

/// The current rayon pool.
struct Pool;

impl Parallel for Pool {
    fn for_each<T: Send>(&self, items: &mut [T], work: impl Fn(&mut T) + Sync + Send) {
        items.par_iter_mut().for_each(work);
    }
}

fn refuse<T>(message: String) -> Result<T> {
    Err(Error::new(ErrorKind::Parameter, message))
}
