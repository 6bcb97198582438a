//! What a method, or another tool, made of a truth.

use super::found::{Found, FoundPair};
use super::truth::{Judgement, Truth};
use crate::sketch::Score;
use crate::{Error, ErrorKind, Result};

/// What a method costs; what was not measured is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Seconds of processor time for a document.
    pub seconds_per_document: Option<f64>,
    /// Bytes that are kept of a document.
    pub bytes_per_document: Option<f64>,
}

/// What a method, or another tool, made of a truth and a collection.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// What it is called.
    pub name: String,
    /// Its settings, by name.
    pub parameters: Vec<(String, String)>,
    /// The score of each pair of the truth; `None` where there is none, as for a document without
    /// words. All of one kind.
    pub scores: Vec<Option<Score>>,
    /// Whether each pair of the truth is near to it.
    pub accepted: Vec<bool>,
    /// All pairs that it reports over the whole collection, if that was asked.
    pub found: Option<Found>,
    /// What it cost.
    pub cost: Cost,
}

impl Outcome {
    /// The outcome of a tool of which nothing is known but its matches.
    pub fn of_matches(name: impl Into<String>, truth: &Truth, found: Found) -> Outcome {
        Outcome {
            name: name.into(),
            scores: found.scores(truth),
            accepted: found.accepted(truth),
            found: Some(found),
            ..Outcome::default()
        }
    }

    /// The score of each pair, with what the truth says of it.
    pub(super) fn scored<'a>(
        &'a self,
        truth: &'a Truth,
    ) -> impl Iterator<Item = (Option<Score>, bool)> + 'a {
        let scores = self.scores.iter().enumerate();
        scores.map(|(place, &score)| (score, truth.is_near(place)))
    }

    /// The pairs that are far and were reported without being listed, with their classes.
    pub(super) fn unlisted<'a>(
        &'a self,
        truth: &'a Truth,
    ) -> impl Iterator<Item = (FoundPair, usize)> + 'a {
        let found = self
            .found
            .iter()
            .filter(|_| truth.knows_more_than_it_lists());
        let found = found.flat_map(|found| found.pairs());
        let unlisted = found.filter(|found| truth.place(found.pair).is_none());
        unlisted.filter_map(|found| match truth.judge(found.pair) {
            Judgement::Far(class) => Some((*found, class)),
            Judgement::Near(_) | Judgement::Unknown => None,
        })
    }

    /// Whether it fits the truth.
    pub(super) fn check(&self, truth: &Truth) -> Result<()> {
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
