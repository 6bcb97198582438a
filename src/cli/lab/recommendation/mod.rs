//! The recommendation of `simtool tune` for people: the command, what it was seen to do, and the
//! settings that were tried.

mod command;
mod table;

pub use self::command::flags;

use simtool::evaluate::Proportion;
use simtool::lab::{MAX_ALIGNED, Measured, Question, Trial, Tuned};

use self::command::command;
use self::table::{count, interval, left_out, shown, table};
use super::tune_flags::TuneArgs;
use crate::cli::screen::amount::counted;

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
            "precision  unknown: it proposes no pair of documents with different words, so it is not \
             known whether it reaches {}\n",
            shown(wanted.value())
        );
        if let Some(found) = best.proposed
            && best.is_unproven()
        {
            let Proportion { part, whole } = best.recall;
            let taken = match 2 * part < whole {
                true => "the threshold that finds most",
                false => "the strictest threshold that finds half",
            };
            text += &format!(
                "           Only {} were compared: {taken} is taken; a looser one\n           may join \
                 unrelated documents of a larger collection.\n",
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
