//! Search for near-duplicate texts in large crawl dumps, in bounded memory.
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
//! A word is a run of letters and digits; in scripts without spaces between words, as Chinese or
//! Thai, and in Korean, it is a character. Words are compared in folded form: upper and lower case,
//! compatibility forms such as full-width letters, composed and decomposed accents, soft hyphens and
//! hyphens at line ends do not count. Texts are bytes, and bytes that are not UTF-8 separate words.
//!
//! Texts without words have similarity 0 with every text, also with themselves, and are never
//! duplicates.
//!
//! # Features
//!
//! With `default-features = false` the library needs no command line, no HTTP and no asynchronous
//! runtime. The features `index` and `parquet` add the index and Parquet. `examples/` has three
//! small programs.
//!
//! # Stored fingerprints
//!
//! [`simhash`] and [`minhash`] give the same numbers on every machine, for any number of threads
//! and any instruction set. A test compares those of a text with stored values. A version with
//! other numbers will have a new major version number (before 1.0, a new minor one).
//!
//! The functions and types at the root of this crate follow semantic versioning. The modules below
//! are public only for the program and its tests, and may change in any version.
//!
//! The library never prints, exits or reads the environment, except for the command line, `program`,
//! which the feature `cli` adds. Two functions change how signals are handled, and only the command
//! calls them: [`io::guard::install`] and [`io::output::outlive_file_size_limit`].
//!
//! # Modules
//!
//! ```text
//! inputs ─► corpus ─► text ─► vocabulary ─► sketch ─► search ─► report ─► result
//!  bytes     pages   windows   the N most   finger-    near     blocks
//!                    of words  frequent     prints     pages
//!                              words        of M bits
//! ```
//!
//! | module | question | crate |
//! |---|---|---|
//! | [`corpus`] | Where do documents come from? | `simtool-corpus` |
//! | [`io`] | Which bytes can be trusted? | `simtool-files` |
//! | [`text`] | What is a word? | `simtool-core` |
//! | [`vocabulary`] | Which words count? | `simtool-core` |
//! | [`sketch`] | What represents a document? | `simtool-core` |
//! | [`search`] | Which documents are near? | `simtool-core` |
//! | [`mod@dedup`] | Which copy is kept? | `simtool-core` |
//! | [`kernel`] | What must be fast? | `simtool-core` |
//! | [`threads`] | Which thread can be started? | `simtool-core` |
//! | `index` | Has this been seen? | `simtool-index` |
//! | [`evaluate`] | How good is it? | `simtool-evaluate` |
//! | [`report`] | What do people see? | `simtool-report` |
//! | [`engine`] | Execution: units, threads, memory, progress | `simtool-engine` |
//! | [`jobs`] | [`simtool N M`](jobs::main_job), `match`, `dedup`, `lines`, `spans`, `decontaminate`, `explain`, look-up in an index | `simtool-batch` |
//! | [`lab`] | `evaluate`, `tune` | `simtool-lab` |
//! | `program` | The command line, with the feature `cli` | this one |

// `cli` uses the library as other crates do.
#[cfg(feature = "cli")]
extern crate self as simtool;

#[cfg(feature = "cli")]
mod cli;
mod facade;
#[cfg(feature = "cli")]
pub mod program;

#[doc(no_inline)]
pub use simtool_batch as jobs;
#[doc(no_inline)]
pub use simtool_core::{Error, ErrorKind, Result};
#[doc(no_inline)]
pub use simtool_core::{dedup, error, kernel, search, sketch, text, threads, vocabulary};
#[doc(no_inline)]
pub use simtool_corpus as corpus;
#[doc(no_inline)]
pub use simtool_engine as engine;
#[doc(no_inline)]
pub use simtool_evaluate as evaluate;
#[doc(no_inline)]
pub use simtool_files as io;
#[cfg(feature = "index")]
#[doc(no_inline)]
pub use simtool_index as index;
#[doc(no_inline)]
pub use simtool_lab as lab;
#[doc(no_inline)]
pub use simtool_report as report;

#[cfg(feature = "index")]
pub use facade::Index;
pub use facade::{
    Deduplicator, Duplicate, Evidence, MinHash, Similarity, dedup, hamming_distance, minhash,
    simhash, similarity,
};
#[cfg(feature = "index")]
pub use index::{Answer, Match, Verdict};
#[cfg(feature = "index")]
pub use sketch::Score;

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The examples of the page about the library are tests, too.
#[cfg(doctest)]
#[doc = include_str!("../docs/how-to/rust-library.md")]
struct RustLibrary;
