//! What simtool computes, without files, clock or printing: bytes in, numbers out. Beside that, the
//! errors and the start of threads of all crates.
//!
//! Internal to simtool, without a promise of stability; `simtool` is the library for users.
//!
//! | module | question |
//! |---|---|
//! | [`text`] | What is a word? |
//! | [`vocabulary`] | Which words count? |
//! | [`sketch`] | What represents a document? |
//! | [`search`] | Which documents are near? |
//! | [`dedup`] | Which copy is kept? |
//! | [`kernel`] | What must be fast? |
//! | [`threads`] | Which thread can be started? |

pub mod dedup;
pub mod error;
pub mod kernel;
pub mod search;
pub mod sketch;
pub mod text;
pub mod threads;
pub mod vocabulary;

pub use error::{Error, ErrorKind, Result};
