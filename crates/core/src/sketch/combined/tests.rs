//! Combined methods against the verdicts of their parts.

use proptest::prelude::*;

use super::*;
use crate::kernel::Level;
use crate::sketch::Shape;
use crate::sketch::testing::{self, keys, method};
use crate::text::{Choice, Spelling, Tokenizer, WordHashes};

/// The sketch of a text, if it has features.
fn sketch(method: &dyn Method, text: &[u8]) -> Option<Vec<u8>> {
    let (mut hashes, mut words) = (WordHashes::default(), Spelling::default());
    let mut tokenizer = Tokenizer::new(Choice::Auto, Level::best());
    tokenizer.spell_words(text, true, &mut hashes, &mut words);
    let view = TokenizedDocument {
        text,
        short: &hashes.short,
        long: &hashes.long,
        spelled: words.all(),
    };
    testing::sketch(method, view)
}

/// The verdict of one method; documents without features are near no other.
fn near(method: &dyn Method, a: &[u8], b: &[u8]) -> bool {
    let (Some(a), Some(b)) = (sketch(method, a), sketch(method, b)) else {
        return false;
    };
    let score = method.score(&a, &b);
    assert_eq!(score, method.score(&b, &a));
    let near = method.accepts(&score);
    assert!(!near || !keys(method, &a).is_disjoint(&keys(method, &b)));
    near
}

/// Methods that find no feature in some of these texts: no word, no full stop, no Chinese.
const METHODS: [&str; 6] = [
    "simhash:distance=20",
    "feature-code",
    "characters:similarity=0.5",
    "mirror-5:keywords=2",
    "mirror-1:bytes=4",
    "structure-tree",
];

fn texts() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        3 => "[ab中国。. \n]{0,8}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(part, 0..3).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn verdicts_are_joined(
        a in texts(), b in texts(), same in any::<bool>(),
        names in prop::array::uniform3(prop::sample::select(&METHODS)),
    ) {
        let b = if same { [&a[..], &b].concat() } else { b };
        let [x, y, z] = names.map(|name| near(&*method(name), &a, &b));
        let [first, second, third] = names;
        for (rules, expected) in [
            (["and", "and"], x && y && z),
            (["or", "or"], x || y || z),
            (["and", "or"], (x && y) || z),
            (["or", "and"], (x || y) && z),
        ] {
            let spec = format!("{first} {} {second} {} {third}", rules[0], rules[1]);
            prop_assert_eq!(near(&*method(&spec), &a, &b), expected, "{}", spec);
        }
    }
}

#[test]
fn scores_are_those_of_the_first() {
    let [a, b] = ["中国人民。", "中国人们。"].map(str::as_bytes);
    let score = |spec: &str| {
        let method = method(spec);
        let [a, b] = [a, b].map(|text| sketch(&*method, text).unwrap());
        method.score(&a, &b)
    };
    assert_eq!(
        score("characters and mirror-1:bytes=9"),
        Score::Fraction(3, 5)
    );
    assert_eq!(score("characters and mirror-1"), Score::Fraction(0, 1));
    assert_eq!(
        score("simhash:bits=64 and mirror-1"),
        Score::Distance(u32::MAX)
    );
    assert_eq!(
        score("characters or mirror-1:bytes=9"),
        Score::Fraction(1, 1)
    );
    assert_eq!(score("characters or mirror-1"), Score::Fraction(0, 1));
}

#[test]
fn what_is_known_of_them() {
    let and = method("simhash and mirror-1");
    assert_eq!(and.name(), "and");
    assert_eq!(
        (and.shape(), and.sketch_bytes()),
        (Shape::Keys, Some(1 + 8 + 16))
    );
    assert_eq!((and.least_words(), and.needs()), (8, Needs::HASHES));
    let or = method("simhash or mirror-5");
    assert_eq!((or.least_words(), or.needs().spelled), (1, true));
    assert_eq!(method("simhash or characters").sketch_bytes(), None);
    let parameters = and.parameters();
    assert_eq!(parameters[1], ("second", "mirror-1(bytes=512)".to_owned()));
}

#[test]
fn sketches_that_are_none() {
    for (spec, sketch) in [
        ("simhash and mirror-1", vec![3; 7]),
        ("simhash or characters", vec![3, 8, 0, 0]),
        (
            "simhash or characters",
            [&[3], &u64::MAX.to_le_bytes()[..]].concat(),
        ),
    ] {
        let method = method(spec);
        let keys = || method.keys(&sketch, &mut |_| {});
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(keys)).is_err());
    }
}
