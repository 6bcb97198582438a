//! What tasks tell each other about documents.

use bytemuck::{Pod, Zeroable};
use simtool_core::sketch::Score;
use simtool_corpus::Place;

/// The documents of a home have the ranks from `home << HOME_BITS` on.
const HOME_BITS: u32 = 40;

/// The rank of a document: those of smaller ones come first in keep order.
pub fn rank_of(home: usize, row: usize) -> i64 {
    ((home as i64) << HOME_BITS) + row as i64
}

/// The rank of a document of an index: negative, and made from the first document that is dropped for it,
/// in whose home it is.
pub fn known_rank(first: i64) -> i64 {
    !first
}

/// The home of a document.
pub fn home_of(rank: i64) -> usize {
    let rank = if rank < 0 { !rank } else { rank };
    (rank >> HOME_BITS) as usize
}

/// The row of a document in its home.
pub fn row_of(rank: i64) -> usize {
    (rank & ((1 << HOME_BITS) - 1)) as usize
}

macro_rules! record {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $kind:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
        #[repr(C)]
        pub struct $name { $($(#[$field_doc])* pub $field: $kind),* }
    };
}

record! {
    /// A document in its home.
    HomeRow {
        /// That of its words, combined with its group; the half that sorts first, and the other one.
        digest: [u64; 2],
        /// That of its text.
        text_digest: u64,
        /// What its group adds to digests, keys and shingles.
        mask: u64,
        /// Where its text is: the member, the offset, the length.
        place: [u64; 3],
        /// The file.
        source: u32,
        /// As of the rows of the command.
        flags: u32,
    }
}

impl HomeRow {
    /// Where its text is.
    pub fn place(&self) -> Place {
        let [member, offset, length] = self.place;
        Place::new(self.source, member, offset, length)
    }
}

record! {
    /// The first document of a home with some words.
    Words {
        /// Of its words.
        digest: [u64; 2],
        /// Its rank.
        rank: i64,
        /// The digest of its text.
        text: u64,
    }
}

record! {
    /// A document with the words of an earlier one.
    Verdict {
        /// The document.
        rank: i64,
        /// The first one with these words.
        leader: i64,
        /// The digest of its text.
        leader_text: u64,
    }
}

record! {
    /// A document of a home with the words of an earlier one of the same home.
    LocalFollower {
        /// The document.
        rank: i64,
        /// The first one of the home.
        leader: i64,
    }
}

record! {
    /// A document that is equal to a leader.
    Follower {
        /// The document.
        rank: i64,
        /// Its leader.
        leader: i64,
        /// Whether the texts are equal, too: 0 or 1.
        same_text: u64,
    }
}

record! {
    /// A home wants to know something of a document.
    Ask {
        /// The document.
        rank: i64,
        /// The home.
        home: u64,
    }
}

record! {
    /// A document that shares a key.
    Mark {
        /// The document.
        rank: i64,
        /// Whether more than a few share it: 0 or 1.
        crowded: u64,
    }
}

record! {
    /// A pair of documents.
    Pair {
        /// The later one.
        member: i64,
        /// The earlier one.
        earlier: i64,
        /// Whether the member may have pairs behind this one that are not known: 0 or 1.
        cut: u64,
    }
}

record! {
    /// Where the sketch and the set of a document are.
    Head {
        /// The document.
        rank: i64,
        /// The task in whose file they are.
        task: u64,
        /// Where they begin there.
        offset: u64,
        /// Their bytes.
        length: u32,
        /// Whether the document shares a key with more than a few: 0 or 1.
        crowded: u32,
    }
}

record! {
    /// What was decided about a document.
    Label {
        /// The document.
        rank: i64,
        /// Stars: the one that it is removed for. Components: the first of its component.
        label: i64,
    }
}

/// A verified pair. Distances of methods without any are -1, and estimates of those with distances NaN.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Verified {
    /// The later one.
    pub member: i64,
    /// The earlier one.
    pub earlier: i64,
    /// Shingles in both.
    pub shared: u64,
    /// Shingles in at least one.
    pub shingles: u64,
    /// The Hamming distance, or -1.
    pub distance: i64,
    /// The estimated similarity, or NaN.
    pub estimate: f64,
}

/// How a dropped document and the kept one were found equal.
pub const EXACT: u64 = 0;
/// By their words.
pub const NORMALIZED: u64 = 1;
/// By the method.
pub const NEAR: u64 = 2;
/// By their URL.
pub const SAME_URL: u64 = 3;

impl Verified {
    /// A pair whose texts were not compared.
    pub fn not_compared(member: i64, earlier: i64) -> Verified {
        Verified {
            member,
            earlier,
            shared: 0,
            shingles: 0,
            distance: -1,
            estimate: f64::NAN,
        }
    }

    /// A pair with equal words.
    pub fn equal(member: i64, earlier: i64, has_distances: bool) -> Verified {
        let pair = Verified::not_compared(member, earlier);
        match has_distances {
            true => Verified {
                distance: 0,
                ..pair
            },
            false => Verified {
                estimate: 1.0,
                ..pair
            },
        }
    }

    /// The pair with the score of its method.
    pub fn with_score(self, score: Score) -> Verified {
        let (distance, estimate) = match score {
            Score::Distance(bits) => (bits.into(), f64::NAN),
            Score::Fraction(_, 0) => (-1, f64::NAN),
            Score::Fraction(part, whole) => (-1, part as f64 / whole as f64),
        };
        Verified {
            distance,
            estimate,
            ..self
        }
    }
}

/// A dropped document.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Drop {
    /// The kept document, and what both have in common; `member` is the document.
    pub pair: Verified,
    /// How: [`EXACT`], [`NORMALIZED`], [`NEAR`] or [`SAME_URL`].
    pub method: u64,
}
