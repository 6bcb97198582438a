//! Lookup of word keys in a hash table of cache lines.
//!
//! The table is an array of 64-byte lines of eight keys. The hash of a key selects one line, and
//! the key is in that line or not in the table: one cache line per word and, with SIMD, no branch.
//! A key found is appended to one list as its *slot* (line × 8 + position in the line), one not
//! found to another list as itself. The caller counts them; a counter incremented here would make
//! each probe depend on the store before it. Keys to be dropped are in the first positions of a
//! line, so that their position identifies them.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod dispatch;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;
mod table;

pub use table::{KeyTable, LINE_KEYS, MAX_SLOTS, Probed, line_of};
