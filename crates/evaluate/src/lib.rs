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

mod evaluation;
mod inputs;
mod measures;
pub mod planted;
mod random;
pub mod synthetic;

pub use evaluation::{Evaluation, EvaluationSettings, MethodResult, evaluate};
pub use inputs::clustering::Clustering;
pub use inputs::found::{Found, FoundPair};
pub use inputs::ids::{Ids, Pair};
pub use inputs::outcome::{Cost, Outcome};
pub use inputs::truth::{Class, Judgement, LabelledPair, Truth};
pub use measures::agreement::Comparison;
pub use measures::clusters::ClusterScores;
pub use measures::count::ConfusionMatrix;
pub use measures::histogram::{Histogram, Scale};
pub use measures::mistakes::{Mistake, Mistakes};
pub use measures::proportion::{Interval, Proportion};
pub use measures::significance::mcnemar;
pub use measures::strata::{PairSample, Stratum, right_share, wrong_pairs};
pub use measures::sweep::{Point, Sweep};

use simtool_core::{Error, ErrorKind, Result, sketch};
use simtool_files as io;
