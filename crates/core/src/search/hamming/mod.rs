//! Search for the fingerprints that differ from a query in at most k bits.
//!
//! Every search here is exact: it finds all of them, for any width up to 256 and any k. [`plan`]
//! chooses the [`Strategy`] by its estimated cost on the given fingerprints:
//!
//! * *Brute force* compares a tile of queries with every fingerprint. It takes no memory and builds
//!   nothing, and is fastest for few queries or a large k.
//! * *Tables* cut the bits into r > k blocks. Two fingerprints at distance k or less agree in all
//!   bits of at least r - k blocks. So for every choice of r - k blocks, only the fingerprints that
//!   agree with the query in them are compared. Each choice has a table, which stores the
//!   fingerprints of a bucket contiguously (Manku, Jain and Das Sarma, WWW 2007).
//! * *Groups* collapse equal fingerprints, search the distinct ones by brute force or tables, and
//!   expand the groups found to positions.
//!
//! Real fingerprints are far from uniform: a bit may be set in 2 % or in 99 % of them. Blocks of
//! equally many bits could then yield many times as many candidates. Bits are therefore distributed
//! so that every block has about the same entropy. The planner counts collisions in a sample
//! instead of assuming that a key of b bits agrees with probability 2^-b.
//!
//! [`self_join`] finds all near pairs of one set at once, in a fraction of the time of as many
//! searches.
//!
//! Fingerprints are `u64`, `u128` or [`U256`]. Bits at and above the width are ignored, in the searched
//! fingerprints and in queries. Positions are indices into the searched slice.
//!
//! ```
//! use simtool_core::kernel::Level;
//! use simtool_core::search::hamming::{HammingScratch, Hit, Index, plan};
//!
//! let fingerprints = [0b1011_u64, 0b0000, 0b0011, 0b1011];
//! let plan = plan(&fingerprints, 1, 64, 1, 1 << 30)?;
//! let index = Index::build(&fingerprints, 64, 1, plan.strategy, Level::best())?;
//!
//! let mut hits = Vec::new();
//! index.search(0b0011, &mut HammingScratch::default(), &mut hits);
//! let expected = [(0, 2), (1, 0), (1, 3)].map(|(distance, position)| Hit { distance, position });
//! assert_eq!(hits, expected);
//! # Ok::<(), simtool_core::Error>(())
//! ```

pub mod blocks;
mod finder;
mod grouped;
mod groups;
mod index;
mod limits;
mod order;
mod plan;
mod sample;
mod scan;
pub mod self_join;
mod tables;

pub use crate::kernel::hamming::{Fingerprint, Hit, U256};
pub use grouped::GroupedIndex;
pub use index::{HammingScratch, Index};
pub use plan::{Plan, Strategy, plan, plan_for};
pub use scan::scan;
