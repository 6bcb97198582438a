//! Pairs of documents that may be near.

mod bits;
mod elements;
mod entry;
mod first;
mod keys;
mod listed;
mod near;
mod pair_filter;
mod pairs;
mod prefix;

pub use elements::{Frequent, Sample};
pub use first::First;
pub use keys::Keys;
pub use listed::Listed;
pub use near::near;
pub use pairs::Pairs;
pub use prefix::{Counts, Prefix};
