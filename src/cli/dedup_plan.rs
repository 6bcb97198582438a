//! The plan of a deduplication, as text and as JSON.

use serde_json::{Value, json};
use simtool::engine::Resources;
use simtool::jobs::dedup::{Estimate, FoundCopies, Job, OtherMethod, Scope, WriteMode};
use simtool::jobs::{Against, Invocation};

use super::amount::duration;
use super::message::event_object;
use super::on_servers::{OnServers, ReadingsOfInput};
use super::shown_cost::{ShownCost, shortages};

/// A run that has not begun, and what it is expected to take.
pub struct DedupPlan<'a> {
    pub job: &'a Job,
    pub invocation: &'a Invocation<'a>,
    pub resources: &'a Resources,
    pub estimate: Estimate,
    /// Estimates with other methods.
    pub others: Vec<OtherMethod>,
}

impl DedupPlan<'_> {
    /// The plan as text.
    pub fn text(&self) -> String {
        let DedupPlan {
            job,
            invocation,
            resources,
            estimate,
            ..
        } = self;
        let mut text = match invocation.against {
            Against::Known(_) => format!("method    {}\n", job.method.summary()),
            _ => format!("method    {}\n", job.describe()),
        };
        if job.within != Scope::Global {
            text += &format!("scope     documents are compared within {}\n", job.within);
        }
        if !job.compare_scopes.is_empty() {
            let scopes: Vec<String> = job.compare_scopes.iter().map(Scope::to_string).collect();
            text += &format!(
                "compared  {}; one search and clustering for each\n",
                scopes.join(", ")
            );
        }
        text += &self.shown().input();
        text += &self.on_servers().map_or(String::new(), |read| read.text());
        text += &format!("search    {}\n", estimate.search.describe());
        if let Some((fair, measured)) = estimate.accidental {
            let then = match invocation.against {
                Against::Known(_) => "documents near an indexed one by accident are dropped",
                _ => "verification rejects them",
            };
            text += &format!(
                "accidents {measured:.2} documents within the distance of each by accident \
                 ({fair:.1e} if bits were uniform); {then}\n"
            );
        }
        text += &self.found();
        text += &self.shown().resources();
        text += &self.comparison();
        if let Some(count) = estimate.without_text {
            text += &format!(
                "warning: none of {count} documents of the sample has text in --text-field {}; \
                 documents without text are skipped\n",
                job.reading.text_field
            );
        }
        text + &warnings(estimate, invocation, resources)
    }

    fn shown(&self) -> ShownCost<'_> {
        ShownCost {
            cost: &self.estimate.cost,
            invocation: self.invocation,
            resources: self.resources,
        }
    }

    /// The share of edited copies that the method finds, as a line.
    fn found(&self) -> String {
        let Some(copies) = self.estimate.found_copies else {
            return String::new();
        };
        format!(
            "finds     {} of the edited copies of documents in a sample; verified, they have a \
             similarity of at least {}\n",
            share(copies),
            self.job.verification.least
        )
    }

    /// What other methods would take and find, a line each.
    fn comparison(&self) -> String {
        let line = |other: &OtherMethod| {
            let found = other.found.map_or(String::new(), |copies| {
                format!(", and finds {} of the edited copies", share(copies))
            });
            format!(
                "instead   --method {} takes about {}{found}\n",
                other.method.name(),
                duration(other.time)
            )
        };
        self.others.iter().map(line).collect()
    }

    fn on_servers(&self) -> Option<OnServers> {
        let job = self.job;
        let has_files = !matches!(job.write, WriteMode::None | WriteMode::Ids);
        let outputs = u64::from(has_files) + u64::from(job.removed);
        let readings = ReadingsOfInput {
            to_find: 1,
            to_write: match job.shards.is_used() {
                true => outputs.min(1),
                false => outputs,
            },
            in_parts: Some("candidates"),
        };
        OnServers::of(self.invocation, readings)
    }

    /// The plan as a JSON object on one line.
    pub fn json(&self) -> String {
        let DedupPlan {
            job,
            estimate,
            others,
            ..
        } = self;
        let copies = |copies: Option<FoundCopies>| {
            copies.map(|copies| json!({"found": copies.found, "of": copies.of}))
        };
        let other = |other: &OtherMethod| -> Value {
            json!({
                "method": other.method.to_string(),
                "seconds": other.time.as_secs_f64(),
                "edited_copies": copies(other.found),
            })
        };
        let is_known = self.shown().is_known();
        let own = json!({
            "on_servers": self.on_servers().map(|read| read.json()),
            "method": job.method.to_string(),
            "search": estimate.search.name(),
            "edited_copies": copies(estimate.found_copies),
            "other_methods": others.iter().filter(|_| is_known).map(other).collect::<Vec<_>>(),
            "without_text": estimate.without_text.is_some(),
        });
        let mut fields = self.shown().fields();
        fields.extend(own.as_object().cloned().unwrap_or_default());
        format!("{}\n", event_object("plan", &fields.into()))
    }
}

/// A share in percent.
fn share(copies: FoundCopies) -> String {
    format!("{:.1} %", 100.0 * copies.found as f64 / copies.of as f64)
}

/// Warnings of very many comparisons, and of each file system with too little space.
pub fn warnings(estimate: &Estimate, invocation: &Invocation<'_>, resources: &Resources) -> String {
    comparisons(estimate) + &shortages(&estimate.cost, invocation.out, resources)
}

/// A warning if each document is compared with very many others.
fn comparisons(estimate: &Estimate) -> String {
    estimate.compared.map_or(String::new(), |others| {
        format!(
            "warning: this method compares each document with about {others} others, so its time \
             grows with the square of the number of documents: about {} here (minhash and simhash \
             do not)\n",
            duration(estimate.cost.time()),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn very_many_comparisons_are_a_warning() {
        let mut estimate = Estimate::default();
        assert_eq!(comparisons(&estimate), "");
        estimate.compared = Some(95_937);
        let warning = comparisons(&estimate);
        assert!(warning.starts_with("warning: ") && warning.contains("about 95937 others"));
    }
}
