//! The choice of copies and of random pairs.

use std::collections::BTreeSet;

use super::copy::{Kind, Planted};
use super::edit::edit;
use crate::inputs::ids::Pair;
use crate::random::SplitMix64;

/// A copy of `text` with `percent` of its words, sentences or characters edited, rounded up.
///
/// A word is a run of letters and digits, or a single Chinese or Japanese character; invalid UTF-8
/// separates words. `donor` is another text of the collection: replacements and insertions are its
/// words, or random ones if it has none. Deterministic: depends only on its arguments.
///
/// Returns `None` if the text is too short for the edit, so that the copy would be equal or empty.
pub fn plant(
    text: &[u8],
    donor: &[u8],
    (kind, percent): (Kind, u32),
    seed: u64,
    id: &[u8],
) -> Option<Planted> {
    let name = [kind.label(percent).as_bytes(), b"\0", id].concat();
    let mut random = SplitMix64::named(seed, &name);
    let planted = edit(text, donor, kind, percent, &mut random)?;
    (planted.text != text).then_some(planted)
}

/// At most `count` different random pairs of `documents` documents, ascending. Nearly uniform if
/// `count` is small compared with the number of pairs.
pub fn random_pairs(documents: u32, count: usize, seed: u64) -> Vec<Pair> {
    let mut random = SplitMix64::named(seed, b"random pairs");
    let mut pairs = BTreeSet::new();
    // Most attempts succeed unless nearly all pairs are requested.
    for _ in 0..4 * count {
        if pairs.len() == count || documents < 2 {
            break;
        }
        let [a, b] = [(); 2].map(|()| random.index(documents as usize) as u32);
        pairs.extend(Pair::new(a, b));
    }
    pairs.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planted::PERCENTS;
    use crate::planted::pieces::words;
    use proptest::prelude::*;

    const ENGLISH: &[u8] = b"One day the cat saw a bird. The bird flew away! Was it afraid?\n\
        A headline\nThe cat sat down and waited for the next one. It took 3 hours.";
    const DONOR: &[u8] = b"Quite another story: nothing here has to do with pets or feathers.";
    const CHINESE: &str = "今天天气很好。我们去公园散步!你想一起来吗？公园里有很多花。";

    fn strings(text: &[u8]) -> Vec<String> {
        let words = words(text).into_iter();
        words
            .map(|span| String::from_utf8_lossy(&text[span]).into_owned())
            .collect()
    }

    fn planted(text: &[u8], kind: Kind, percent: u32) -> Planted {
        plant(text, DONOR, (kind, percent), 7, b"id").unwrap()
    }

    #[test]
    fn substitutions_change_the_given_number_of_words() {
        for percent in PERCENTS {
            let copy = planted(ENGLISH, Kind::Substitute, percent);
            let (before, after) = (strings(ENGLISH), strings(&copy.text));
            assert_eq!((before.len(), copy.of), (after.len(), before.len()));
            let changed = before.iter().zip(&after).filter(|(a, b)| a != b).count();
            assert_eq!(changed, copy.edited);
            assert_eq!(copy.edited, (before.len() * percent as usize).div_ceil(100));
        }
    }

    #[test]
    fn moves_keep_every_word_and_gap() {
        let copy = planted(ENGLISH, Kind::Move, 20);
        let sorted = |text: &[u8]| {
            let mut words = strings(text);
            words.sort();
            words
        };
        assert_eq!(sorted(ENGLISH), sorted(&copy.text));
        assert_eq!(
            (copy.edited, copy.of, copy.text.len()),
            (2, 6, ENGLISH.len())
        );
    }

    #[test]
    fn insertions_keep_the_text_around_a_passage_of_the_donor() {
        let copy = planted(ENGLISH, Kind::Insert, 30);
        let (before, after) = (strings(ENGLISH), strings(&copy.text));
        assert_eq!(after.len() - before.len(), copy.edited);
        let start = before
            .iter()
            .zip(&after)
            .take_while(|(a, b)| a == b)
            .count();
        assert_eq!(before[start..], after[start + copy.edited..]);
        let passage = after[start..start + copy.edited].join(" ");
        let donor = [strings(DONOR), strings(DONOR)].concat().join(" ");
        assert!(donor.contains(&passage), "{passage}");
    }

    #[test]
    fn truncation_and_boilerplate_keep_the_rest_as_it_is() {
        let cut = planted(ENGLISH, Kind::Truncate, 10);
        assert!(ENGLISH.starts_with(&cut.text));
        assert_eq!(strings(&cut.text).len(), cut.of - cut.edited);
        for (text, known) in [(ENGLISH, "Home"), (CHINESE.as_bytes(), "首页")] {
            let around = planted(text, Kind::Boilerplate, 30);
            assert!(around.text.windows(text.len()).any(|window| window == text));
            assert_eq!(strings(&around.text).len(), around.of + around.edited);
            assert!(String::from_utf8(around.text).unwrap().starts_with(known));
        }
    }

    #[test]
    fn chinese_is_edited_by_characters_and_stays_utf_8() {
        let donor = "昨天晚上下了一场大雨";
        for kind in Kind::ALL {
            let copy = plant(CHINESE.as_bytes(), donor.as_bytes(), (kind, 10), 1, b"x").unwrap();
            assert!(String::from_utf8(copy.text).is_ok(), "{kind:?}");
            assert!(copy.edited > 0);
        }
        let copy = plant(
            CHINESE.as_bytes(),
            donor.as_bytes(),
            (Kind::Substitute, 10),
            1,
            b"x",
        );
        let copy = String::from_utf8(copy.unwrap().text).unwrap();
        let changed = CHINESE
            .chars()
            .zip(copy.chars())
            .filter(|(a, b)| a != b)
            .count();
        assert_eq!(changed, 3, "{copy}");
    }

    #[test]
    fn wrong_characters_are_as_many_as_asked() {
        let count = |text: &[u8]| String::from_utf8_lossy(text).chars().count();
        let copy = planted(ENGLISH, Kind::Characters, 20);
        let wanted = (copy.of * 20).div_ceil(100);
        assert_eq!((copy.edited, copy.of < count(ENGLISH)), (wanted, true));
        assert!(count(&copy.text).abs_diff(count(ENGLISH)) < wanted);
        let kept = strings(ENGLISH)
            .into_iter()
            .filter(|word| strings(&copy.text).contains(word));
        assert!(kept.count() < strings(ENGLISH).len() * 3 / 5);
    }

    #[test]
    fn copies_depend_on_seed_and_id_alone() {
        let copy = |seed, id: &[u8]| plant(ENGLISH, DONOR, (Kind::Substitute, 20), seed, id);
        assert_eq!(copy(1, b"a"), copy(1, b"a"));
        assert_ne!(copy(1, b"a"), copy(2, b"a"));
        assert_ne!(copy(1, b"a"), copy(1, b"b"));
    }

    #[test]
    fn labels_sort_by_strength() {
        assert_eq!(Kind::Substitute.label(5), "substitute-05");
        assert_eq!(Kind::Move.label(30), "move-30");
    }

    #[test]
    fn random_pairs_are_different_and_of_the_collection() {
        let pairs = random_pairs(10, 20, 3);
        assert_eq!((pairs.len(), &pairs), (20, &random_pairs(10, 20, 3)));
        assert!(pairs.iter().all(|pair| pair.documents()[1] < 10));
        assert!(random_pairs(1, 5, 3).is_empty());
        assert!(random_pairs(3, 50, 3).len() <= 3);
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_edited_or_not(
            text in prop::collection::vec(any::<u8>(), 0..80),
            donor in prop::collection::vec(any::<u8>(), 0..20),
            percent in 0u32..200,
            kind in 0..Kind::ALL.len(),
        ) {
            if let Some(copy) = plant(&text, &donor, (Kind::ALL[kind], percent), 1, b"") {
                prop_assert_ne!(copy.text, text);
                prop_assert!(copy.edited > 0);
            }
        }
    }
}
