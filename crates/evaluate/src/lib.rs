//! Evaluation of methods against a ground truth.
//!
//! A [`Truth`] labels pairs of documents as near or far. An [`Outcome`] has the verdicts of one
//! method, or of another tool. [`evaluate`] counts hits and mistakes, with intervals, curves over
//! all thresholds, clusters, and the agreement of methods. [`planted`] generates copies of known
//! strength if there is no ground truth.
//!
//! Counts are exact, and proportions of counts are compared by cross-multiplication; floating-point
//! numbers are only for display. They use only operations that IEEE 754 rounds correctly, so they
//! are the same on every machine. Deliberately absent: files, texts (except the planted ones), and
//! the running of methods. [`synthetic`], the generator of corpora, is separate from the rest and
//! writes files.

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
mod proportion;
mod random;
mod score_text;
mod significance;
mod strata;
mod sweep;
pub mod synthetic;
mod truth;

pub use agreement::Comparison;
pub use clustering::Clustering;
pub use clusters::ClusterScores;
pub use count::ConfusionMatrix;
pub use evaluation::{Evaluation, EvaluationSettings, MethodResult, evaluate};
pub use found::{Found, FoundPair};
pub use histogram::{Histogram, Scale};
pub use ids::{Ids, Pair};
pub use mistakes::{Mistake, Mistakes};
pub use outcome::{Cost, Outcome};
pub use proportion::{Interval, Proportion};
pub use significance::mcnemar;
pub use strata::{PairSample, Stratum, right_share, wrong_pairs};
pub use sweep::{Point, Sweep};
pub use truth::{Class, Judgement, LabelledPair, Truth};

use simtool_core::{Error, ErrorKind, Result, sketch};
use simtool_files as io;
