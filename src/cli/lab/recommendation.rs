//! The recommendation of `simtool tune` for people: the command, what it was seen to do, and the
//! settings that were tried.

use simtool::evaluate::{Interval, Proportion};
use simtool::jobs::dedup::Verification;
use simtool::lab::{MAX_ALIGNED, Measured, Question, Rejection, Trial, Tuned};
use simtool::text::Choice;

use super::tune_flags::{TuneArgs, question_name};
use crate::cli::screen::amount::counted;

/// The most settings in the table, and in the list of those left out for each reason.
const MAX_SHOWN: usize = 10;
/// A larger share of all pairs is pointed out if the recommended setting proposes it.
const MANY_PROPOSED: f64 = 0.01;

/// The recommendation.
pub fn text(tuned: &Tuned, args: &TuneArgs) -> String {
    if tuned.to_find == 0 {
        return "Nothing is to be found, so nothing is recommended.\n".to_owned();
    }
    let mut text = match (tuned.recommended.first(), &tuned.measured) {
        (Some(best), Some(measured)) => recommended(tuned, args, best, measured),
        _ => format!(
            "No setting can be recommended: each finds nothing, or less than {} of what it \
             proposes is right.\n",
            shown(args.precision.value())
        ),
    };
    text += &format!("\n{}\n", judgement(tuned, args));
    for (name, value) in &tuned.facts {
        text += &format!("{name}: {value}\n");
    }
    text + &table(&tuned.recommended) + &left_out(tuned, args.precision)
}

/// The command and what its setting was seen to do. A low recall comes first.
fn recommended(tuned: &Tuned, args: &TuneArgs, best: &Trial, measured: &Measured) -> String {
    let of = match args.truth.planted {
        true => "planted copies",
        false => "pairs of the truth",
    };
    let Proportion { part, whole } = measured.recall;
    let mut text = String::new();
    if 2 * part < whole {
        text +=
            &format!("The best setting finds less than half of the {of}: {part} of {whole}.\n\n");
    }
    text += &format!("Run:\n  {}\n", command(best, args).join(" "));
    if args.question == Question::Match {
        text += "Articles and samples are the same here, so each document also matches itself.\n";
    }
    text += "\n";
    text += &format!(
        "recall     {} ({}): {part} of {whole} {of}\n",
        shown(measured.recall.value()),
        interval(measured.recall.interval()),
    );
    text += &precision(best, args.precision);
    text += &cost(tuned, measured);
    let proposed = best.proposed.map_or(0.0, |proposed| proposed.pairs);
    let pairs = tuned.distinct as f64 * tuned.distinct.saturating_sub(1) as f64 / 2.0;
    if proposed > MANY_PROPOSED * pairs {
        text += &format!(
            "           It proposes {:.0} % of all pairs. Pages of one template may need a higher \
             --aligned or --html main.\n",
            100.0 * proposed / pairs
        );
    }
    if measured.labels.len() > 1 {
        let label = |(name, found): &(String, Proportion)| {
            format!("  {name} {} of {}\n", found.part, found.whole)
        };
        text += "found by label:\n";
        text += &measured.labels.iter().map(label).collect::<String>();
    }
    text
}

