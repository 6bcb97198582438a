//! Which fingerprints differ from a query in at most k bits?
//!
//! Every search here is exact: it finds all of them, for any width up to 128 and any k. What
//! differs is the way ([`Strategy`]), which [`plan`] chooses by its cost on the fingerprints at
//! hand:
//!
//! * *Brute force* compares a tile of queries with every fingerprint. No memory, nothing to
//!   build, and the best there is for few queries or a large k.
//! * *Tables*: cut the bits into r > k blocks. Two fingerprints at distance k or less agree in
//!   all bits of at least r - k blocks, so it suffices to look, for every choice of r - k
//!   blocks, at those that agree with the query in them: one table per choice, which keeps
//!   the fingerprints that share a bucket side by side (Manku, Jain and Das Sarma, WWW 2007).
//! * *Groups*: equal fingerprints are collapsed, the distinct ones are searched in one of
//!   the two ways above, and the groups found are expanded to positions.
//!
//! Real fingerprints are far from uniform: a bit may be set in 2 % or in 99 % of them, and
//! blocks of equally many bits would then hold a hundred times as many candidates. Bits are
//! therefore dealt out so that every block has about the same entropy, and the planner counts
//! collisions in a sample instead of assuming 2^-bits.
//!
//! Fingerprints are `u64` or `u128`. Bits at and above the width are ignored, in the searched
//! fingerprints and in queries. Positions are indices into the searched slice.
//!
//! ```
//! use simtool::kernel::Level;
//! use simtool::search::hamming::{Hit, Index, Scratch, plan};
//!
//! let fingerprints = [0b1011_u64, 0b0000, 0b0011, 0b1011];
//! let plan = plan(&fingerprints, 1, 64, 1, 1 << 30)?;
//! let index = Index::build(&fingerprints, 64, 1, plan.strategy, Level::best())?;
//!
//! let mut hits = Vec::new();
//! index.search(0b0011, &mut Scratch::default(), &mut hits);
//! let expected = [(0, 2), (1, 0), (1, 3)].map(|(distance, position)| Hit { distance, position });
//! assert_eq!(hits, expected);
//! # Ok::<(), simtool::Error>(())
//! ```

mod blocks;
mod grouped;
mod groups;
mod index;
mod limits;
mod order;
mod plan;
mod sample;
mod scan;
mod tables;

pub use crate::kernel::hamming::{Fingerprint, Hit};
pub use grouped::GroupedIndex;
pub use index::{Index, Scratch};
pub use plan::{Plan, Strategy, plan};
pub use scan::scan;
