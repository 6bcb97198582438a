//! The files that simtool reads and writes.
//!
//! Internal to simtool, without a promise of stability; `simtool` is the library for users.
//!
//! | module | question |
//! |---|---|
//! | [`corpus`] | Where do documents come from? |
//! | [`io`] | Which bytes can be trusted? |

pub mod corpus;
pub mod io;

use simtool_core::{Error, ErrorKind, Result};
