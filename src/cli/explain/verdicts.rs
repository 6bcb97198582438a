//! Two compared documents and their verdicts, as text and as JSON.

use serde_json::{Map, Value, json};
use simtool::jobs::explain::{
    Comparison, Evidence, ExplainSettings, FoundDocument, Outcome, Verdict,
};
use simtool::report::json_lines::At;
use simtool::report::verdicts::base64_if_needed;
use simtool::sketch::Score;

use super::listed::Listed;
use crate::cli::screen::visible::visible;

/// The table for the user.
pub fn text(
    documents: &[FoundDocument; 2],
    comparison: &Comparison,
    settings: &ExplainSettings,
    listed: Option<&Listed>,
) -> String {
    let mut text = String::new();
    for ((name, found), words) in ["A", "B"].iter().zip(documents).zip(comparison.words) {
        text += &header(name, found, words);
    }
    if let Some(listed) = listed {
        text += &format!("\nlisted as {}\n", visible(row(listed).as_bytes()));
    }
    text.push('\n');
    text + &table(comparison, settings)
}

/// The verdicts alone.
pub fn table(comparison: &Comparison, settings: &ExplainSettings) -> String {
    let mut text = format!(
        "words: {}; shingles of {} words\n\n",
        settings.tokenizer, settings.shingle
    );
    let rows: Vec<[String; 4]> = comparison
        .verdicts
        .iter()
        .map(|verdict| {
            let [measured, needed] = evidence(verdict.evidence);
            [
                label(&verdict.method).to_owned(),
                measured,
                needed,
                outcome(verdict.outcome),
            ]
        })
        .collect();
    let head = ["method", "measured", "near if", "verdict"].map(str::to_owned);
    let widths = [0, 1, 2].map(|column| {
        let cells = rows
            .iter()
            .chain([&head])
            .map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    });
    let [a, b, c] = widths;
    let line = |[name, measured, needed, verdict]: &[String; 4]| {
        format!("{name:a$}  {measured:b$}  {needed:c$}  {verdict}\n")
    };
    text += &line(&head);
    for (row, verdict) in rows.iter().zip(&comparison.verdicts) {
        text += &line(row);
        if let Evidence::Fingerprints { bits, width, .. } = verdict.evidence {
            let digits = width as usize / 4;
            text += &format!("    {:0digits$x} {:0digits$x}\n", bits[0], bits[1]);
        }
    }
    text
}

/// The object for programs.
pub fn json(
    documents: &[FoundDocument; 2],
    comparison: &Comparison,
    settings: &ExplainSettings,
    listed: Option<&Listed>,
) -> Value {
    let document = |side: usize| {
        let FoundDocument {
            id,
            url,
            text,
            file,
            place,
        } = &documents[side];
        let mut value = json!({
            "id": String::from_utf8_lossy(id),
            "url": String::from_utf8_lossy(url),
            "file": file.to_string_lossy(),
            "start": place.offset,
            "length": place.length,
            "member": At::new("", *place).member,
            "bytes": text.len(),
            "words": comparison.words[side],
        });
        if let Some(base64) = base64_if_needed(id) {
            value["id_base64"] = base64.into();
        }
        value
    };
    let mut value = of(comparison, settings);
    value["a"] = document(0);
    value["b"] = document(1);
    if let Some(Listed {
        method,
        distance,
        estimate,
        similarity,
        shingles,
        ..
    }) = listed
    {
        value["listed"] = json!({
            "method": method,
            "distance": distance,
            "estimate": estimate,
            "similarity": similarity,
            "shared": shingles.map(|[shared, _]| shared),
            "shingles": shingles.map(|[_, all]| all),
        });
    }
    value
}

/// The verdicts of two texts for programs.
pub fn of(comparison: &Comparison, settings: &ExplainSettings) -> Value {
    json!({
        "tokenizer": settings.tokenizer.to_string(),
        "shingle": settings.shingle,
        "verdicts": comparison.verdicts.iter().map(verdict_json).collect::<Vec<_>>(),
    })
}

fn header(name: &str, found: &FoundDocument, words: usize) -> String {
    let id = match found.id.as_slice() {
        [] => String::new(),
        id => format!("{}  ", one_line(id)),
    };
    let mut text = format!(
        "{name}  {id}{}  {} bytes, {words} words\n",
        one_line(found.at().as_bytes()),
        found.text.len(),
    );
    if !found.url.is_empty() {
        text += &format!("   {}\n", one_line(&found.url));
    }
    text
}

