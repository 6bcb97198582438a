//! `simtool tune`: recommends a method and a threshold.

use clap::Args;
use simtool::Result;
use simtool::evaluate::{EvaluationSettings, Proportion};
use simtool::jobs::evaluation::{CANDIDATES, Job, Recommendation, Rejection, Tuning, recommend};
use simtool::sketch::registry::Spec;

use super::evaluate::{self, TruthArgs, methods};
use super::exit::Finish;
use super::log::LogArgs;
use super::reading_flags::ReadingArgs;
use super::resource_flags::ResourceArgs;
use super::session::Session;
use super::{screen, values};

/// Recommend a method and a threshold for a wanted precision
///
/// Tries methods on your documents, with your own truth or with copies of known strength that are
/// made of them. Prints which method finds the most at the wanted precision, and the pairs that
/// this is based on. Of methods that find equally much, the one with the fewest wrong hits comes
/// first, then the one with the fewest bytes per document, then the one tried first; times are
/// printed but do not matter. Fingerprints are recommended only at distances at which a document
/// has hardly any accidental neighbours in a collection of this size.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct TuneArgs {
    /// Files, directories or patterns of the documents
    #[arg(value_name = "INPUT", required = true)]
    inputs: Vec<std::path::PathBuf>,

    #[command(flatten)]
    truth: TruthArgs,

    /// The minimum share of hits that must be right
    #[arg(long, value_name = "SHARE", default_value = "0.99", value_parser = evaluate::share)]
    precision: Proportion,

    /// A method to try (may be repeated) [default: thirteen settings of seven methods]
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
          The methods that find most copies, lightly and heavily edited, with 99 % of the hits right
  simtool tune docs.jsonl --pairs pairs.tsv --precision 0.95
          With a truth of your own
  simtool tune docs.jsonl --planted --method simhash --sweep features=1..5 --sweep bits=64,128
          Settings of one method";

/// The most settings in the table, and in the list of those left out for each reason.
const MOST_SHOWN: usize = 40;

/// The message if the truth has no negative pairs.
const UNMEASURED: &str = "\
Precision cannot be measured: no pair is known that should not be found. Nothing is recommended.
List some pairs with the label unrelated, or add --closed-world, or use --planted.
";

/// Tries the methods and prints the recommendation.
///
/// # Errors
/// Those of the flags, of the inputs and of the job.
pub fn run(args: &TuneArgs) -> Result<Finish> {
    let asked = match args.method.is_empty() {
        true => CANDIDATES.map(str::to_owned).to_vec(),
        false => args.method.clone(),
    };
    let specs = methods(&asked, &args.sweep)?;
    args.truth.check_seed()?;
    let job = Job {
        methods: specs.clone(),
        truth: args.truth.source()?,
        closed_world: args.truth.closed_world,
        join: args.truth.knows_unlisted(),
        matches: Vec::new(),
        settings: EvaluationSettings {
            draws: 0,
            seed: args.truth.seed(),
            wanted_precision: Some(args.precision),
            mistakes: 0,
        },
    };
    let report = evaluate::report(
        &job,
        &args.inputs,
        &args.reading,
        &args.resources,
        &Session::new(args.log.log(args.quiet)),
        &|_| Ok(()),
    )?;
    let tuning = recommend(&report, &specs);

    let sizes = report
        .evaluation
        .classes
        .iter()
        .zip(&report.evaluation.class_sizes);
    let pairs = |is_near| -> u64 {
        let of = sizes.clone().filter(|(class, _)| class.is_near == is_near);
        of.map(|(_, size)| size).sum()
    };
    let mut text = format!(
        "Rests on {} pairs to be found and {} not to be found among {} documents.\n",
        pairs(true),
        pairs(false),
        report.documents
    );
    for (name, value) in &report.facts {
        text += &format!("{name}: {value}\n");
    }
    text.push('\n');
    text += &match report.evaluation.measures_precision {
        true => table(&tuning.recommended, args.precision) + &left_out(&tuning, args.precision),
        false => UNMEASURED.to_owned(),
    };
    if let Some(best) = tuning.recommended.first() {
        text += &format!("\nRecommended:\n  --method {}\n\n", best.spec);
        text += &for_dedup(&best.spec);
    }
    screen::print(text.as_bytes())?;
    Ok(Finish::of_skipped(report.skipped))
}

