//! Pairs of documents that may be near.

mod bits;
mod entry;
mod first;
mod keys;
mod pair_filter;
mod pairs;
mod prefix;

pub use bits::BitKeys;
pub use entry::{Entry, NONE};
pub use first::First;
pub use keys::{Alone, Keyed, LONGEST, WithPrint};
pub use pair_filter::PairFilter;
pub use pairs::PairSearch;
pub use prefix::Prefixes;
