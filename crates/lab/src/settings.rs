//! The settings that are tried, and their thresholds.

use std::collections::BTreeSet;

use simtool_core::sketch::Score;
use simtool_core::sketch::registry::Spec;
use simtool_core::text::LeastSimilarity;

/// The settings that are tried by default, for duplicates of a similarity of shingles of `width`
/// words.
pub fn candidates(similarity: LeastSimilarity, width: usize) -> Vec<String> {
    let mut settings: Vec<String> = CANDIDATES.map(str::to_owned).to_vec();
    let lower = LeastSimilarity {
        thousandths: similarity.thousandths * 3 / 4,
        ..similarity
    };
    for (similarity, recall) in [(similarity, "0.95"), (similarity, "0.99"), (lower, "0.95")] {
        let share = similarity.share();
        let text = format!("minhash:similarity={share},recall={recall},shingle={width}");
        settings.extend((similarity.thousandths >= MIN_MINHASH).then_some(text));
    }
    if similarity.is_containment() {
        settings.push(format!("shingles:measure=containment,shingle={width}"));
    }
    settings
}

/// The least similarity for which MinHash is tried, in thousandths; smaller ones take too many
/// permutations.
const MIN_MINHASH: u32 = 50;

/// The default settings that do not depend on the similarity.
const CANDIDATES: [&str; 13] = [
    "simhash",
    "simhash:stop-words=keep",
    "simhash:weights=log-tf",
    "simhash:bits=128",
    "simhash:features=2",
    "shingle-simhash",
    "lexicon-simhash",
    "fusion",
    "shingles:shingle=3",
    "shingles:shingle=5",
    "shingles:shingle=9",
    "spot-signatures",
    "characters",
];

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
pub fn ladder(setting: &Spec, similarity: LeastSimilarity) -> Vec<Rung> {
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
            let all: BTreeSet<u32> = steps.chain([own, similarity.thousandths]).collect();
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
    use simtool_core::text::{Choice, WordSet};
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
        ladder(
            &Spec::parse(text).unwrap(),
            LeastSimilarity::resemblance(725),
        )
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
        assert_eq!(shares.len(), 22);
        assert_eq!(shares[..2], ["1", "0.95"]);
        for share in ["0.725", "0.47", "0.05"] {
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
        for similarity in [
            LeastSimilarity::resemblance(1000),
            LeastSimilarity::resemblance(67),
            LeastSimilarity::containment(1),
            LeastSimilarity::containment(950),
        ] {
            for text in candidates(similarity, 5) {
                let spec = Spec::parse(&text).unwrap();
                build_without_statistics(&spec, common(&stop_words)).unwrap();
            }
        }
    }
}
