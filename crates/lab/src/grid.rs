//! The settings that are tried, and their thresholds.

use std::collections::BTreeSet;

use simtool_core::sketch::Score;
use simtool_core::sketch::registry::Spec;
use simtool_core::text::Choice;

use crate::Result;

/// What a setting is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Removal of duplicates, each of which is compared with the kept document by its set of
    /// shingles: only these sets matter, since MinHash finds candidates at any similarity.
    Dedup,
    /// Near documents of samples, by any method and without a further comparison.
    Match,
    /// Documents that were seen before. An index compares sets of shingles by their signatures.
    Index,
}

/// A setting to try.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The method.
    pub spec: Spec,
    /// The least similarity that is tried, in thousandths.
    pub least: u32,
}

/// The tokenizers, with the lengths of shingles that are tried, and the least similarity for each in
/// thousandths.
///
/// A collection shows what is wrong in it, not in one of longer texts, which have more shingles in
/// common by accident. Unrelated texts of 150 000 words had at most 0.18, 0.08 and 0.05 of their
/// shingles of two, three and five words in common, and 0.24 and 0.13 of those of six and nine
/// characters (English, French, German, Chinese; docs/measurements/evaluation).
const SHINGLES: [(Choice, &[(usize, u32)]); 5] = [
    (Choice::Auto, &[(5, 100), (3, 150), (2, 250)]),
    (Choice::Unicode, &[(3, 150)]),
    (Choice::Chars, &[(9, 200), (6, 300)]),
    (Choice::Code, &[(5, 100), (10, 100)]),
    (Choice::CodeAndComments, &[(5, 100), (10, 100)]),
];
/// The similarities for which MinHash is tried.
const MINHASH: [&str; 4] = ["0.8", "0.6", "0.45", "0.3"];
/// Other methods.
const OTHERS: [&str; 10] = [
    "simhash",
    "simhash:stop-words=keep",
    "simhash:weights=log-tf",
    "simhash:bits=128",
    "simhash:features=2",
    "shingle-simhash",
    "lexicon-simhash",
    "fusion",
    "spot-signatures",
    "characters",
];

/// The settings to try with each tokenizer, or with `tokenizer` alone; with `contained`, containment
/// besides resemblance.
///
/// # Errors
/// Errors of parsing the specifications, which are valid.
pub fn grid(
    question: Question,
    tokenizer: Option<Choice>,
    contained: bool,
) -> Result<Vec<(Choice, Vec<Setting>)>> {
    let mut all = Vec::new();
    for (choice, shingles) in SHINGLES {
        let is_wanted = tokenizer.is_none_or(|only| only == choice);
        if is_wanted {
            all.push((choice, of_tokenizer(question, choice, shingles, contained)?));
        }
    }
    if let (Some(only), true) = (tokenizer, all.is_empty()) {
        all.push((
            only,
            of_tokenizer(question, only, SHINGLES[0].1, contained)?,
        ));
    }
    Ok(all)
}

/// The settings to try with a tokenizer.
fn of_tokenizer(
    question: Question,
    tokenizer: Choice,
    shingles: &[(usize, u32)],
    contained: bool,
) -> Result<Vec<Setting>> {
    let mut settings: Vec<(String, u32)> = Vec::new();
    for (width, least) in shingles {
        settings.push((format!("shingles:shingle={width}"), *least));
        if question != Question::Index && contained {
            let text = format!("shingles:measure=containment,shingle={width}");
            settings.push((text, (2 * least).min(1000)));
        }
        if question == Question::Match {
            let minhash = |similarity| format!("minhash:similarity={similarity},shingle={width}");
            settings.extend(MINHASH.map(|similarity| (minhash(similarity), 0)));
        }
    }
    if question == Question::Match && matches!(tokenizer, Choice::Auto | Choice::Ascii) {
        settings.extend(OTHERS.map(|text| (text.to_owned(), 0)));
    }
    let parsed = |(text, least): (String, u32)| {
        let spec = Spec::parse(&text)?;
        Ok(Setting { spec, least })
    };
    settings.into_iter().map(parsed).collect()
}

/// A setting with a threshold.
#[derive(Clone, Debug)]
pub struct Rung {
    /// The method with its threshold.
    pub spec: Spec,
    /// The farthest accepted score; `None` for a setting whose threshold is not tried.
    pub threshold: Option<Score>,
}

