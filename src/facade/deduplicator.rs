//! Deduplication of texts in memory.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use rayon::slice::ParallelSlice;

use super::similarity::Similarity;
use super::words::{shingle_width, word_reader};
use crate::dedup::star::Star;
use crate::dedup::{Event, Judge, Sets, Verdict};
use crate::engine::methods::{Common, build_without_statistics};
use crate::jobs::dedup::{
    DEFAULT_METHOD, DEFAULT_THOUSANDTHS, EXACT, MOST_SHINGLE, NORMALIZED, Pool, Verification,
    build_index, have_neighbours, spec_for_verification,
};
use crate::kernel::Level;
use crate::sketch::registry::Spec;
use crate::sketch::{Method, Needs, SketchList, digest};
use crate::text::{Choice, LeastSimilarity, builtin_stop_words};
use crate::{Error, ErrorKind, Result};

/// Documents that a thread takes at a time.
const CHUNK: usize = 256;

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
/// As in `simtool dedup`, the first copy is kept, and each document that is dropped was compared
/// with the very document that is kept. Texts that are too short for the method are duplicates only
/// if they have the same words in the same order. Texts without words are never duplicates; with
/// the methods `exact` and `normalized`, `simtool dedup` drops repetitions of these too.
///
/// ```
/// use simtool::Deduplicator;
///
/// let documents = ["one two three four five six seven eight", "something else"];
/// let duplicates = Deduplicator::new().similarity(0.9)?.method("simhash")?.run(documents)?;
/// assert!(duplicates.is_empty());
/// # Ok::<(), simtool::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Deduplicator {
    method: String,
    /// The set values.
    thousandths: Option<u32>,
    shingle: Option<usize>,
}

/// Finds duplicates with the defaults of `simtool dedup`.
///
/// Returns the documents that repeat an earlier one, in their order. The answer does not depend on
/// the number of threads. [`Deduplicator`] has settings.
///
/// # Errors
/// Errors of [`Deduplicator::run`].
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
    /// The defaults: MinHash proposes pairs, and they are duplicates from a similarity of 0.8.
    pub fn new() -> Deduplicator {
        Deduplicator {
            method: DEFAULT_METHOD.to_owned(),
            thousandths: None,
            shingle: None,
        }
    }

    /// Sets the least similarity of duplicates: from 0.001 to 1, after rounding to the nearest
    /// thousandth. A pair of exactly this similarity is a duplicate.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for any other number.
    pub fn similarity(mut self, least: f64) -> Result<Deduplicator> {
        let thousandths = (least * 1000.0).round();
        if !(1.0..=1000.0).contains(&thousandths) {
            return refuse(format!("similarity {least}: expected 0.001 to 1"));
        }
        self.thousandths = Some(thousandths as u32);
        Ok(self)
    }

    /// Sets the number of words in a shingle: 1 to 100, and 5 if it is not set.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for any other number.
    pub fn shingle(mut self, words: usize) -> Result<Deduplicator> {
        if !(1..=MOST_SHINGLE).contains(&words) {
            return refuse(format!("shingle {words}: expected 1 to {MOST_SHINGLE}"));
        }
        self.shingle = Some(words);
        Ok(self)
    }

    /// Sets the method that proposes pairs, as in `simtool dedup --method`: `simhash`,
    /// `minhash:recall=0.99`. `simtool methods` lists them.
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

    /// Finds documents that repeat an earlier one, in their order.
    ///
    /// Every pair is at least as similar as [set](Self::similarity). Pairs that the method does not
    /// propose are missed: the default method, `minhash`, proposes at least 99 % of the pairs of the
    /// set similarity, and more of those with a larger one.
    ///
    /// Runs on the current rayon pool; the answer does not depend on its threads. Memory: the
    /// documents; for each, two digests of 16 bytes, its sketch (208 bytes with the default method)
    /// and entries in a table of digests and an index of sketches; and eight bytes for each shingle
    /// of those that are near another one.
    ///
    /// Measured for 100 000 texts of 100 random words, on two threads of a busy machine: with
    /// `minhash:recall=0.95` 8 to 11 µs for each text, and 900 bytes beside the text; with `simhash` 2
    /// to 4 µs and 240 to 270 bytes.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for more than 2³² - 1 documents, for parameters that contradict each
    /// other, and for a similarity or a shingle that was set for `exact` or `normalized`, which
    /// find equal documents only; [`ErrorKind::Memory`] if the index of sketches does not fit.
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
        let thousandths = self.thousandths.unwrap_or(DEFAULT_THOUSANDTHS);
        let verification = Verification {
            shingle: self.shingle.unwrap_or_else(shingle_width),
            least: LeastSimilarity::resemblance(thousandths),
        };
        let spec = spec_for_verification(&self.method, verification)?;
        let method = &*build_without_statistics(&spec, common)?;
        let only_equal = [EXACT, NORMALIZED].contains(&method.name());
        if only_equal {
            self.refuse_idle_settings(method.name())?;
        }
        let (read, sketches) = read(&documents, method);
        let groups = Groups::of(&read, &sketches, method);
        let near = match only_equal {
            true => HashMap::new(),
            false => near(&documents, &groups, method, verification)?,
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

    /// Fails if a setting is set that `method`, which finds equal documents only, does not use.
    fn refuse_idle_settings(&self, method: &str) -> Result<()> {
        let idle = [
            ("similarity", self.thousandths.is_some()),
            ("shingle", self.shingle.is_some()),
        ];
        match idle.iter().find(|(_, is_set)| *is_set) {
            Some((name, _)) => refuse(format!(
                "{name}: has no effect with method {method}, which finds equal documents only"
            )),
            None => Ok(()),
        }
    }
}

