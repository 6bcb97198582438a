//! The plan of a deduplication, as text and as JSON.

use serde_json::{Value, json};
use simtool::corpus::Source;
use simtool::engine::{Resources, StagePlan};
use simtool::jobs::dedup::{
    Against, Estimate, FoundCopies, Invocation, Job, OtherMethod, Scope, Shortage,
};

use super::amount::{counted, duration, megabytes};
use super::machine;
use super::message::event_object;
use super::visible::visible_path;

/// A run that has not begun, and what it is expected to take.
pub struct Plan<'a> {
    pub job: &'a Job,
    pub invocation: &'a Invocation<'a>,
    pub resources: &'a Resources,
    pub estimate: Estimate,
    /// Estimates with other methods.
    pub others: Vec<OtherMethod>,
}

/// The bytes of `sources`, not counting streams.
pub fn bytes(sources: &[Source]) -> u64 {
    sources.iter().filter_map(|source| source.bytes).sum()
}

impl Plan<'_> {
    /// The plan as text.
    pub fn text(&self) -> String {
        let Plan {
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
        let streams = |sources: &[Source]| sources.iter().any(Source::is_stream);
        let uncounted = match streams(invocation.sources) || streams(invocation.against.documents())
        {
            true => ", not counting streams",
            false => "",
        };
        text += &format!(
            "input     {}, {}; about {} documents, {} of text{uncounted}\n",
            counted(
                (invocation.sources.len() + invocation.against.documents().len()) as u64,
                "file"
            ),
            megabytes(bytes(invocation.sources) + bytes(invocation.against.documents())),
            estimate.documents,
            megabytes(estimate.text_bytes),
        );
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
        text += &format!(
            "resources {}, at most {} of memory\n",
            counted(resources.threads as u64, "thread"),
            machine::size(resources.memory_bytes),
        );
        text += &format!(
            "space     about {} of temporary files in {}, {} in {}; {} of output\n",
            megabytes(estimate.work_bytes),
            visible_path(&invocation.out.join(".simtool")),
            megabytes(estimate.spooled_bytes),
            visible_path(&resources.temporary),
            megabytes(estimate.output_bytes),
        );
        text += &format!(
            "time      about {}: {}\n",
            duration(estimate.time()),
            stages(estimate)
        );
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

    /// The plan as a JSON object on one line.
    pub fn json(&self) -> String {
        let Plan {
            job,
            invocation,
            resources,
            estimate,
            others,
        } = self;
        let seconds = |stage: &StagePlan| json!({"stage": stage.stage.name(), "seconds": stage.time.as_secs_f64()});
        let short = |short: &Shortage| {
            json!({
                "directory": short.directory.to_string_lossy(),
                "free_bytes": short.free_bytes,
                "needed_bytes": short.needed_bytes,
            })
        };
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
        let shortages = estimate.shortages(invocation.out, &resources.temporary);
        let mut sources = invocation
            .sources
            .iter()
            .chain(invocation.against.documents());
        // The contents of a stream are unknown before it is read.
        let is_known = !sources.any(Source::is_stream);
        let number = |number: u64| is_known.then_some(number);
        let stages = estimate.stages.iter().filter(|_| is_known).map(seconds);
        let fields = json!({
            "files": invocation.sources.len() + invocation.against.documents().len(),
            "bytes": number(bytes(invocation.sources) + bytes(invocation.against.documents())),
            "documents": number(estimate.documents),
            "text_bytes": number(estimate.text_bytes),
            "temporary_bytes": number(estimate.temporary_bytes()),
            "output_bytes": number(estimate.output_bytes),
            "seconds": is_known.then(|| estimate.time().as_secs_f64()),
            "stages": stages.collect::<Vec<_>>(),
            "method": job.method.to_string(),
            "search": estimate.search.name(),
            "edited_copies": copies(estimate.found_copies),
            "other_methods": others.iter().filter(|_| is_known).map(other).collect::<Vec<_>>(),
            "without_text": estimate.without_text.is_some(),
            "short_of_space": shortages.iter().map(short).collect::<Vec<_>>(),
        });
        format!("{}\n", event_object("plan", &fields))
    }
}

/// A share in percent.
fn share(copies: FoundCopies) -> String {
    format!("{:.1} %", 100.0 * copies.found as f64 / copies.of as f64)
}

/// The stages that take a twentieth of the time or more.
fn stages(estimate: &Estimate) -> String {
    let total = estimate.time();
    let long = estimate
        .stages
        .iter()
        .filter(|stage| stage.time * 20 >= total);
    let named = long.map(|stage| format!("{} {}", stage.stage.name(), duration(stage.time)));
    named.collect::<Vec<_>>().join(", ")
}

/// Warnings of very many comparisons, and of each file system with too little space.
pub fn warnings(estimate: &Estimate, invocation: &Invocation<'_>, resources: &Resources) -> String {
    comparisons(estimate) + &shortages(estimate, invocation, resources)
}

/// A warning if each document is compared with very many others.
fn comparisons(estimate: &Estimate) -> String {
    estimate.compared.map_or(String::new(), |others| {
        format!(
            "warning: this method compares each document with about {others} others, so its time \
             grows with the square of the number of documents: about {} here (minhash and simhash \
             do not)\n",
            duration(estimate.time()),
        )
    })
}

/// A warning for each file system with too little space.
fn shortages(estimate: &Estimate, invocation: &Invocation<'_>, resources: &Resources) -> String {
    let found = estimate.shortages(invocation.out, &resources.temporary);
    let warning = |short: &Shortage| {
        format!(
            "warning: {} has {} free, and about {} are needed there (free space, or choose \
             another {})\n",
            visible_path(&short.directory),
            megabytes(short.free_bytes),
            megabytes(short.needed_bytes),
            match short.directory == invocation.out {
                true => "-o",
                false => "--temp-dir",
            },
        )
    };
    found.iter().map(warning).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool::jobs::dedup::SearchForm;

    #[test]
    fn very_many_comparisons_are_a_warning() {
        let mut estimate = Estimate {
            documents: 100_000,
            text_bytes: 0,
            work_bytes: 0,
            spooled_bytes: 0,
            output_bytes: 0,
            stages: Vec::new(),
            accidental: None,
            found_copies: None,
            without_text: None,
            compared: None,
            search: SearchForm::Index,
        };
        assert_eq!(comparisons(&estimate), "");
        estimate.compared = Some(95_937);
        let warning = comparisons(&estimate);
        assert!(warning.starts_with("warning: ") && warning.contains("about 95937 others"));
    }
}
