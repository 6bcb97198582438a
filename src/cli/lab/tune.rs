//! `simtool tune`: recommends a method and a threshold.

use std::sync::Arc;

use clap::Args;
use serde_json::{Value, json};
use simtool::Result;
use simtool::engine::Progress;
use simtool::evaluate::{Interval, Proportion};
use simtool::io::remote::Client;
use simtool::lab::{MAX_WRONG, Rejection, Trial, Tuned, Tuning, candidates};
use simtool::text::LeastSimilarity;

use super::evaluate::{self, TruthArgs, methods};
use crate::cli::dedup::method_flags::least_similarity;
use crate::cli::process::exit::Finish;
use crate::cli::process::resource_flags::ResourceArgs;
use crate::cli::process::session::Session;
use crate::cli::reading::reading_flags::ReadingArgs;
use crate::cli::screen;
use crate::cli::screen::log::LogArgs;
use crate::cli::values;

/// Recommend a method and a threshold for a wanted precision
///
/// Tries methods on your documents. Recall is measured with your own truth, or with copies that are
/// made of the documents and have the wanted similarity. Precision is that of the pairs that a
/// setting proposes in your collection: they are sampled by score, and a pair is wrong if your truth
/// says so, or, where it says nothing, if the pair has less than the wanted similarity. Documents
/// with the same words count once.
///
/// Settings are left out if more than one in a million of all pairs is proposed and wrong, or if
/// they compare so many pairs that the cost grows with the square of the collection. Of settings
/// that find at least 99 % of what the best one finds, the one with the smallest sketches comes
/// first. Times are printed but do not matter.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct TuneArgs {
    /// Files, directories or patterns of the documents
    #[arg(value_name = "INPUT", required = true)]
    inputs: Vec<std::path::PathBuf>,

    #[command(flatten)]
    truth: TruthArgs,

    /// The least similarity of duplicates: the share of shingles in common, |A ∩ B| / |A ∪ B|, or
    /// with containment:SHARE, the share of the shingles of the document that has fewer
    #[arg(long, value_name = "SHARE", default_value = "0.8", value_parser = least_similarity)]
    similarity: LeastSimilarity,

    /// The minimum share of proposed pairs that must be right
    #[arg(long, value_name = "SHARE", default_value = "0.99", value_parser = evaluate::share)]
    precision: Proportion,

    /// A method to try, at all thresholds (may be repeated) [default: sixteen settings of eight
    /// methods]
    #[arg(long, value_name = "METHOD", value_parser = values::method(), hide_possible_values = true)]
    method: Vec<String>,

    /// Try these values of a parameter with every method that has it: shingle=3..7
    #[arg(long, value_name = "NAME=VALUES")]
    sweep: Vec<String>,

    #[command(flatten)]
    reading: ReadingArgs,

    #[command(flatten)]
    resources: ResourceArgs,

    #[command(flatten)]
    log: LogArgs,

    /// No progress
    #[arg(long)]
    quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  simtool tune crawl/*.wet.gz --planted
          The methods that find most copies with a similarity of 0.8, with 99 % of what they propose
          in this collection right
  simtool tune docs.jsonl --pairs pairs.tsv --precision 0.95 --similarity 0.5
          With a truth of your own; pairs that it does not list are right from a similarity of 0.5
  simtool tune docs.jsonl --planted --similarity containment:0.95
          For documents that are contained in others
  simtool tune docs.jsonl --planted --method simhash --sweep features=1..5 --sweep bits=64,128
          Settings of one method";

/// The most settings in the table, and in the list of those left out for each reason.
const MAX_SHOWN: usize = 40;
/// With fewer pairs, one wrong pair is more than one in a million.
const FEW_PAIRS: f64 = 1.0 / MAX_WRONG;
/// A larger share of all pairs is pointed out if the recommended setting proposes it.
const MANY_PROPOSED: f64 = 0.01;

/// Tries the methods and prints the recommendation.
///
/// # Errors
/// Errors of the flags, of the inputs and of the job.
pub fn run(args: &TuneArgs, client: &Client) -> Result<Finish> {
    let tuned = tuned(args, &Session::new(args.log.log(args.quiet), client))?;
    screen::print(text(&tuned, args).as_bytes())?;
    Ok(Finish::of_skipped(tuned.skipped))
}

/// Tries the methods without printing anything; returns the recommendation as JSON.
///
/// # Errors
/// Errors of [`run`].
pub fn call(args: &TuneArgs, progress: &Arc<Progress>, client: &Client) -> Result<Vec<u8>> {
    let tuned = tuned(args, &Session::silent(progress, client))?;
    Ok(json(&tuned, args).to_string().into_bytes())
}

/// Tries the methods.
fn tuned(args: &TuneArgs, session: &Session) -> Result<Tuned> {
    let width = args.reading.tokenizer().usual_width();
    let asked = match args.method.is_empty() {
        true => candidates(args.similarity, width),
        false => args.method.clone(),
    };
    let tuning = Tuning {
        settings: methods(&asked, &args.sweep)?,
        truth: args.truth.source(false)?,
        closed_world: args.truth.closed_world,
        similarity: args.similarity,
        precision: args.precision,
        seed: args.truth.seed(),
    };
    evaluate::run_job(
        &tuning.settings,
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
    let trial = |trial: &Trial| {
        let proposed = trial.proposed.as_ref().map(|proposed| {
            let precision = proposed.precision.map(|(share, _)| share);
            json!({
                "pairs": proposed.pairs,
                "judged": proposed.judged,
                "wrong": proposed.wrong,
                "precision": precision,
                "precision_interval": proposed.precision.map(|(_, at)| [at.low, at.high]),
            })
        });
        json!({
            "method": trial.spec.to_string(),
            "recall": trial.recall.value(),
            "recall_interval": trial.recall.interval().map(|at| [at.low, at.high]),
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
    json!({
        "documents": tuned.documents,
        "distinct": tuned.distinct,
        "to_find": tuned.to_find,
        "similar": tuned.similar,
        "skipped": tuned.skipped,
        "similarity": args.similarity.share(),
        "precision": args.precision.value(),
        "recommended": tuned.recommended.iter().map(trial).collect::<Vec<_>>(),
        "left_out": left_out.collect::<Vec<_>>(),
    })
}

fn reason_name(reason: Rejection) -> &'static str {
    match reason {
        Rejection::FindsNothing => "finds_nothing",
        Rejection::Imprecise => "imprecise",
        Rejection::Wrong => "wrong",
        Rejection::Accidental => "accidental",
        Rejection::Square => "square",
    }
}

fn text(tuned: &Tuned, args: &TuneArgs) -> String {
    let measure = match args.similarity.is_containment() {
        true => "containment",
        false => "similarity",
    };
    let least = format!("a {measure} of {}", args.similarity.share());
    let pairs = all_pairs(tuned);
    let mut text = format!(
        "{} documents, {} with different words: {} pairs.\n",
        tuned.documents,
        tuned.distinct,
        count(pairs)
    );
    text += &match args.truth.planted {
        true => format!("{} copies with {least} are to be found.\n", tuned.to_find),
        false => format!(
            "{} pairs of the truth are to be found; {} of them have {least}.\n",
            tuned.to_find, tuned.similar
        ),
    };
    for (name, value) in &tuned.facts {
        text += &format!("{name}: {value}\n");
    }
    if tuned.to_find == 0 {
        return text + "Nothing is to be found, so nothing is recommended.\n";
    }
    if pairs < FEW_PAIRS {
        text +=
            "So few documents do not show whether fewer than one in a million pairs are wrong.\n";
    }
    text += &format!("\nA pair is wrong if it has less than {least}");
    text += match args.truth.planted {
        true => ".\n\n",
        false => ", unless the truth knows it.\n\n",
    };
    text += &table(&tuned.recommended, args.precision);
    text += &left_out(tuned, args.precision);
    if let Some(best) = tuned.recommended.first() {
        text += &format!("\nRecommended:\n  --method {}\n\n", best.spec);
        let proposed = best.proposed.map_or(0.0, |proposed| proposed.pairs) / pairs.max(1.0);
        if proposed > MANY_PROPOSED {
            text += &format!(
                "It proposes {:.0} % of all pairs: very many documents have {least}. Pages of one \
                 template may need a higher --similarity or --html main.\n",
                100.0 * proposed
            );
        }
        text += &format!(
            "`dedup` compares the shingles of each pair again, and removes only those with at least \
             its own --similarity (default 0.8; here {}).\n",
            args.similarity
        );
    }
    text
}

/// The number of pairs of documents with different words.
fn all_pairs(tuned: &Tuned) -> f64 {
    tuned.distinct as f64 * tuned.distinct.saturating_sub(1) as f64 / 2.0
}

fn table(found: &[Trial], precision: Proportion) -> String {
    if found.is_empty() {
        let wanted = shown(precision.value());
        return format!("No method can be recommended for a precision of {wanted}.\n");
    }
    let mut text = header();
    found
        .iter()
        .take(MAX_SHOWN)
        .for_each(|trial| text += &row(trial));
    if let further @ 1.. = found.len().saturating_sub(MAX_SHOWN) {
        text += &format!("{further} further settings are no better.\n");
    }
    text
}

fn header() -> String {
    "recall  95 % interval  precision     interval      pairs  judged      wrong  with runs  \
     bytes/document  microseconds/document  method\n"
        .to_owned()
}

fn row(trial: &Trial) -> String {
    let proposed = trial.proposed;
    let precision = proposed.and_then(|proposed| proposed.precision);
    let counted = |of: fn(&simtool::lab::Proposed) -> f64| {
        proposed
            .as_ref()
            .map_or(String::new(), |proposed| count(of(proposed)))
    };
    let decimals = |value: Option<f64>, places| {
        value.map_or(String::new(), |value| format!("{value:.places$}"))
    };
    format!(
        "{:>6}  {:>13}  {:>9}  {:>11}  {:>9}  {:>6}  {:>9}  {:>9}  {:>14}  {:>21}  {}\n",
        shown(trial.recall.value()),
        interval(trial.recall.interval()),
        shown(precision.map(|found| found.0)),
        interval(precision.map(|found| found.1)),
        counted(|proposed| proposed.pairs),
        counted(|proposed| proposed.judged as f64),
        counted(|proposed| proposed.wrong),
        counted(|proposed| proposed.with_runs),
        decimals(trial.cost.bytes_per_document, 0),
        decimals(trial.cost.seconds_per_document.map(|time| time * 1e6), 1),
        trial.spec,
    )
}

/// The settings that are not recommended, by reason, at the strictest threshold that finds anything.
fn left_out(tuned: &Tuned, precision: Proportion) -> String {
    let wanted = shown(precision.value());
    let tried = tuned.recommended.len() + tuned.left_out.len();
    let reasons = [
        (
            Rejection::Square,
            "they compare so many pairs that the cost grows with the square of the collection",
        ),
        (
            Rejection::Accidental,
            "more than one in a million unrelated documents would be near by accident",
        ),
        (
            Rejection::Wrong,
            "more than one in a million of all pairs is proposed and wrong",
        ),
        (
            Rejection::Imprecise,
            &format!("less than {wanted} of the proposed pairs are right"),
        ),
        (Rejection::FindsNothing, "they find nothing"),
    ];
    let mut text = String::new();
    for (reason, why) in reasons {
        let of = tuned.left_out.iter().filter(|(_, found)| *found == reason);
        let trials: Vec<&Trial> = of.map(|(trial, _)| trial).collect();
        if trials.is_empty() {
            continue;
        }
        text += &format!("\n{} of {tried} settings left out: {why}\n", trials.len());
        text += &header();
        let shown = trials.iter().take(MAX_SHOWN);
        shown.for_each(|trial| text += &row(trial));
        if let further @ 1.. = trials.len().saturating_sub(MAX_SHOWN) {
            text += &format!("  and {further} more\n");
        }
    }
    text
}

/// A share; only 1 is shown as 1.
fn shown(share: Option<f64>) -> String {
    share.map_or(String::new(), |value| match value {
        value if value < 1.0 => format!("{:.3}", value.min(0.999)),
        value => format!("{value:.3}"),
    })
}

fn interval(interval: Option<Interval>) -> String {
    interval.map_or(String::new(), |at| {
        format!("{}-{}", shown(Some(at.low)), shown(Some(at.high)))
    })
}

/// A number of pairs.
fn count(pairs: f64) -> String {
    match pairs {
        pairs if pairs < 1e6 => format!("{pairs:.0}"),
        pairs => format!("{pairs:.1e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_is_shown_as_one() {
        assert_eq!(shown(Some(0.9999)), "0.999");
        assert_eq!(shown(Some(1.0)), "1.000");
        assert_eq!(shown(Some(0.29)), "0.290");
        assert_eq!((count(12.4), count(4.5e6)), ("12".into(), "4.5e6".into()));
    }
}
