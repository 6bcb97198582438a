//! The time to find the documents that have a near one, measured on the sketches of a sample.
//!
//! An index finds the sketches that share a key or a feature with a query, or have a similar outline,
//! and compares each of them. If these are a part of all sketches, the time of all queries grows
//! with the square of their number. A sample shows this part.

use crate::Result;
use simtool_core::search::join::{AnyQuery, NearQuery, Scratch, SketchJoin};
use simtool_core::sketch::{Method, Sketches};
use simtool_engine::{Resources, Workers};
use simtool_files::usage::thread_time;

use crate::dedup::near::neighbours::build_index;

/// The maximum number of sketches of the sample that are compared.
const COMPARED: usize = 1 << 14;
/// The number of queries that show how many sketches each is compared with.
const QUERIES: usize = 256;
/// With fewer candidates for a query, most of its time is not for comparisons.
const MIN_CANDIDATES: f64 = 16.0;
/// Marking takes long if it takes this many seconds.
const LONG: f64 = 60.0;

/// The time of the search for near documents.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MarkingRate {
    /// Seconds of one thread for each document.
    pub seconds: f64,
    /// The part of these for comparisons.
    comparing: f64,
    /// The number of documents with which each is compared.
    compared: f64,
}

impl MarkingRate {
    /// Compares `sketches` of a sample with each other, as of `documents` documents.
    ///
    /// # Errors
    /// Errors of the index.
    pub fn measure(
        sketches: Sketches<'_>,
        documents: u64,
        method: &dyn Method,
        resources: &Resources,
    ) -> Result<MarkingRate> {
        let count = sketches.count().min(COMPARED);
        if count == 0 {
            return Ok(MarkingRate::default());
        }
        let sketches = sketches.range(0..count);
        // The index is built in the pool of one thread, so the time of the calling thread is the
        // time of all work.
        Workers::new(1)?.install(|| {
            let before = thread_time();
            let index = build_index(method, sketches, resources.level)?;
            let queries: Vec<AnyQuery<'_>> = (0..)
                .zip(sketches.iter())
                .map(|(position, sketch)| AnyQuery {
                    sketch,
                    except: Some(position),
                })
                .collect();
            let mut scratch = Scratch::default();
            index.any_near_batch(&queries, &mut scratch, |_, _| {});
            let query = thread_time().saturating_sub(before).as_secs_f64() / count as f64;
            if SketchJoin::of(method).is_some_and(SketchJoin::decides) {
                return Ok(MarkingRate {
                    seconds: query,
                    ..MarkingRate::default()
                });
            }
            let queries: Vec<NearQuery<'_>> = sketches
                .iter()
                .step_by(count.div_ceil(QUERIES))
                .map(|sketch| NearQuery {
                    sketch,
                    within: 0..count as u32,
                    limit: usize::MAX,
                })
                .collect();
            let (mut scratch, mut found) = (Scratch::default(), 0);
            let before = thread_time();
            index.near_batch(&queries, &mut scratch, |_, near, _| found += near.len());
            let seconds = thread_time().saturating_sub(before).as_secs_f64();
            let asked = queries.len() as f64;
            // Near ones are not accidental: a larger collection has no more of them.
            let candidates = scratch.compared().saturating_sub(found as u64) as f64 / asked;
            let growth = documents as f64 / count as f64;
            let comparing = seconds / asked * candidates / candidates.max(MIN_CANDIDATES) * growth;
            Ok(MarkingRate {
                // The queries of the sample compare those in it.
                seconds: query + comparing * (1.0 - 1.0 / growth.max(1.0)),
                comparing,
                compared: candidates * growth,
            })
        })
    }

    /// The number of documents with which each is compared, if that takes most of a long time.
    pub fn many(&self, documents: u64, threads: f64) -> Option<u64> {
        let is_long = self.seconds * documents as f64 / threads > LONG;
        (is_long && 2.0 * self.comparing > self.seconds).then_some(self.compared as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_core::kernel::Level;
    use simtool_core::sketch::registry::Spec;
    use simtool_core::sketch::{SketchList, SketchScratch, TokenizedDocument};
    use simtool_core::text::{Choice, Tokenizer, WordHashes, WordSet};
    use simtool_engine::methods::{Common, build_without_statistics};

    fn measured(method: &str) -> MarkingRate {
        let common = Common {
            tokenizer: Choice::default(),
            stop_words: &WordSet::default(),
            level: Level::best(),
        };
        let method = build_without_statistics(&Spec::parse(method).unwrap(), common).unwrap();
        let mut tokenizer = Tokenizer::new(Choice::default(), Level::best());
        let mut words = WordHashes::default();
        let mut list = SketchList::new(&*method);
        for number in 0..1000u64 {
            // No words in common, but the same letters.
            let word = |place: u64| format!("w{}", (number * 31 + place).wrapping_mul(0x9e37_79b9));
            let text: Vec<String> = (0..31).map(word).collect();
            let text = text.join(" ");
            tokenizer.hash_words(text.as_bytes(), true, &mut words);
            let document = TokenizedDocument {
                text: text.as_bytes(),
                short: &words.short,
                long: &words.long,
                ..TokenizedDocument::default()
            };
            let mut sketch = Vec::new();
            assert!(method.sketch(document, &mut SketchScratch::default(), &mut sketch));
            list.push(&sketch);
        }
        let resources = Resources {
            threads: 1,
            memory_bytes: 1 << 30,
            temporary: "/tmp".into(),
            level: Level::best(),
        };
        MarkingRate::measure(list.all(&*method), 1000, &*method, &resources).unwrap()
    }

    /// Promise (Deduplication): A method that compares each document with a part of all others is
    /// measured on a sample, and warned of before the run
    #[test]
    fn methods_of_common_features_compare_all_documents_and_others_none() {
        // Those that are near count as no candidates.
        let all = measured("character-codes:similarity=0.999");
        assert!(all.compared > 500.0 && all.seconds > 0.0, "{all:?}");
        for method in ["minhash", "super-shingles", "shingles"] {
            let none = measured(method);
            assert!(
                none.compared < 10.0 && none.seconds > 0.0,
                "{method}: {none:?}"
            );
        }
    }
}
