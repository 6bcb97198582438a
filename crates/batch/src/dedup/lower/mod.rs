//! What lower thresholds would remove, estimated from a sample of the leaders.
//!
//! ```text
//! some leaders ─► most similar earlier ones ─► shingles compared ─► counts, shown pairs
//!                 by minima                    (second reading)      (reports)
//! ```
//!
//! At a lower threshold, a kept document is removed if a document that is kept before it is similar
//! enough. Whether that one is itself removed then is not known, so the counts are upper bounds.

pub(super) mod counts;
pub(super) mod earlier;
pub(super) mod sample;
pub(super) mod thresholds;
