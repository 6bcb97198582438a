//! The main job, `simtool N M`: the articles near each sample.
//!
//! The *features* are the N most frequent words of the articles that are not stop words. Feature i
//! has row i of a table of random bits. Each page gets the [SimHash](simtool_core::sketch::simhash) of its
//! features, M bits. For each sample, the articles within a Hamming distance are listed. [`MainJob`]
//! determines every byte of the result; [`Resources`](simtool_engine::Resources) affect only the time.
//! *Kept words* are words that the first reading keeps in memory for the fingerprints.
//!
//! ```text
//! articles ─► count ─► rank ─► features ─► fingerprints ─┐
//!                └─ kept words ───────────────┘           ├─► search ─► blocks, in sample order
//! samples ─────────────────────────────────► fingerprints┘
//! ```
//!
//! ```
//! use simtool_core::kernel::Level;
//! use simtool_batch::main_job::{MainJobInputs, MainJob};
//! use simtool_engine::{Progress, Resources};
//!
//! // Pages are separated by form feeds; the first line of a page is its ID.
//! let articles = b"cats\nThe cat sees a cat and a bird.\x0cdogs\nA dog chases the bird.";
//! let samples = b"new\nA cat, the cat, one bird.";
//!
//! let inputs = MainJobInputs {
//!     articles: vec![articles],
//!     samples: vec![samples],
//!     stop_words: b"a and the",
//!     // The features are bird, cat (twice each) and chases (once, the first in the alphabet).
//!     hash_table: b"11110000\n11001100\n10101010\n",
//! };
//! let resources = Resources {
//!     threads: 2,
//!     memory_bytes: Resources::least_memory_bytes(2),
//!     temporary: std::env::temp_dir(),
//!     level: Level::best(),
//! };
//!
//! let mut result = Vec::new();
//! let summary = MainJob::new(3, 8, 3)?.run(&inputs, &resources, &Progress::new(), &mut |bytes| {
//!     result.extend_from_slice(bytes);
//!     Ok(())
//! })?;
//!
//! assert_eq!(String::from_utf8_lossy(&result), "new\n0:cats \n");
//! assert_eq!((summary.articles, summary.matches), (2, 1));
//! # Ok::<(), simtool_core::Error>(())
//! ```
//!
//! [`Input`](simtool_files::Input) reads files, and [`AtomicFile`](simtool_files::AtomicFile) writes them.

mod blocks;
mod count;
mod fingerprints;
mod guess;
mod job;
mod kept;
mod rank;
mod search;
mod sorted_counts;
mod stop_terms;
mod units;

pub use blocks::Sink;
pub use job::{MainJob, MainJobInputs, MainJobSummary};
pub use rank::RankingEvidence;