/// The precision of a setting, and whether its pairs are enough to show the wanted one.
fn precision(best: &Trial, wanted: Proportion) -> String {
    let proposed = best
        .proposed
        .filter(|proposed| proposed.precision.is_some());
    let Some((share, bounds)) = proposed.and_then(|proposed| proposed.precision) else {
        let mut text = format!(
            "precision  unknown: it proposes no pair of documents with different words, so nothing \
             shows {}\n",
            shown(wanted.value())
        );
        if let Some(found) = best.proposed
            && best.is_unproven()
        {
            text += &format!(
                "           Only {} were compared: the strictest threshold that finds half is taken, \
                 as a looser one\n           may join unrelated documents of a larger collection.\n",
                counted(found.searched, "pair")
            );
        }
        return text;
    };
    let (pairs, judged) = proposed.map_or((0.0, 0), |found| (found.pairs, found.judged));
    let estimated = match proposed.is_some_and(|found| found.covered < 1.0) {
        true => "about ",
        false => "",
    };
    let mut text = format!(
        "precision  {} ({}): {judged} of {estimated}{} proposed pairs were judged\n",
        shown(Some(share)),
        interval(Some(bounds)),
        count(pairs),
    );
    if !is_shown(Some(best), wanted) {
        text += &format!(
            "           {}: precision between {} and {}; not enough to show {}\n",
            counted(judged, "judged pair"),
            shown(Some(bounds.low)),
            shown(Some(bounds.high)),
            shown(wanted.value()),
        );
    }
    text
}

/// Whether the interval of the precision is above the wanted one.
pub fn is_shown(best: Option<&Trial>, wanted: Proportion) -> bool {
    let proposed = best.and_then(|best| best.proposed);
    let precision = proposed.and_then(|proposed| proposed.precision);
    precision.is_some_and(|(_, bounds)| Some(bounds.low) >= wanted.value())
}

fn cost(tuned: &Tuned, measured: &Measured) -> String {
    let documents = tuned.documents as f64;
    let bytes = measured.cost.bytes_per_document.unwrap_or_default();
    let seconds = measured.cost.seconds_per_document.unwrap_or_default();
    format!(
        "cost       {bytes:.0} bytes and {:.1} microseconds of a processor for a document, besides \
         reading;\n           {:.1} MB and {:.1} seconds for these {} documents of {:.1} MB ({})\n",
        1e6 * seconds,
        bytes * documents / 1e6,
        seconds * documents,
        tuned.documents,
        tuned.text_bytes as f64 / 1e6,
        measured.spec,
    )
}

/// How pairs were judged, and which were not.
fn judgement(tuned: &Tuned, args: &TuneArgs) -> String {
    let alignment = args.alignment();
    let share = f64::from(alignment.thousandths) / 1000.0;
    let (truth, text) = (
        if args.truth.planted {
            ""
        } else {
            "the truth says so, or else if "
        },
        if alignment.contained {
            "shorter"
        } else {
            "longer"
        },
    );
    let mut lines = format!(
        "A pair is right if {truth}{share} of the words of the {text} text, or {} of its characters, \
         are\nthose of the other one, in the same order.",
        (1.0 + share) / 2.0
    );
    if args.truth.closed_world {
        lines = "A pair is right if the truth says so.".to_owned();
    }
    let not_judged = tuned.judged[0] - tuned.judged[1];
    if not_judged > 0 {
        lines += &format!(
            "\n{not_judged} of {} sampled pairs were not judged: their alignment would take too long.",
            tuned.judged[0]
        );
    }
    if tuned.aligned[1] > 0 {
        lines += &format!(
            "\n{} of {} aligned pairs have a text of more than {MAX_ALIGNED} bytes, of which only the \
             first {MAX_ALIGNED} words\nand characters count.",
            tuned.aligned[1], tuned.aligned[0]
        );
    }
    lines
}

/// The flags of the recommended setting, with their values.
pub fn flags(best: &Trial, question: Question) -> Vec<(&'static str, String)> {
    let mut flags = Vec::new();
    if best.tokenizer != Choice::default() {
        flags.push(("tokenizer", best.tokenizer.to_string()));
    }
    match (best.verification(), question) {
        (Some(verification), Question::Dedup) => {
            flags.push(("shingle", verification.shingle.to_string()));
            flags.push(("similarity", verification.least.to_string()));
        }
        (Some(Verification { shingle, least }), Question::Index) => {
            let method = format!("minhash:similarity={},shingle={shingle}", least.share());
            flags.push(("method", method));
        }
        _ => flags.push(("method", best.spec.to_string())),
    }
    flags
}

