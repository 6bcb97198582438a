//! Near-duplicate texts in large crawl dumps: find them exactly, fast, in bounded memory.
//!
//! # The pipeline on one page
//!
//! ```text
//! inputs ─► corpus ─► text ─► vocabulary ─► sketch ─► search ─► report ─► result
//!  bytes     pages   windows   the N most   a finger-  what is   blocks
//!                    of words  frequent     print of   near
//!                              words        M bits
//! ```
//!
//! | module | question |
//! |---|---|
//! | [`corpus`] | Where do documents come from? |
//! | [`text`] | What is a word? |
//! | [`vocabulary`] | Which words count? |
//! | [`sketch`] | What is a document's essence? |
//! | [`search`] | Who is near whom? |
//! | [`dedup`] | Which copy stays? |
//! | `index` | Has this been seen? |
//! | [`evaluate`] | How good is it? |
//! | [`evaluate`] | How good is it? |
//! | [`report`] | What do people see? |
//! | [`run`] | How does the work run? |
//! | [`kernel`] | What must be fast? |
//! | [`io`] | Which bytes can be trusted? |
//!
//! The main job goes the whole way: the N most frequent words of the articles that are no stop
//! words are the *features*; feature i has row i of a table of random bits; each page gets the
//! [SimHash](sketch::simhash) of its features; for each sample, the articles within a Hamming
//! distance are listed. [`Job`](run::matching::Job) decides every byte of the result;
//! [`Resources`](run::Resources) decide how long it takes.
//!
//! ```
//! use simtool::kernel::Level;
//! use simtool::run::matching::{Inputs, Job};
//! use simtool::run::{Progress, Resources};
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
//! Files, rather than bytes, come through [`io::Input`] and leave through [`io::AtomicFile`].
//! [`search::hamming`] serves fingerprints from anywhere. [`corpus::synthetic`] makes corpora whose
//! near-duplicates are known.
//!
//! The library never prints, exits, reads the environment, or handles signals; the one handler it
//! has, the [truncation guard](io::guard), is installed by whoever owns the process.

pub mod corpus;
pub mod dedup;
pub mod error;
pub mod evaluate;
#[cfg(feature = "index")]
pub mod index;
pub mod io;
pub mod kernel;
pub mod report;
pub mod run;
pub mod search;
pub mod sketch;
pub mod text;
pub mod vocabulary;

pub use error::{Error, ErrorKind, Result};

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
