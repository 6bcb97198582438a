//! Words of ASCII letters: their spans and packed keys in a window of text.
//!
//! A *word* is a maximal run of ASCII letters, folded to lower case. The *key* of a word of at most
//! [`KEY_LETTERS`] letters has five bits per letter: `a` = 1 … `z` = 26. The first letter is in
//! bits 59..55, with zeros after the last. Equal words have equal keys, and the order of keys is
//! the alphabetical order of words, so the bytes of most words are not needed again. All longer
//! words have the key [`LONG`] and are listed separately.
//!
//! Source of the block step (classify 64 bytes into a bit mask, then find run borders with shifts):
//! Langdale and Lemire, "Parsing Gigabytes of JSON per Second", VLDB Journal 28, 2019.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod dispatch;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;
mod window;

pub use window::{KEY_LETTERS, LONG, WINDOW_BYTES, Words};
