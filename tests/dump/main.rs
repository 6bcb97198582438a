//! Deduplication of whole dumps: the answer is that of the definition, however the documents are
//! split into files, formats, chunks and threads, and however often the run is interrupted.

#![allow(clippy::unwrap_used)]

mod against;
mod documents;
mod interruption;
mod marks;
mod oracle;
mod policies;
mod related;
mod resume;
mod same_answer;
mod setup;
mod skipped;
mod warnings;
mod written;
