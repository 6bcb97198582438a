//! Outcomes: the verdicts of a method, or of another tool, on the pairs of a truth.

use serde::Serialize;

use super::found::{Found, FoundPair};
use super::truth::{Judgement, Truth};
use crate::sketch::Score;
use crate::{Error, ErrorKind, Result};

/// The cost of a method; `None` if not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// CPU seconds per document.
    pub seconds_per_document: Option<f64>,
    /// Bytes stored per document.
    pub bytes_per_document: Option<f64>,
}

/// The verdicts of a method, or of another tool, on a truth and a collection.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The name of the method.
    pub name: String,
    /// The parameters of the method, by name.
    pub parameters: Vec<(String, String)>,
    /// The score of each pair of the truth; `None` if there is none, such as for a document without
    /// words. All are of one kind.
    pub scores: Vec<Option<Score>>,
    /// Whether the method accepts each pair of the truth.
    pub accepted: Vec<bool>,
    /// All pairs that it reports over the whole collection, if requested.
    pub found: Option<Found>,
    /// The measured cost.
    pub cost: Cost,
}

impl Outcome {
    /// The outcome of a tool of which only the matches are known.
    pub fn of_matches(name: impl Into<String>, truth: &Truth, found: Found) -> Outcome {
        Outcome {
            name: name.into(),
            scores: found.scores(truth),
            accepted: found.accepted(truth),
            found: Some(found),
            ..Outcome::default()
        }
    }

    /// The score of each pair, and whether the truth says that it is near.
    pub(crate) fn scored<'a>(
        &'a self,
        truth: &'a Truth,
    ) -> impl Iterator<Item = (Option<Score>, bool)> + 'a {
        let scores = self.scores.iter().enumerate();
        scores.map(|(index, &score)| (score, truth.is_near(index)))
    }

    /// The reported far pairs that the truth does not list, with their classes.
    pub(crate) fn unlisted<'a>(
        &'a self,
        truth: &'a Truth,
    ) -> impl Iterator<Item = (FoundPair, usize)> + 'a {
        let found = self.found.iter().filter(|_| truth.judges_unlisted());
        let found = found.flat_map(|found| found.pairs());
        let unlisted = found.filter(|found| truth.position(found.pair).is_none());
        unlisted.filter_map(|found| match truth.judge(found.pair) {
            Judgement::Far(class) => Some((*found, class)),
            Judgement::Near(_) | Judgement::Unknown => None,
        })
    }

    /// Checks that the outcome has the shape of the truth, and scores of one kind.
    pub(crate) fn check(&self, truth: &Truth) -> Result<()> {
        let complain = |what: String| {
            let name = &self.name;
            Err(Error::new(ErrorKind::Parameter, format!("{name}: {what}")))
        };
        let listed = truth.pairs().len();
        for (count, what) in [
            (self.scores.len(), "scores"),
            (self.accepted.len(), "verdicts"),
        ] {
            if count != listed {
                return complain(format!(
                    "found {count} {what}, expected one for each of {listed} pairs"
                ));
            }
        }
        let found = self.found.iter().flat_map(|found| found.pairs());
        let scores = self
            .scores
            .iter()
            .copied()
            .chain(found.map(|found| found.score));
        let (mut distances, mut fractions) = (false, false);
        for score in scores.flatten() {
            match score {
                Score::Distance(_) => distances = true,
                Score::Fraction(..) => fractions = true,
            }
        }
        if distances && fractions {
            return complain("found distances and fractions, expected scores of one kind".into());
        }
        Ok(())
    }
}
