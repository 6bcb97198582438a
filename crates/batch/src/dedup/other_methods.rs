//! Other methods for a job: their time, and the similar pairs that they would find.

use std::time::Duration;

use crate::Result;
use simtool_core::sketch::registry::Spec;
use simtool_engine::Resources;

use super::edited_copies::FoundCopies;
use super::job::{Job, spec_for_verification};
use crate::skeleton::invocation::{Against, Invocation};

/// The methods that a plan compares with the chosen one.
const COMPARED: [&str; 2] = ["minhash", "simhash"];

/// An estimate of a run with another method.
#[derive(Clone, Debug)]
pub struct OtherMethod {
    /// The method, with its default parameters.
    pub method: Spec,
    /// The duration of the run.
    pub time: Duration,
    /// Its share of edited copies.
    pub found: Option<FoundCopies>,
}

impl Job {
    /// Estimates the run with other methods, each as [`estimate`](Job::estimate) does. Empty if
    /// the method was chosen to find equal documents only, if an index determines it, or for
    /// containment, for which there is no other one.
    ///
    /// # Errors
    /// Errors of [`estimate`](Job::estimate).
    pub fn other_methods(
        &self,
        invocation: &Invocation<'_>,
        resources: &Resources,
    ) -> Result<Vec<OtherMethod>> {
        let is_contained = self.verification.least.is_containment();
        if is_contained || self.is_by_equality() || matches!(invocation.against, Against::Known(_))
        {
            return Ok(Vec::new());
        }
        let name = self.method.name();
        let others = COMPARED.iter().filter(|other| **other != name);
        others
            .map(|other| {
                let method = spec_for_verification(other, self.verification)?;
                let job = Job {
                    method: method.clone(),
                    ..self.clone()
                };
                let estimate = job.estimate(invocation, resources)?;
                Ok(OtherMethod {
                    method,
                    time: estimate.cost.time(),
                    found: estimate.found_copies,
                })
            })
            .collect()
    }
}