/// Bytes made visible on one line.
fn one_line(bytes: &[u8]) -> String {
    visible(bytes).replace('\n', "\\n")
}

fn row(listed: &Listed) -> String {
    let mut text = listed.method.replace('\n', "\\n");
    if let Some(distance) = listed.distance {
        text += &format!(", distance {distance}");
    }
    if let Some(estimate) = listed.estimate {
        text += &format!(", estimated similarity {estimate:.4}");
    }
    match (listed.shingles, listed.similarity) {
        (Some([shared, all]), _) => format!("{text}, {shared} of {all} shingles shared"),
        (None, Some(_)) => text + ", the same words",
        (None, None) => text + ", a newer document has the same URL",
    }
}

fn label(method: &str) -> &str {
    match method {
        "exact" => "exact text",
        "normalized" => "normalized words",
        "simhash_64" => "SimHash 64, words",
        "simhash_128" => "SimHash 128, words",
        "simhash_64_shingles" => "SimHash 64, shingles",
        "minhash" => "MinHash, shingles",
        "jaccard" => "A ∩ B of A ∪ B, shingles",
        "containment_of_a" => "A ∩ B of A, shingles",
        "containment_of_b" => "A ∩ B of B, shingles",
        other => other,
    }
}

/// The measurement, and the requirement.
fn evidence(evidence: Evidence) -> [String; 2] {
    match evidence {
        Evidence::Digests([a, b]) => {
            let found = if a == b { "equal" } else { "different" };
            [found.to_owned(), "equal".to_owned()]
        }
        Evidence::Fingerprints {
            width,
            distance,
            most,
            ..
        } => [
            format!("{distance} of {width} bits differ"),
            format!("at most {most}"),
        ],
        Evidence::Bands { equal, bands } => [
            format!("{equal} of {} bands equal", bands.bands()),
            format!("at least 1 band (of {} rows each)", bands.rows()),
        ],
        Evidence::Score(Score::Distance(bits)) => [format!("{bits} bits differ"), String::new()],
        Evidence::Score(Score::Fraction(part, whole)) => [
            format!(
                "{part} of {whole} = {:.3}",
                (u128::from(part) * 1000 / u128::from(whole.max(1))) as f64 / 1000.0
            ),
            String::new(),
        ],
        Evidence::Nothing => [String::new(), String::new()],
        Evidence::Share {
            shared,
            all,
            thousandths,
        } => [
            // Rounded down, so that a value shown as equal to the threshold reaches it.
            format!(
                "{shared} of {all} = {:.3}",
                (shared * 1000 / all.max(1)) as f64 / 1000.0
            ),
            format!("at least {}", f64::from(thousandths) / 1000.0),
        ],
    }
}

fn outcome(outcome: Outcome) -> String {
    match outcome {
        Outcome::Near => "near".to_owned(),
        Outcome::Far => "not near".to_owned(),
        Outcome::TooShort(1) => "nothing to compare".to_owned(),
        Outcome::TooShort(least) => format!("too short: {least} words needed"),
    }
}

fn verdict_json(verdict: &Verdict) -> Value {
    let mut value = Map::new();
    let mut add = |name: &str, field: Value| drop(value.insert(name.to_owned(), field));
    add("method", verdict.method.clone().into());
    match verdict.evidence {
        Evidence::Digests([a, b]) => {
            add("a", format!("{a:032x}").into());
            add("b", format!("{b:032x}").into());
        }
        Evidence::Fingerprints {
            bits: [a, b],
            width,
            distance,
            most,
        } => {
            let digits = width as usize / 4;
            add("a", format!("{a:0digits$x}").into());
            add("b", format!("{b:0digits$x}").into());
            add("distance", distance.into());
            add("most", most.into());
        }
        Evidence::Bands { equal, bands } => {
            add("equal_bands", equal.into());
            add("bands", bands.bands().into());
            add("rows", bands.rows().into());
        }
        Evidence::Score(Score::Distance(bits)) => add("distance", bits.into()),
        Evidence::Score(Score::Fraction(part, whole)) => add("score", json!([part, whole])),
        Evidence::Nothing => {}
        Evidence::Share {
            shared,
            all,
            thousandths,
        } => {
            add("similarity", json!([shared, all]));
            add("least", json!([thousandths, 1000]));
        }
    }
    add("near", (verdict.outcome == Outcome::Near).into());
    if let Outcome::TooShort(least) = verdict.outcome {
        add("needed_words", least.into());
    }
    Value::Object(value)
}
