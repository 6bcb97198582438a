//! Membership of hashes in a small fixed set, such as stop words.
//!
//! The set is a table of 64-byte lines of eight hashes. The low bits of a hash determine its only
//! possible line, so a look-up is one cache line and no branch. About every other word of a text is
//! a stop word, which no processor predicts.
//!
//! There is no kernel for NEON. The compiler uses it for the plain code, which takes 24.4
//! instructions for each hash, and no branch depends on it. Comparisons written by hand took 25.4.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod dispatch;
mod scalar;
mod table;

pub use dispatch::Members;
pub use table::{BATCH, MemberTable};
