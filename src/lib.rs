//! Near-duplicate texts in large crawl dumps: find them exactly, fast, in bounded memory.
//!
//! # Texts in memory
//!
//! [`simhash`] and [`minhash`] make fingerprints, [`similarity`] compares two texts exactly,
//! [`dedup()`] says which texts repeat which, and [`Index`] remembers texts on disk:
//!
//! ```
//! let pages = [
//!     "A cat sat on the mat while a dog slept in the sun behind the house",
//!     "Something else entirely",
//!     "a cat sat on the mat, while a dog slept in the sun behind the house!",
//! ];
//! let duplicates = simtool::dedup(pages)?;
//! assert_eq!((duplicates[0].document, duplicates[0].kept), (2, 0));
//! # Ok::<(), simtool::Error>(())
//! ```
//!
//! With `default-features = false` the library needs no command line, no HTTP and no asynchronous
//! runtime. The features `index`, `html`, `zh` and `parquet` add the index, the main text of HTML,
//! Chinese words and Parquet. The modules below are what the program is made of; they have no
//! promise of stability. `examples/` has three small programs.
//!
//! # The pipeline on one page
//!
//! ```text
//! inputs ─► corpus ─► text ─► vocabulary ─► sketch ─► search ─► report ─► result
//!  bytes     pages   windows   the N most   finger-    near     blocks
//!                    of words  frequent     prints     pages
//!                              words        of M bits
//! ```
//!
//! | module | question |
//! |---|---|
//! | [`corpus`] | Where do documents come from? |
//! | [`text`] | What is a word? |
//! | [`vocabulary`] | Which words count? |
//! | [`sketch`] | What represents a document? |
//! | [`search`] | Which documents are near? |
//! | [`mod@dedup`] | Which copy is kept? |
//! | `index` | Has this been seen? |
//! | [`evaluate`] | How good is it? |
//! | [`report`] | What do people see? |
//! | [`engine`] | Execution: units, threads, memory, progress |
//! | [`jobs`] | The main job, `match`, `dedup`, `evaluate`, `explain`, look-up in an index |
//! | [`kernel`] | What must be fast? |
//! | [`io`] | Which bytes can be trusted? |
//!
//! In the main job, the *features* are the N most frequent words of the articles that are not stop
//! words. Feature i has row i of a table of random bits. Each page gets the
//! [SimHash](sketch::simhash) of its features. For each sample, the articles within a Hamming
//! distance are listed. [`Job`](jobs::main_job::Job) determines every byte of the result;
//! [`Resources`](engine::Resources) affect only the time.
//!
//! ```
//! use simtool::kernel::Level;
//! use simtool::jobs::main_job::{Inputs, Job};
//! use simtool::engine::{Progress, Resources};
//!
//! // Pages are separated by form feeds; the first line of a page is its ID.
//! let articles = b"cats\nThe cat sees a cat and a bird.\x0cdogs\nA dog chases the bird.";
//! let samples = b"new\nA cat, the cat, one bird.";
//!
//! let inputs = Inputs {
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
//! let summary = Job::new(3, 8, 3)?.run(&inputs, &resources, &Progress::new(), &mut |bytes| {
//!     result.extend_from_slice(bytes);
//!     Ok(())
//! })?;
//!
//! assert_eq!(String::from_utf8_lossy(&result), "new\n0:cats \n");
//! assert_eq!((summary.articles, summary.matches), (2, 1));
//! # Ok::<(), simtool::Error>(())
//! ```
//!
//! For files, there are [`io::Input`] and [`io::AtomicFile`]. [`search::hamming`] searches
//! fingerprints of any origin. [`corpus::synthetic`] generates corpora with known near-duplicates.
//!
//! The library never prints, exits, reads the environment, or handles signals, with one exception:
//! the [truncation guard](io::guard), which the program installs.

pub mod corpus;
pub mod dedup;
pub mod engine;
pub mod error;
pub mod evaluate;
mod facade;
#[cfg(feature = "index")]
pub mod index;
pub mod io;
pub mod jobs;
pub mod kernel;
pub mod report;
pub mod search;
pub mod sketch;
pub mod text;
pub mod vocabulary;

pub use error::{Error, ErrorKind, Result};
#[cfg(feature = "index")]
pub use facade::Index;
pub use facade::{
    Deduplicator, Duplicate, Evidence, MinHash, Similarity, dedup, hamming_distance, minhash,
    simhash, similarity,
};
#[cfg(feature = "index")]
pub use index::{Answer, Match, Verdict};

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Those of the guide, too.
#[cfg(doctest)]
#[doc = include_str!("../docs/GUIDE.md")]
struct Guide;