/// The command with the recommended setting, each word as a shell reads it.
fn command(best: &Trial, args: &TuneArgs) -> Vec<String> {
    let inputs = args.inputs.iter();
    let inputs: Vec<String> = inputs
        .map(|input| match input.to_string_lossy().into_owned() {
            path if path.starts_with('-') => format!("./{path}"),
            path => path,
        })
        .collect();
    let words = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect();
    let mut all: Vec<String> = words(&["simtool", question_name(args.question)]);
    match args.question {
        Question::Dedup => {
            all.extend(inputs);
            all.extend(words(&["-o", "deduplicated"]) as Vec<String>);
        }
        Question::Match => {
            for flag in ["--articles", "--samples"] {
                all.push(flag.to_owned());
                all.extend(inputs.clone());
            }
        }
        Question::Index => {
            all.extend(words(&["build", "index"]) as Vec<String>);
            all.extend(inputs);
        }
    }
    all.extend(args.reading.given());
    if let (Some(path), Question::Match) = (&args.reading.stop_words, args.question) {
        all.extend([
            "--stop-words".to_owned(),
            path.to_string_lossy().into_owned(),
        ]);
    }
    let flags = flags(best, args.question).into_iter();
    all.extend(flags.flat_map(|(name, value)| [format!("--{name}"), value]));
    all.iter().map(|word| quoted(word)).collect()
}

/// A word of a command line, quoted if a shell would change it.
fn quoted(word: &str) -> String {
    let is_plain =
        |character: char| character.is_alphanumeric() || "-_./:=,@%+".contains(character);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

fn table(found: &[Trial]) -> String {
    if found.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "\n{} settings that nothing speaks against:\n{}",
        found.len(),
        header()
    );
    let rows = found.iter().take(MAX_SHOWN);
    rows.for_each(|trial| text += &row(trial));
    text + &further(found.len())
}

/// The number of settings after those that are shown.
fn further(count: usize) -> String {
    match count.saturating_sub(MAX_SHOWN) {
        0 => String::new(),
        further => format!("  and {further} more\n"),
    }
}

fn header() -> String {
    "recall       interval  precision     interval      pairs  judged      wrong  bytes/document  \
     microseconds/document  setting\n"
        .to_owned()
}

fn row(trial: &Trial) -> String {
    let proposed = trial.proposed;
    let precision = proposed.and_then(|proposed| proposed.precision);
    let counted = |of: fn(&simtool::lab::Proposed) -> f64| {
        let proposed = proposed.as_ref();
        proposed.map_or(String::new(), |proposed| count(of(proposed)))
    };
    let decimals = |value: Option<f64>, places| {
        value.map_or(String::new(), |value| format!("{value:.places$}"))
    };
    format!(
        "{:>6}  {:>13}  {:>9}  {:>11}  {:>9}  {:>6}  {:>9}  {:>14}  {:>21}  {} {}\n",
        shown(trial.recall.value()),
        interval(trial.recall.interval()),
        shown(precision.map(|found| found.0)),
        interval(precision.map(|found| found.1)),
        counted(|proposed| proposed.pairs),
        counted(|proposed| proposed.judged as f64),
        counted(|proposed| proposed.wrong),
        decimals(trial.cost.bytes_per_document, 0),
        decimals(trial.cost.seconds_per_document.map(|time| time * 1e6), 1),
        trial.tokenizer,
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
        trials
            .iter()
            .take(MAX_SHOWN)
            .for_each(|trial| text += &row(trial));
        text += &further(trials.len());
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

    #[test]
    fn words_of_a_shell_are_quoted() {
        assert_eq!(
            quoted("shingles:shingle=6,similarity=0.350"),
            "shingles:shingle=6,similarity=0.350"
        );
        assert_eq!(quoted("a b.jsonl"), "'a b.jsonl'");
        assert_eq!(quoted("it's*"), r"'it'\''s*'");
        assert_eq!(quoted(""), "''");
    }
}
