//! What is known of a document of a block.

use std::ops::AddAssign;

/// The most refused pairs that are counted and reported for a document: those with the first
/// documents in keep order. Pages of one template may all be near one another.
pub const MAX_REFUSALS: u8 = 20;

/// Whether a document stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Undecided,
    Centre,
    Removed,
}

/// The refused pairs of a document, at most [`MAX_REFUSALS`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Refusals(u8);

impl Refusals {
    /// Counts a pair; `false` if there are enough already.
    pub fn add(&mut self) -> bool {
        let counts = self.0 < MAX_REFUSALS;
        self.0 += u8::from(counts);
        counts
    }

    /// Whether further pairs do not count.
    pub fn are_enough(self) -> bool {
        self.0 == MAX_REFUSALS
    }
}

/// What is known of a document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    pub state: State,
    pub refusals: Refusals,
}

impl Standing {
    pub const UNDECIDED: Standing = Standing {
        state: State::Undecided,
        refusals: Refusals(0),
    };
}

/// Numbers of refused pairs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Refused {
    pub counted: u64,
    /// The refused pairs of documents that had enough.
    pub beyond: u64,
}

impl Refused {
    /// Adds a refused pair; `counts` is the answer of [`Refusals::add`].
    pub fn add(&mut self, counts: bool) {
        self.counted += u64::from(counts);
        self.beyond += u64::from(!counts);
    }
}

impl AddAssign for Refused {
    fn add_assign(&mut self, more: Refused) {
        self.counted += more.counted;
        self.beyond += more.beyond;
    }
}
