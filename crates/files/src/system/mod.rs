//! What differs between operating systems. Everything else of the workspace asks for it here, and each
//! function says what it does where the system cannot do it.
//!
//! | | Linux | macOS |
//! |---|---|---|
//! | [`allocation`] | blocks of files are allocated before they are written | the file grows by zeros, or without blocks |
//! | [`guard`] | a mapped file that shrinks is an error of this file | the same |
//! | [`page_cache`] | what is in memory is not read ahead; tables take huge pages | the same; no huge pages |
//! | [`space`] | free space of a directory | the same |
//! | [`unnamed`] | an incomplete output has no name | it has a temporary name |
//! | [`usage`] | memory of the process, and memory that is free for it | unknown: defaults of the flags |
//! | [`writeback`] | large outputs are written to the disk while they grow | at their end |

pub mod allocation;
pub mod guard;
pub mod page_cache;
pub mod space;
pub mod unnamed;
pub mod usage;
pub mod writeback;
