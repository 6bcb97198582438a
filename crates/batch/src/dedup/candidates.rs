//! How many others a sketch is compared with, for methods that no join decides.
//!
//! An index finds the sketches that share a key or a feature with a query, or have a similar outline,
//! and compares each of them. If these are a part of all sketches, the time of all queries grows
//! with the square of their number. A sample shows this part.

use crate::Result;
use simtool_core::search::join::{NearQuery, Scratch};
use simtool_core::sketch::{Method, Sketches};
use simtool_engine::Resources;
use simtool_files::usage::thread_time;

use super::neighbours::build_index;

/// The queries that are made.
const QUERIES: usize = 256;
/// With fewer candidates for a query, most of its time is not for comparisons.
const LEAST_CANDIDATES: f64 = 16.0;

/// The candidates of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Candidates {
    /// The number of candidates, as a part of all sketches.
    pub share: f64,
    /// Seconds of one thread to compare a query with a candidate, or an upper bound.
    pub seconds: f64,
}

impl Candidates {
    /// The candidates of queries with some of `sketches` among all of them, in the current rayon pool.
    ///
    /// # Errors
    /// Errors of the index.
    pub fn measure(
        sketches: Sketches<'_>,
        method: &dyn Method,
        resources: &Resources,
    ) -> Result<Candidates> {
        let count = sketches.count();
        let index = build_index(method, sketches, resources.level)?;
        let every = count.div_ceil(QUERIES).max(1);
        let queries: Vec<NearQuery<'_>> = sketches
            .iter()
            .step_by(every)
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
        let asked = queries.len().max(1) as f64;
        // Near ones are not accidental: a larger collection has no more of them.
        let compared = scratch.compared().saturating_sub(found as u64) as f64 / asked;
        Ok(Candidates {
            share: compared / count.max(1) as f64,
            seconds: seconds / asked / compared.max(LEAST_CANDIDATES),
        })
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

    fn measured(method: &str) -> Candidates {
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
        Candidates::measure(list.all(&*method), &*method, &resources).unwrap()
    }

    #[test]
    fn methods_of_common_features_compare_all_documents_and_others_none() {
        // Those that are near count as no candidates.
        let all = measured("character-codes:similarity=0.999");
        assert!(all.share > 0.5 && all.seconds > 0.0, "{all:?}");
        for method in ["minhash", "super-shingles", "shingles"] {
            let none = measured(method);
            assert!(none.share < 0.01, "{method}: {none:?}");
        }
    }
}
