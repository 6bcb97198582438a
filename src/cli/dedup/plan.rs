//! The plan of a deduplication, as text and as JSON.

use serde_json::json;
use simtool::engine::Resources;
use simtool::io::remote::Client;
use simtool::jobs::dedup::{
    DedupEstimate, DedupJob, LowerEstimate, LowerRate, Scope, WriteMode, source_code,
};
use simtool::jobs::{Against, Invocation};

use crate::cli::reading::on_servers::{OnServers, ReadingsOfInput};
use crate::cli::screen::amount::duration;
use crate::cli::screen::message::event_object;
use crate::cli::screen::shown_cost::{ShownCost, shortages};
use crate::cli::screen::visible::visible;

/// A run that has not begun, and what it is expected to take.
pub struct DedupPlan<'a> {
    pub job: &'a DedupJob,
    pub invocation: &'a Invocation<'a>,
    pub resources: &'a Resources,
    pub client: &'a Client,
    pub estimate: DedupEstimate,
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
        text += &self.shown().input();
        text += &self.on_servers().map_or(String::new(), |read| read.text());
        text += &self.shown().resources();
        if job.min_sources > 1 {
            text += "note: the plan does not estimate how many documents --min-sources drops; the \
                     space of output is for all documents, both written and reported as dropped\n";
        }
        text += &estimate.lower.as_ref().map_or(String::new(), lower);
        if let Some(count) = estimate.without_text {
            text += &format!(
                "warning: none of {count} documents of the sample has text in --text-field {}; \
                 documents without text are skipped\n",
                job.reading.text_field
            );
        }
        if let Some((_, message)) = source_code(job, invocation.sources) {
            text += &format!("warning: {message}\n");
        }
        text += &estimate.ocr.as_ref().map_or(String::new(), ocr);
        text + &warnings(estimate, invocation, resources)
    }

    fn shown(&self) -> ShownCost<'_> {
        ShownCost {
            cost: &self.estimate.cost,
            invocation: self.invocation,
            resources: self.resources,
        }
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
        OnServers::of(self.client, self.invocation, readings)
    }

    /// The plan as a JSON object on one line.
    pub fn json(&self) -> String {
        let DedupPlan { job, estimate, .. } = self;
        let own = json!({
            "on_servers": self.on_servers().map(|read| read.json()),
            "method": job.method.to_string(),
            "without_text": estimate.without_text.is_some(),
            "odd_words": estimate.ocr.as_ref().map(|(share, _)| share),
            "lower_thresholds": estimate.lower.as_ref().map(lower_json),
        });
        let mut fields = self.shown().fields();
        fields.extend(own.as_object().cloned().unwrap_or_default());
        format!("{}\n", event_object("plan", &fields.into()))
    }
}

/// Warnings of very many comparisons, and of each file system with too little space.
pub fn warnings(
    estimate: &DedupEstimate,
    invocation: &Invocation<'_>,
    resources: &Resources,
) -> String {
    comparisons(estimate) + &shortages(&estimate.cost, invocation.out, resources)
}

/// Advice for text that looks like OCR.
fn ocr((share, words): &(f64, Vec<String>)) -> String {
    format!(
        "note: {:.1} % of the words look like errors of OCR ({}): --tokenizer chars --shingle 6 \
         --similarity 0.33 finds copies with a tenth of the characters wrong (docs/how-to/ocr-and-pdf.md)\n",
        100.0 * share,
        visible(words.join(", ").as_bytes())
    )
}

/// What lower thresholds would remove, with an example of each: the beginnings of two texts.
fn lower(lower: &LowerEstimate) -> String {
    let similarity = |rate: &LowerRate| f64::from(rate.thousandths) / 1000.0;
    let own = lower.thresholds.first().map_or(0, |rate| rate.documents);
    let rates = lower.thresholds.iter().enumerate().map(|(place, rate)| {
        let (documents, at) = (rate.documents, similarity(rate));
        match place {
            0 => format!("{documents} have an earlier copy at {at}"),
            _ if own == 0 => format!("{documents} at {at}"),
            _ => {
                let times = documents as f64 / own as f64;
                format!("{documents} at {at} ({times:.1} times as many)")
            }
        }
    });
    let rates: Vec<String> = rates.collect();
    let mut text = format!(
        "similar   of {} documents, compared with the earlier ones of a sample of {}, {} \
         (estimated)\n",
        lower.compared,
        lower.sample,
        rates.join(", ")
    );
    for rate in &lower.thresholds {
        if let Some((estimate, [earlier, later])) = &rate.example {
            text += &format!(
                "          only at {}, for example ({estimate:.2}):\n            {}\n            {}\n",
                similarity(rate),
                visible(earlier.as_bytes()),
                visible(later.as_bytes())
            );
        }
    }
    text
}

fn lower_json(lower: &LowerEstimate) -> serde_json::Value {
    let rates = lower.thresholds.iter().map(|rate| {
        json!({
            "similarity": f64::from(rate.thousandths) / 1000.0,
            "documents": rate.documents,
            "example": rate.example.as_ref().map(|(similarity, texts)| {
                json!({"similarity": similarity, "texts": texts})
            }),
        })
    });
    json!({
        "sample": lower.sample,
        "compared": lower.compared,
        "thresholds": rates.collect::<Vec<_>>(),
    })
}

/// A warning if each document is compared with very many others.
fn comparisons(estimate: &DedupEstimate) -> String {
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

    /// Promise (Deduplication): A method that compares each document …
    #[test]
    fn very_many_comparisons_are_a_warning() {
        let mut estimate = DedupEstimate::default();
        assert_eq!(comparisons(&estimate), "");
        estimate.compared = Some(95_937);
        let warning = comparisons(&estimate);
        assert!(warning.starts_with("warning: ") && warning.contains("about 95937 others"));
    }
}
