//! A seeded generator of corpora with planted near-duplicates.
//!
//! It writes the inputs of `simtool N M`, of any size, and the list of near-duplicates. A page
//! passes through these files from left to right:
//!
//! ```text
//! plan ──► compose ──► edit ──► page ──► files
//! which     words by    planted   text     article.txt, sample.txt, truth.tsv,
//! pages     rank        changes            stopwords.txt, hashvalue.txt
//! repeat    (zipf)          └──► truth: the planted pairs and their similarity
//! ```
//!
//! Every page has its own random stream, so pages are generated in parallel and in any order. A copy
//! generates its origin again instead of storing it, so memory does not grow with the corpus. Only
//! integers determine the output, so the same [`CorpusSettings`] give the same bytes on any machine
//! and with any number of threads.
//!
//! With the default settings, the text has the statistics of a natural corpus of English pages: a
//! Zipf law with Mandelbrot's shift, 0.5 % of the words longer than 12 letters, page lengths that vary
//! by more than a factor of twenty, and words that recur more often within a page than in others.

mod compose;
mod corpus;
mod directory;
mod edit;
mod lexicon;
mod millionths;
mod page;
mod plan;
mod random;
mod settings;
mod truth;
mod words;

pub use corpus::Corpus;
pub use directory::{CorpusSummary, write_directory, write_directory_while};
pub use millionths::Millionths;
pub use settings::{CorpusSettings, Extent, Language};
