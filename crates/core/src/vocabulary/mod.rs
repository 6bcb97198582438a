//! The vocabulary: word counts, and the ranking of the most frequent words.
//!
//! ```text
//! sample ─► Lexicon (likely words, in cache) ─► Counter: a count for each, a bound for the rest
//!                                                  │
//!            Ranking::suspects ◄────────────────────┘
//!              ├─ none: no word outside the lexicon can be among the first N
//!              └─ some: count the words in suspect buckets exactly (ExactCounter; if they
//!                 are too many, the caller sorts them), from kept misses or a second reading,
//!                 then rank again
//! ```
//! [`Frequencies`] are the counts of a collection that methods other than the main job's use.
//! [`SubLexicons`] are random subsets of the vocabulary for some of them.
//!
//! Deliberately absent: files, threads, documents. Every counter belongs to one thread. Counters
//! merge by addition, so that any split of the text gives the same ranking.

mod counter;
mod exact;
mod frequencies;
mod lexicon;
mod ranking;
mod sample;
mod sub_lexicons;
mod term;

pub use counter::{Buckets, Counter, bucket_of_key};
pub use exact::ExactCounter;
pub use frequencies::Frequencies;
pub use lexicon::{Lexicon, Lookup};
pub use ranking::{RankedWord, Ranking, Suspects};
pub use sample::SampleCounter;
pub use sub_lexicons::SubLexicons;
pub use term::Term;
