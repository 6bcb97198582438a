//! `simtool tune`: recommends a tokenizer, a method and a threshold.

use std::sync::Arc;

use serde_json::{Value, json};
use simtool::Result;
use simtool::engine::Progress;
use simtool::evaluate::{Interval, Proportion};
use simtool::io::remote::Client;
use simtool::lab::{Rejection, Trial, Tuned, Tuning};
use simtool::sketch::registry::Spec;

use super::tune_flags::{TuneArgs, question_name};
use super::{evaluate, recommendation};
use crate::cli::process::exit::Finish;
use crate::cli::process::session::Session;
use crate::cli::screen;

/// Tries the settings and prints the recommendation.
///
/// # Errors
/// Errors of the flags, of the inputs and of the job.
pub fn run(args: &TuneArgs, client: &Client) -> Result<Finish> {
    let tuned = tuned(args, &Session::new(args.log.log(args.quiet), client))?;
    screen::print(recommendation::text(&tuned, args).as_bytes())?;
    Ok(Finish::of_skipped(tuned.skipped))
}

/// Tries the settings without printing anything; returns the recommendation as JSON.
///
/// # Errors
/// Errors of [`run`].
pub fn call(args: &TuneArgs, progress: &Arc<Progress>, client: &Client) -> Result<Vec<u8>> {
    let tuned = tuned(args, &Session::silent(progress, client, &[]))?;
    Ok(json(&tuned, args).to_string().into_bytes())
}

/// Tries the settings.
fn tuned(args: &TuneArgs, session: &Session) -> Result<Tuned> {
    let settings = args.settings()?;
    let all = settings.iter().flat_map(|(_, settings)| settings);
    let specs: Vec<Spec> = all.map(|setting| setting.spec.clone()).collect();
    let alignment = args.alignment();
    let tuning = Tuning {
        question: args.question,
        settings,
        truth: args.truth.source(args.edits(), Some(alignment))?,
        closed_world: args.truth.closed_world,
        alignment,
        precision: args.precision,
        seed: args.truth.seed(),
    };
    evaluate::run_job(
        &specs,
        (&args.inputs, &args.reading, &args.resources),
        session,
        |_| Ok(()),
        |inputs| {
            let tuned = tuning.run(inputs)?;
            let doubts = tuned.doubts;
            Ok((tuned, doubts))
        },
    )
}

/// The same for programs; costs are measured times and vary.
fn json(tuned: &Tuned, args: &TuneArgs) -> Value {
    let bounds = |interval: Option<Interval>| interval.map(|at| [at.low, at.high]);
    let recall = |recall: Proportion| json!({"value": recall.value(), "interval": bounds(recall.interval()), "pairs": recall.whole});
    let trial = |trial: &Trial| {
        let proposed = trial.proposed.as_ref().map(|proposed| {
            let precision = proposed.precision;
            json!({
                "pairs": proposed.pairs,
                "judged": proposed.judged,
                "wrong": proposed.wrong,
                "precision": precision.map(|(share, _)| share),
                "precision_interval": bounds(precision.map(|(_, at)| at)),
            })
        });
        json!({
            "tokenizer": trial.tokenizer.name(),
            "method": trial.spec.to_string(),
            "recall": trial.recall.value(),
            "recall_interval": bounds(trial.recall.interval()),
            "proposed": proposed,
            "bytes_per_document": trial.cost.bytes_per_document,
            "seconds_per_document": trial.cost.seconds_per_document,
        })
    };
    let left_out = tuned.left_out.iter().map(|(found, reason)| {
        let mut value = trial(found);
        value["reason"] = reason_name(*reason).into();
        value
    });
    let measured = tuned.measured.as_ref().map(|measured| {
        let labels = measured.labels.iter();
        let labels = labels.map(|(name, found)| (name.clone(), recall(*found)));
        json!({
            "method": measured.spec.to_string(),
            "recall": recall(measured.recall),
            "labels": labels.collect::<serde_json::Map<String, Value>>(),
            "bytes_per_document": measured.cost.bytes_per_document,
            "seconds_per_document": measured.cost.seconds_per_document,
        })
    });
    let best = tuned.recommended.first();
    // Numbers are numbers, so that they are arguments of a function.
    let value = |text: String| serde_json::from_str(&text).unwrap_or(Value::from(text));
    let flags = best.map(|best| {
        let flags = recommendation::flags(best, args.question).into_iter();
        flags.map(|(name, text)| (name.to_owned(), value(text)))
    });
    json!({
        "for": question_name(args.question),
        "flags": flags.map(|flags| flags.collect::<serde_json::Map<String, Value>>()),
        "measured": measured,
        "precision_shown": recommendation::is_shown(best, args.precision),
        "documents": tuned.documents,
        "distinct": tuned.distinct,
        "to_find": tuned.to_find,
        "skipped": tuned.skipped,
        "aligned": f64::from(args.alignment().thousandths) / 1000.0,
        "precision": args.precision.value(),
        "not_judged": tuned.judged[0] - tuned.judged[1],
        "recommended": tuned.recommended.iter().map(trial).collect::<Vec<_>>(),
        "left_out": left_out.collect::<Vec<_>>(),
    })
}

fn reason_name(reason: Rejection) -> &'static str {
    match reason {
        Rejection::FindsNothing => "finds_nothing",
        Rejection::Imprecise => "imprecise",
        Rejection::Accidental => "accidental",
        Rejection::Square => "square",
    }
}
