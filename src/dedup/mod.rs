//! Which copy stays?
//!
//! Documents stand in *keep order*: their rank in it is what they are called here, and the best
//! copy comes first ([`keep`]). What a sketch proposes, an exact comparison has to confirm, which
//! the caller supplies as a function of two ranks; nobody is removed unverified. [`star`] compares
//! every removed document with the very copy that stays; [`components`] follows chains.
//!
//! Documents may be more than memory holds: they come in *blocks* of consecutive ranks, each with
//! its index, and earlier blocks stream past later ones. Pairs are never stored beyond a batch.
//! Neither blocks, nor batches, nor threads change what is found.
//!
//! Deliberately absent: files, threads (the caller's [`Parallel`] has them), texts.

pub mod components;
mod documents;
mod gather;
mod judge;
pub mod keep;
pub mod naive;
mod parallel;
mod settle;
mod signature;
pub mod star;
mod sweep;
mod union_find;
mod verdict;

pub use documents::Documents;
pub use judge::Judge;
pub use parallel::{OneThread, Parallel};
pub use signature::Signatures;
pub use verdict::{Event, Fraction, Verdict};