/// Advice on using the method with `dedup`, which verifies its pairs.
fn for_dedup(spec: &Spec) -> String {
    match verified_alike(spec) {
        Some(flags) => format!(
            "`dedup` compares the shingles of each pair again; with {flags} besides, it accepts \
             the same pairs.\n"
        ),
        None => "`dedup` compares the shingles of each pair again: it removes only pairs that \
                 share at least --similarity of them (default 0.8).\nIf it removes less than \
                 was found here, lower --similarity.\n"
            .to_owned(),
    }
}

/// The flags with which verification accepts all pairs of the method; `None` for methods other than
/// `shingles`, and for a similarity that the flag does not accept.
fn verified_alike(spec: &Spec) -> Option<String> {
    if spec.name() != "shingles" {
        return None;
    }
    let list = spec.list();
    let value = |wanted: &str| list.iter().find(|(name, _)| name == wanted);
    let ((_, shingle), (_, similarity)) = (value("shingle")?, value("similarity")?);
    // The flag has three decimals; rounding down accepts all pairs of the method.
    let thousandths = (similarity.parse::<f64>().ok()? * 1000.0).floor();
    (thousandths >= 1.0)
        .then(|| format!("--shingle {shingle} --similarity {}", thousandths / 1000.0))
}

fn table(found: &[Recommendation], precision: Proportion) -> String {
    if found.is_empty() {
        let wanted = shown(precision);
        return format!("No method can be recommended for a precision of {wanted}.\n");
    }
    let mut text = String::from(
        "recall  95 % interval  precision  microseconds/document  bytes/document  \
         accidents/document  method\n",
    );
    for one in found.iter().take(MOST_SHOWN) {
        let interval = one.point.recall().interval();
        text += &format!(
            "{:>6}  {:>13}  {:>9}  {:>21}  {:>14}  {:>18}  {}\n",
            shown(one.point.recall()),
            interval.map_or(String::new(), |at| format!("{:.3}-{:.3}", at.low, at.high)),
            shown(one.point.precision()),
            one.cost
                .seconds_per_document
                .map_or(String::new(), |seconds| format!("{:.1}", seconds * 1e6)),
            one.cost
                .bytes_per_document
                .map_or(String::new(), |bytes| format!("{bytes:.0}")),
            one.accidents
                .map_or(String::new(), |hits| format!("{hits:.4}")),
            one.spec,
        );
    }
    if let further @ 1.. = found.len().saturating_sub(MOST_SHOWN) {
        text += &format!("{further} further settings find no more.\n");
    }
    text
}

/// The settings that are not in the table, by reason.
fn left_out(tuning: &Tuning, precision: Proportion) -> String {
    let wanted = shown(precision);
    let tried = tuning.recommended.len() + tuning.left_out.len();
    let reasons = [
        (
            Rejection::Imprecise,
            format!("no threshold at which {wanted} of the hits are right"),
        ),
        (
            Rejection::Accidental,
            format!(
                "where {wanted} of the hits are right, a document has more than one neighbour by \
                 accident in a collection of this size"
            ),
        ),
        (
            Rejection::Fixed,
            "no parameter for the threshold".to_owned(),
        ),
    ];
    let mut text = String::new();
    for (reason, why) in reasons {
        let of = tuning.left_out.iter().filter(|(_, found)| *found == reason);
        let specs: Vec<&Spec> = of.map(|(spec, _)| spec).collect();
        if specs.is_empty() {
            continue;
        }
        text += &format!("\n{} of {tried} settings left out: {why}\n", specs.len());
        let shown = specs.iter().take(MOST_SHOWN);
        shown.for_each(|spec| text += &format!("  {spec}\n"));
        if let further @ 1.. = specs.len().saturating_sub(MOST_SHOWN) {
            text += &format!("  and {further} more\n");
        }
    }
    text
}

fn shown(share: Proportion) -> String {
    share
        .value()
        .map_or(String::new(), |value| format!("{value:.3}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shingles_can_be_verified_as_they_are_found() {
        let flags = |text: &str| verified_alike(&Spec::parse(text).unwrap());
        let found = flags("shingles:shingle=3,similarity=0.476623");
        assert_eq!(found.as_deref(), Some("--shingle 3 --similarity 0.476"));
        assert_eq!(flags("shingles:shingle=3,similarity=0.0004"), None);
        assert_eq!(flags("simhash:distance=9"), None);
        let text = for_dedup(&Spec::parse("simhash:distance=9").unwrap());
        assert!(text.contains("only pairs that share at least --similarity"));
    }
}
