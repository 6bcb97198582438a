//! SpotSigs against their definition.
//!
//! Promise (Methods and their evaluation): Each method follows its definition …

use super::*;
use crate::sketch::registry::Spec;
use crate::sketch::testing::{self, keys};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const STOP: [&str; 4] = ["from", "on", "to", "into"];

fn hash(word: &str) -> u64 {
    xxh3_64(word.as_bytes())
}

fn build(text: &str) -> Box<dyn Method> {
    let stop_words = WordSet::new(STOP.map(hash));
    let spec = Spec::parse(text).unwrap();
    spec.build(&testing::context(&stop_words), &[]).unwrap()
}

fn sketch(method: &dyn Method, words: &[&str]) -> Option<Vec<u8>> {
    let short: Vec<u64> = words.iter().map(|word| hash(word)).collect();
    testing::sketch(method, testing::of_words(&short))
}

/// The spots by their definition, word for word.
fn spots(words: &[&str], chain: usize) -> Vec<Vec<String>> {
    let passed = |word: &str| STOP.contains(&word) || ANTECEDENTS.contains(&word);
    let mut found = Vec::new();
    for (place, antecedent) in words.iter().enumerate() {
        if !ANTECEDENTS.contains(antecedent) {
            continue;
        }
        let mut spot = vec![(*antecedent).to_owned()];
        let mut at = place;
        for _ in 0..chain {
            at += if *antecedent == "is" { 2 } else { 1 };
            while at < words.len() && passed(words[at]) {
                at += 1;
            }
            match words.get(at) {
                Some(word) => spot.push((*word).to_owned()),
                None => break,
            }
        }
        if spot.len() == chain + 1 {
            found.push(spot);
        }
    }
    found
}

fn multiset(spots: &[Vec<String>]) -> BTreeMap<u64, u64> {
    let mut counts = BTreeMap::new();
    for spot in spots {
        let bytes: Vec<u8> = spot
            .iter()
            .flat_map(|word| hash(word).to_le_bytes())
            .collect();
        *counts.entry(xxh3_64(&bytes)).or_insert(0) += 1;
    }
    counts
}

#[test]
fn spots_of_a_sentence() {
    let text = "at a rally to kick off a weeklong campaign for the south carolina primary he \
                tried to set the record straight from an attack circulating on the internet that \
                is designed to play into prejudices";
    let words: Vec<&str> = text.split_whitespace().collect();
    let found: Vec<String> = spots(&words, 2).iter().map(|spot| spot.join(":")).collect();
    let expected = [
        "a:rally:kick",
        "a:weeklong:campaign",
        "the:south:carolina",
        "the:record:straight",
        "an:attack:circulating",
        "the:internet:designed",
        "that:designed:play",
        "is:play:prejudices",
    ];
    assert_eq!(found, expected);
    let sketch = sketch(&*build("spot-signatures:chain=2"), &words).unwrap();
    let found: BTreeMap<u64, u64> = entries(&sketch).iter().map(entry).collect();
    assert_eq!(found, multiset(&spots(&words, 2)));
}

fn words() -> impl Strategy<Value = Vec<&'static str>> {
    let word = prop::sample::select(vec![
        "the", "is", "that", "was", "from", "on", "into", "red", "cat", "sat", "mat", "dog", "ran",
        "far", "sun", "sea", "ice", "oak",
    ]);
    prop::collection::vec(word, 0..90)
}

