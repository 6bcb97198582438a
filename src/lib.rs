//! Near-duplicate texts in large crawl dumps: find them exactly, fast, in bounded memory.

pub mod corpus;
pub mod error;
pub mod io;
pub mod kernel;
pub mod report;
pub mod run;
pub mod search;
pub mod sketch;
pub mod text;
pub mod vocabulary;

pub use error::{Error, ErrorKind, Result};
