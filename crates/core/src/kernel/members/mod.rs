//! Membership of hashes in a small fixed set, such as stop words.
//!
//! The set is a table of 64-byte lines of eight hashes. The low bits of a hash determine its only
//! possible line, so a look-up is one cache line and no branch. About every other word of a text is
//! a stop word, which no processor predicts.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod dispatch;
mod scalar;
mod table;

pub use dispatch::Members;
pub use table::{BATCH, MemberTable};
