//! The table of the settings that were tried.

use simtool::evaluate::{Interval, Proportion};
use simtool::lab::{Rejection, Trial, Tuned};

/// The most settings in the table, and in the list of those left out for each reason.
const MAX_SHOWN: usize = 10;

pub fn table(found: &[Trial]) -> String {
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
pub fn left_out(tuned: &Tuned, precision: Proportion) -> String {
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
pub fn shown(share: Option<f64>) -> String {
    share.map_or(String::new(), |value| match value {
        value if value < 1.0 => format!("{:.3}", value.min(0.999)),
        value => format!("{value:.3}"),
    })
}

pub fn interval(interval: Option<Interval>) -> String {
    interval.map_or(String::new(), |at| {
        format!("{}-{}", shown(Some(at.low)), shown(Some(at.high)))
    })
}

/// A number of pairs.
pub fn count(pairs: f64) -> String {
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
