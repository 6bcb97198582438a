//! Search keys of sketches.

use bytemuck::{Pod, Zeroable};

/// The bytes of the longest fingerprint that travels with its keys.
pub const LONGEST: usize = 16;

/// A document of a key.
pub trait Keyed: Pod + Ord + Send {
    /// Of these; the fingerprint has at most [`LONGEST`] bytes.
    fn of(key: i64, rank: i64, print: &[u8]) -> Self;
    /// The key and the rank.
    fn place(&self) -> (i64, i64);
    /// The fingerprint, if it travels; the bytes after it are zero.
    fn print(&self) -> Option<[u8; LONGEST]>;
}

/// One without its sketch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct Alone {
    key: i64,
    rank: i64,
}

/// One with its fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct WithPrint {
    key: i64,
    rank: i64,
    print: [u8; LONGEST],
}

impl Keyed for Alone {
    fn of(key: i64, rank: i64, _: &[u8]) -> Alone {
        Alone { key, rank }
    }

    fn place(&self) -> (i64, i64) {
        (self.key, self.rank)
    }

    fn print(&self) -> Option<[u8; LONGEST]> {
        None
    }
}

impl Keyed for WithPrint {
    fn of(key: i64, rank: i64, sketch: &[u8]) -> WithPrint {
        let mut print = [0; LONGEST];
        print[..sketch.len()].copy_from_slice(sketch);
        WithPrint { key, rank, print }
    }

    fn place(&self) -> (i64, i64) {
        (self.key, self.rank)
    }

    fn print(&self) -> Option<[u8; LONGEST]> {
        Some(self.print)
    }
}
