//! Self-join of fingerprints: every pair that differs in at most k bits, or the fingerprints that
//! are in such a pair.
//!
//! An index of tables answers a query by random accesses. A join asks all queries at once, so it
//! can bring fingerprints that may be near together instead, and compare them in the cache:
//!
//! 1. Equal fingerprints are found. All but the first of them are left out.
//! 2. The bits are divided into b > k disjoint blocks of about equal entropy. Near fingerprints
//!    agree in at least b - k of them.
//! 3. For each choice of b - k blocks, the fingerprints are divided into buckets of those that agree
//!    in the chosen blocks: by the first block, each bucket by the second, and so on. Choices that
//!    begin with the same blocks share these divisions, and all but the first division are in the
//!    cache.
//! 4. All pairs of a small bucket are compared, even if more blocks could be chosen. A large bucket
//!    whose blocks are all chosen is divided again, by new blocks of its other bits: pages of one
//!    template agree in many bits, and differ in those that no other fingerprints differ in.
//!
//! # Each pair once
//!
//! A bucket is reached by an ascending sequence of chosen blocks, the last of which is l. A pair
//! that is compared in it is reported if, of the blocks 0 to l, it agrees in the chosen ones and in
//! no other. If the blocks of the bucket were divided again, the same is required of each division.
//!
//! *Claim.* A pair within k bits is reported exactly once. *Proof.* Consider one division, and let Z
//! be the ascending sequence of blocks in which the pair agrees. Z has at least b - k blocks. Both
//! fingerprints are in the same bucket wherever the pair agrees in the chosen blocks (buckets may
//! also bring together others). A pair is reported in a bucket only if the sequence chosen is a
//! prefix of Z: it consists of all blocks of Z up to l. Every prefix of Z of at most b - k
//! blocks is a choice that is visited: after j blocks, each block is tried that leaves at least
//! b - k - j - 1 later ones, and the next block of Z does. So starting with the empty prefix, both
//! fingerprints are in the same bucket of exactly one prefix of each length, until that bucket is
//! small or has b - k blocks. There the pair is compared. Whether a bucket is divided
//! further depends on the bucket alone, and so only this one of the prefixes of Z is compared. If
//! the bucket is divided again, by blocks of the bits in no chosen block, the pair still differs
//! in at most k of these, and the argument applies to the new division. ∎
//!
//! Where only *any* neighbour is asked for, nothing needs to be reported once, and fingerprints are
//! compared until they have one.
//!
//! # Memory
//!
//! The fingerprints are read once for each block that may be first, and copied into two arrays. If
//! they do not fit, only a range of the buckets of the first block is copied at a time, and the
//! fingerprints are read once for each range. A single bucket that does not fit is divided by the
//! next block in the same way. So the source may be a file.

mod buffers;
mod compare;
mod context;
mod fold;
mod join;
mod marks;
mod path;
mod plan;
mod reader;
mod source;
mod walker;

#[cfg(test)]
mod tests;

pub use join::SelfJoin;
pub use marks::Marks;
pub use source::{Near, Source, Watch};
