//! What does a crawl dump look like whose every duplicate is known?
//!
//! A seeded generator of the main job's inputs, of any size, with planted near-duplicates and the
//! list of them. A page passes through these files from left to right:
//!
//! ```text
//! plan ──► compose ──► edit ──► page ──► files
//! which     words by    planted   text     article.txt, sample.txt, truth.tsv,
//! copies    rank        changes            stopwords.txt, hashvalue.txt
//! which?    (zipf)          └──► truth: what was planted, and how alike it still is
//! ```
//!
//! Every page has its own random stream, so pages are made in parallel and in any order, and a
//! copy makes its origin once more instead of remembering it: memory does not grow with the
//! corpus. Only integers decide what is written, so the same [`Settings`] give the same bytes on
//! any machine and with any number of threads.
//!
//! With the default settings the text follows the counts of a natural corpus of English pages:
//! a Zipf law with Mandelbrot's shift, 0.5 % of the words over 12 letters, page
//! lengths spread over more than a factor of twenty, and words that return within a page more
//! often than between pages.

mod compose;
mod corpus;
mod directory;
mod edit;
mod english;
mod function_words;
mod hanzi;
mod lexicon;
mod millionths;
mod page;
mod plan;
mod random;
mod settings;
mod truth;
mod zipf;

pub use corpus::Corpus;
pub use directory::{Summary, write_directory, write_directory_while};
pub use millionths::Millionths;
pub use settings::{Extent, Language, Settings};
