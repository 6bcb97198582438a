//! Minima of a set under random permutations, for MinHash.
//!
//! A permutation is approximated by the hash function h(x) = ⌊(a x mod 2^64) / 2^32⌋ + b mod 2^32,
//! with a random 64-bit a and a random 32-bit b for a 32-bit x: multiply-shift, with its offset
//! added after the shift. h(x) is uniform, and two different values collide with a probability of
//! at most 2^-31. The values are hashes already. Sources: Dietzfelbinger, "Universal Hashing and
//! k-Wise Independent Random Variables via Integer Arithmetic without Primes", STACS 1996; Broder,
//! "On the Resemblance and Containment of Documents", SEQUENCES 1997.
//!
//! A few permutations stay in registers during a pass over the whole set.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod group;
mod permutations;
mod scalar;

pub use permutations::Permutations;