proptest! {
    #[test]
    fn sketches_and_verdicts_are_the_definition(
        words in words(),
        others in words(),
        cut in 0usize..90,
        chain in 1usize..4,
        percent in 1u64..100,
    ) {
        let method = build(&format!("spot-signatures:chain={chain},similarity=0.{percent:02}"));
        let cut = cut.min(words.len());
        let edited = [&words[..cut], &others[..others.len() / 4], &words[cut..]].concat();
        let sets = [&words, &edited].map(|words| multiset(&spots(words, chain)));
        let sketches = [&words, &edited].map(|words| sketch(&*method, words));
        for (set, sketch) in sets.iter().zip(&sketches) {
            let enough = set.values().sum::<u64>() >= 4;
            prop_assert_eq!(sketch.is_some(), enough);
            if let Some(sketch) = sketch {
                let found: Vec<(u64, u64)> = entries(sketch).iter().map(entry).collect();
                let expected: Vec<(u64, u64)> = set.iter().map(|(a, b)| (*a, *b)).collect();
                prop_assert_eq!(found, expected);
            }
        }
        let [Some(a), Some(b)] = &sketches else { return Ok(()) };
        let all: BTreeSet<&u64> = sets.iter().flat_map(BTreeMap::keys).collect();
        let counts = all.iter().map(|spot| {
            [0, 1].map(|side: usize| sets[side].get(*spot).copied().unwrap_or(0))
        });
        let smaller: u64 = counts.clone().map(|[a, b]| a.min(b)).sum();
        let larger: u64 = counts.map(|[a, b]| a.max(b)).sum();
        let score = method.score(a, b);
        let Score::Fraction(n, d) = score else { panic!("{score}") };
        prop_assert_eq!((n, d), (smaller, larger));
        let near = smaller * 100 >= percent * larger;
        prop_assert_eq!(method.accepts(&score), near);
        prop_assert!(!near || !keys(&*method, a).is_disjoint(&keys(&*method, b)));
    }

    /// Multisets with larger counts than those of test texts.
    #[test]
    fn near_multisets_share_a_key(
        counts in prop::collection::vec((0u64..30, 1u32..60, 1u32..60), 1..20),
        percent in 1u64..=100,
    ) {
        let share = if percent == 100 { "1".to_owned() } else { format!("0.{percent:02}") };
        let method = build(&format!("spot-signatures:similarity={share}"));
        let sketch = |count: fn(&(u64, u32, u32)) -> u32| -> Vec<u8> {
            let counts: BTreeMap<u64, u32> = counts.iter().map(|all| (all.0, count(all))).collect();
            let entry = |(spot, count): (&u64, &u32)| {
                [&spot.to_le_bytes()[..], &count.to_le_bytes()].concat()
            };
            counts.iter().flat_map(entry).collect()
        };
        let (a, b) = (sketch(|counts| counts.1), sketch(|counts| counts.2));
        let score = method.score(&a, &b);
        prop_assert!(!method.accepts(&score) || !keys(&*method, &a).is_disjoint(&keys(&*method, &b)));
    }

    #[test]
    fn near_totals_are_in_neighbouring_partitions(total in 1u64..1 << 40, other in 1u64..1 << 40, share in 1u64..=1_000_000) {
        let method = SpotSignatures {
            antecedents: WordSet::default(),
            stop_words: WordSet::default(),
            chain: 1,
            min_spots: 1,
            least: (share, 1_000_000),
            parameters: Vec::new(),
        };
        let least = (u128::from(total) * u128::from(share)).div_ceil(1_000_000) as u64;
        for near in [least, least + (other % (total - least + 1)), total] {
            let partitions = [near, total].map(|total| method.partition(total));
            prop_assert!(partitions[1] - partitions[0] <= 1, "{near} of {total}: {partitions:?}");
        }
    }
}

#[test]
fn long_runs_of_function_words_take_linear_time() {
    let words = vec!["the"; 300_000];
    assert_eq!(sketch(&*build("spot-signatures:chain=10"), &words), None);
    let words = [words, vec!["end"]].concat();
    let sketch = sketch(&*build("spot-signatures"), &words).unwrap();
    assert_eq!(
        entries(&sketch)
            .iter()
            .map(|bytes| entry(bytes).1)
            .collect::<Vec<_>>(),
        [300_000]
    );
}

#[test]
fn few_spots_are_flagged() {
    let method = build("spot-signatures");
    assert_eq!(
        sketch(&*method, &["the", "cat", "the", "dog", "the", "sea"]),
        None
    );
    assert!(
        sketch(
            &*method,
            &["the", "cat", "the", "dog", "the", "sea", "the", "ice"]
        )
        .is_some()
    );
    assert_eq!(sketch(&*method, &[]), None);
}

#[test]
#[should_panic(expected = "13 bytes of spots")]
fn other_sketches_are_refused() {
    build("spot-signatures").keys(&[0; 13], &mut |_| {});
}
