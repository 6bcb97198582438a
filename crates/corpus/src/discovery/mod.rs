//! The search for input files: names, directories, patterns, lists and objects of servers.

mod companions;
pub mod discover;
mod file_filter;
mod identities;
pub(super) mod left_out;
mod lists;
pub(super) mod remote_files;
