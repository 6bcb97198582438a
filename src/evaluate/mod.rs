//! How good is it?
//!
//! A [`Truth`] says which pairs of documents are near; an [`Outcome`] says what one method, or
//! another tool, made of them; [`evaluate`] counts hits and mistakes, with intervals, curves over
//! all thresholds, clusters, and how much the methods agree. [`planted`] makes copies of known
//! strength where no truth is at hand.
//!
//! Counts are exact, and shares of counts are compared by cross-multiplication; floating-point
//! numbers are only made of them for people to read. Those use nothing but the operations that
//! IEEE 754 rounds correctly, so they are the same on every machine. Deliberately absent: files,
//! texts (but for the planted ones), and the running of methods.

mod agreement;
mod bootstrap;
mod clustering;
mod clusters;
mod count;
mod evaluation;
mod found;
mod histogram;
mod ids;
mod lines;
mod mistakes;
mod outcome;
pub mod planted;
mod random;
mod score_text;
mod share;
mod significance;
mod sweep;
mod truth;

pub use agreement::Comparison;
pub use clustering::Clustering;
pub use clusters::ClusterScores;
pub use count::Counts;
pub use evaluation::{Evaluation, Measured, Settings, evaluate};
pub use found::{Found, FoundPair};
pub use histogram::{Histogram, Scale};
pub use ids::{Ids, Pair};
pub use mistakes::{Mistake, Mistakes};
pub use outcome::{Cost, Outcome};
pub use share::{Interval, Share};
pub use significance::mcnemar;
pub use sweep::{Point, Sweep};
pub use truth::{Class, Judgement, LabelledPair, Truth};