/// The leaders of `groups` that repeat an earlier one, by number.
fn near<T: AsRef<[u8]> + Sync>(
    documents: &[T],
    groups: &Groups,
    method: &dyn Method,
    verification: Verification,
) -> Result<HashMap<usize, Duplicate>> {
    let all = groups.sketches.all(method);
    let index = build_index(method, all, Level::best())?;
    let is_near = have_neighbours(&index, 0, all, 0);
    drop(index);
    let mut sketches = SketchList::new(method);
    let mut numbers = Vec::new();
    let all = groups.leaders.iter().zip(all.iter());
    for ((&number, sketch), _) in all.zip(is_near).filter(|(_, is_near)| *is_near) {
        numbers.push(number);
        sketches.push(sketch);
    }
    let reader = || word_reader(Needs::HASHES);
    let sets = numbers.par_iter().map_init(reader, |reader, &number| {
        let mut words = reader.read(documents[number].as_ref());
        words.shingle_set(verification.shingle).to_vec()
    });
    let judge = SetJudge {
        sets: sets.collect(),
        least: verification.least,
    };
    let index = build_index(method, sketches.all(method), Level::best())?;
    let mut star = Star::new(index, 0, &[]);
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
/// A document after it was read, without its sketch.
struct ReadDocument {
    text_digest: u128,
    words_digest: u128,
    /// The number of words.
    words: usize,
    /// Whether the method found features in it.
    has_features: bool,
}

/// Reads and sketches all documents.
fn read<T: AsRef<[u8]> + Sync>(
    documents: &[T],
    method: &dyn Method,
) -> (Vec<ReadDocument>, SketchList) {
    let reader = || word_reader(method.needs().and(Needs::HASHES));
    let parts = documents
        .par_chunks(CHUNK)
        .map_init(reader, |reader, part| {
            let mut sketches = SketchList::new(method);
            let read = part.iter().map(|document| {
                let text = document.as_ref();
                let mut words = reader.read(text);
                ReadDocument {
                    text_digest: digest::of_text(text),
                    words_digest: digest::of_words(words.hashes()),
                    words: words.hashes().len(),
                    has_features: sketches.push_with(|bytes| words.sketch(method, bytes)),
                }
            });
            (read.collect::<Vec<_>>(), sketches)
        });
    let (mut all, mut sketches) = (Vec::new(), SketchList::new(method));
    for (read, more) in parts.collect::<Vec<_>>() {
        all.extend(read);
        sketches.append(&more);
    }
    (all, sketches)
}

/// Groups of documents with the same words, or with the same bytes if the method is `exact`. The
/// first document of a group is its leader, the others are its followers.
struct Groups {
    followers: Vec<Duplicate>,
    /// The leaders that are long enough for the method, and their sketches.
    leaders: Vec<usize>,
    sketches: SketchList,
}

impl Groups {
    fn of(documents: &[ReadDocument], sketches: &SketchList, method: &dyn Method) -> Groups {
        let mut groups = Groups {
            followers: Vec::new(),
            leaders: Vec::new(),
            sketches: SketchList::new(method),
        };
        let sketches = sketches.all(method);
        let mut first_with = HashMap::new();
        for (document, read) in documents.iter().enumerate() {
            if read.words == 0 {
                continue;
            }
            let digest = match method.name() {
                EXACT => read.text_digest,
                _ => read.words_digest,
            };
            match first_with.entry(digest) {
                Entry::Occupied(first) => {
                    let &kept: &usize = first.get();
                    let is_same_text = documents[kept].text_digest == read.text_digest;
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
                    if read.words >= method.least_words() && read.has_features {
                        groups.leaders.push(document);
                        groups.sketches.push(sketches.get(document));
                    }
                }
            }
        }
        groups
    }
}

/// The shingle sets of the leaders that have neighbours, compared exactly.
struct SetJudge {
    sets: Vec<Vec<u64>>,
    least: LeastSimilarity,
}

impl Judge for SetJudge {
    fn verify(&self, earlier: u64, later: u64) -> Result<Verdict> {
        let (a, b) = (&self.sets[earlier as usize], &self.sets[later as usize]);
        let similarity = self.least.reached(a, b);
        Ok(similarity.map_or(Verdict::Refused, Verdict::Same))
    }

    fn reports_refusals(&self) -> bool {
        false
    }

    fn sets(&self) -> Option<&dyn Sets> {
        (!self.least.is_containment()).then_some(self)
    }
}

impl Sets for SetJudge {
    fn read(&self, rank: u64, set: &mut Vec<u64>) -> Result<()> {
        set.clone_from(&self.sets[rank as usize]);
        Ok(())
    }

    fn least(&self) -> LeastSimilarity {
        self.least
    }

    fn index_bytes(&self) -> usize {
        usize::MAX
    }
}

fn refuse<T>(message: String) -> Result<T> {
    Err(Error::new(ErrorKind::Parameter, message))
}