/// The setting with each threshold that is tried, the strictest first; a setting without a threshold
/// as it is.
pub fn ladder(
    Setting {
        spec: setting,
        least,
    }: &Setting,
) -> Vec<Rung> {
    let list = setting.list();
    let value = |wanted: &str| {
        let found = list.iter().find(|(name, _)| name == wanted);
        found.map(|(_, value)| value.as_str())
    };
    let with = |name, value: String, threshold| {
        let spec = setting.with(name, &value).ok()?;
        Some(Rung {
            spec,
            threshold: Some(threshold),
        })
    };
    let rungs: Vec<Rung> = match (value("distance"), value("similarity")) {
        // The sketches of MinHash are made for a similarity.
        _ if setting.name() == "minhash" => Vec::new(),
        (Some(_), _) => {
            let bits = value("bits").and_then(|bits| bits.parse().ok());
            let most: u32 = bits.unwrap_or(64) / 4;
            (0..=most)
                .filter_map(|bits| with("distance", bits.to_string(), Score::Distance(bits)))
                .collect()
        }
        (None, Some(own)) => {
            let own = own
                .parse()
                .map_or(0, |own: f64| (own * 1000.0).round() as u32);
            let steps = (1..=20).map(|twentieth| 50 * twentieth);
            let all: BTreeSet<u32> = steps.chain([own]).filter(|part| part >= least).collect();
            let rung = |part: &u32| {
                let value = format!("{}.{:03}", part / 1000, part % 1000);
                with("similarity", value, Score::Fraction(u64::from(*part), 1000))
            };
            all.iter().rev().filter_map(rung).collect()
        }
        (None, None) => Vec::new(),
    };
    match rungs.is_empty() {
        true => vec![Rung {
            spec: setting.clone(),
            threshold: None,
        }],
        false => rungs,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_core::kernel::Level;
    use simtool_core::sketch::registry::METHODS;
    use simtool_core::text::WordSet;
    use simtool_engine::methods::{Common, build_without_statistics};
    use simtool_engine::sketcher::Sketcher;

    fn common(stop_words: &WordSet) -> Common<'_> {
        Common {
            tokenizer: Choice::default(),
            stop_words,
            level: Level::Scalar,
        }
    }

    fn of(text: &str) -> Vec<Rung> {
        let spec = Spec::parse(text).unwrap();
        ladder(&Setting { spec, least: 0 })
    }

    fn thresholds(text: &str) -> Vec<String> {
        let threshold = |rung: Rung| {
            let list = rung.spec.list().into_iter();
            let mut values = list.filter(|(name, _)| name == "distance" || name == "similarity");
            values.next().map_or(String::new(), |(_, value)| value)
        };
        of(text).into_iter().map(threshold).collect()
    }

    #[test]
    fn thresholds_are_tried_from_the_strictest_on() {
        let distances = |most: u32| (0..=most).map(|bits| bits.to_string()).collect::<Vec<_>>();
        assert_eq!(thresholds("simhash"), distances(16));
        assert_eq!(thresholds("simhash:bits=128,distance=40"), distances(32));
        let shares = thresholds("shingles:similarity=0.47");
        assert_eq!(shares.len(), 21);
        assert_eq!(shares[..2], ["1", "0.95"]);
        for share in ["0.47", "0.05"] {
            assert!(shares.iter().any(|found| found == share), "{shares:?}");
        }
        // As they are.
        assert_eq!(thresholds("minhash:similarity=0.4"), ["0.4"]);
        for fixed in ["exact", "shingles and simhash"] {
            assert_eq!(of(fixed).len(), 1);
        }
    }

    /// A setting is sketched once for all thresholds, and accepts what its threshold says.
    #[test]
    fn only_the_threshold_differs() {
        let stop_words = WordSet::default();
        let common = common(&stop_words);
        let text: Vec<String> = (0..300)
            .map(|number| format!("w{}. 中", number * number))
            .collect();
        for entry in METHODS {
            let mut all = Vec::new();
            for rung in of(entry.name) {
                let methods = [build_without_statistics(&rung.spec, common).unwrap()];
                let mut sketcher = Sketcher::new(&methods, common);
                let mut made = sketcher.nothing();
                sketcher.sketch(text.join(" ").as_bytes(), &mut made);
                all.push(made.remove(0).sketches);
                let Some(threshold) = rung.threshold else {
                    continue;
                };
                let near = (1..40).map(|part| match threshold {
                    Score::Distance(_) => Score::Distance(part),
                    Score::Fraction(..) => Score::Fraction(part.into(), 40),
                });
                for score in near.chain([threshold]) {
                    assert_eq!(
                        methods[0].accepts(&score),
                        score <= threshold,
                        "{}",
                        rung.spec
                    );
                }
            }
            all.dedup();
            assert_eq!(all.len(), 1, "{}", entry.name);
        }
    }

    #[test]
    fn the_default_settings_can_be_built() {
        let stop_words = WordSet::default();
        for question in [Question::Dedup, Question::Match, Question::Index] {
            for tokenizer in [None, Some(Choice::Ascii), Some(Choice::Chars)] {
                for (choice, settings) in grid(question, tokenizer, true).unwrap() {
                    assert!(tokenizer.is_none_or(|only| only == choice) && !settings.is_empty());
                    for setting in settings {
                        build_without_statistics(&setting.spec, common(&stop_words)).unwrap();
                        let least = |rung: &Rung| match rung.threshold {
                            Some(Score::Fraction(part, _)) => part >= u64::from(setting.least),
                            _ => setting.least == 0,
                        };
                        assert!(ladder(&setting).iter().all(least));
                    }
                }
            }
        }
    }
}
