//! Runs of word bytes: their spans and hashes in a window of text.
//!
//! A *run* is a maximal sequence of the bytes of a [`Class`], with ASCII letters folded to lower
//! case. The hash of a run is the XXH3-64 of its bytes. A run is *apart* if it has more than
//! [`HASHED_BYTES`] bytes, or a byte that is not an ASCII letter or digit. Such a run is listed,
//! and the caller hashes it, perhaps after splitting it.
//!
//! Source of the hash: Collet, the XXH3 section of the xxHash specification, inputs of up to 16
//! bytes. Source of the block step: see [`words`](super::words).

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod dispatch;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;
mod window;

pub use window::{Class, HASHED_BYTES, Runs, WINDOW_BYTES};
