//! Tests of structure trees against a direct implementation of their definition.

use std::collections::{BTreeMap, BTreeSet};

use md5::{Digest, Md5};
use proptest::prelude::*;

use super::*;
use crate::sketch::testing::{self, method};

fn sketch(method: &dyn Method, text: &[u8]) -> Vec<u8> {
    testing::sketch(method, testing::of_text(text)).unwrap_or_default()
}

type Tree = BTreeMap<usize, (u64, BTreeSet<Vec<u8>>)>;

/// The number of nodes and the set of digests of each level, by definition.
fn tree(text: &[u8], ends: bool) -> Tree {
    let mut tree = Tree::new();
    for line in String::from_utf8_lossy(text).split(['\n', '\r']) {
        let block = line.trim();
        let sentences = block.split(['。', '！', '？', '；', '!', '?', ';']);
        let kept = sentences.map(|s| {
            s.chars()
                .filter(|c| c.is_alphanumeric())
                .collect::<String>()
        });
        let letters = |s: &String| s.chars().filter(|c| c.is_alphabetic()).count();
        let kept: Vec<String> = kept.filter(|s| letters(s) > 0).collect();
        // `max_by_key` returns the last maximum: in the reversed list, the first one of `kept`.
        let Some(longest) = kept.iter().rev().max_by_key(|s| letters(s)) else {
            continue;
        };
        let chosen = if ends {
            vec![&kept[0], &kept[kept.len() - 1]]
        } else {
            vec![longest]
        };
        let (nodes, set) = tree.entry(blocks::level(block)).or_default();
        *nodes += 1;
        set.extend(chosen.iter().map(|s| Md5::digest(s.as_bytes()).to_vec()));
    }
    tree
}

fn similarity(a: &Tree, b: &Tree, subtree: bool) -> f64 {
    let (mut sum, mut weights) = (0.0, 0.0);
    let nothing = (0, BTreeSet::new());
    for level in a.keys().chain(b.keys()).collect::<BTreeSet<_>>() {
        let [(a, of_a), (b, of_b)] = [a, b].map(|tree| tree.get(level).unwrap_or(&nothing));
        let shared = of_a.intersection(of_b).count() as f64;
        let of = if subtree {
            of_a.len().min(of_b.len())
        } else {
            of_a.len().max(of_b.len())
        };
        let weight = *a.max(b) as f64;
        sum += if of > 0 {
            weight * shared / of as f64
        } else {
            0.0
        };
        weights += weight;
    }
    if weights > 0.0 { sum / weights } else { 0.0 }
}

fn texts() -> impl Strategy<Value = Vec<u8>> {
    let line = "(第[一二]章|一、|（一）|\\([12]\\)|[12]\\.)?[ab中国]{0,3}([。！；!?,， 3][ab中国]{0,3}){0,3}";
    let line = prop_oneof![
        8 => line.prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..8),
    ];
    prop::collection::vec(line, 0..14).prop_map(|lines| lines.join(&b'\n'))
}

/// Pairs of texts; in some pairs, the second text is the first one with lines added.
fn pairs() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    (texts(), texts(), any::<bool>()).prop_map(|(a, b, edited)| match edited {
        true => (a.clone(), [a, b[..b.len() / 3].to_vec()].join(&b'\n')),
        false => (a, b),
    })
}

proptest! {
    #[test]
    fn scores_match_the_definition(
        (a, b) in pairs(),
        ends in any::<bool>(),
        subtree in any::<bool>(),
    ) {
        let sentences = if ends { "ends" } else { "long" };
        let mode = if subtree { "subtree" } else { "page" };
        let method = method(&format!("structure-tree:sentences={sentences},mode={mode}"));
        let trees = [&a, &b].map(|text| tree(text, ends));
        let sketches = [&a, &b].map(|text| sketch(&*method, text));
        for (tree, sketch) in trees.iter().zip(&sketches) {
            for (number, level) in levels(sketch).iter().enumerate() {
                let (nodes, set) = tree.get(&number).cloned().unwrap_or_default();
                prop_assert_eq!(level.nodes, nodes);
                let hashes: BTreeSet<&[u8]> = set.iter().map(|digest| &digest[..8]).collect();
                prop_assert_eq!(level.hashes.chunks(8).collect::<BTreeSet<_>>(), hashes);
            }
        }
        let expected = similarity(&trees[0], &trees[1], subtree);
        let score = method.score(&sketches[0], &sketches[1]);
        prop_assert_eq!(score, method.score(&sketches[1], &sketches[0]));
        let Score::Fraction(part, whole) = score else { panic!("not a fraction") };
        prop_assert!((part as f64 / whole.max(1) as f64 - expected).abs() < 1e-9, "{score} {expected}");
        let accepted = method.accepts(&score);
        prop_assert!((expected - 0.5).abs() < 1e-9 || accepted == (expected > 0.5));
        prop_assert_eq!(accepted, 2 * u128::from(part) >= u128::from(whole) && part > 0);
        if accepted {
            let keys = |sketch: &[u8]| testing::keys(&*method, sketch);
            prop_assert!(!keys(&sketches[0]).is_disjoint(&keys(&sketches[1])));
        }
        if !a.is_empty() && !sketches[0].is_empty() {
            prop_assert!(method.accepts(&method.score(&sketches[0], &sketches[0])));
        }
    }
}

#[test]
fn blocks_have_levels() {
    for (expected, blocks) in [
        (1, &["第一章 绪论", "第12章", "第 三 章"][..]),
        (2, &["一、绪论", "十二、"]),
        (3, &["（一）绪论", "(二)x", "（ 三 ）"]),
        (4, &["1. Introduction", "12．绪论", "3.", "１．"]),
        (5, &["(1) x", "（12）"]),
        (
            7,
            &[
                "一",
                "第章",
                "第一节",
                "1.5 million",
                "1",
                "(x)",
                "(1",
                "",
                "a 1.",
                "、",
                "()",
            ],
        ),
    ] {
        for block in blocks {
            assert_eq!(blocks::level(block), expected, "{block}");
        }
    }
}

#[test]
fn sentences_of_blocks() {
    let nodes = |text: &str, sentences| {
        let mut found = Vec::new();
        for_each_node(text.as_bytes(), sentences, |level, hashes| {
            found.push((level, hashes.collect::<Vec<_>>()));
        });
        found
    };
    let hash = |letters: &str| {
        let digest = Md5::digest(letters);
        u64::from_le_bytes(digest[..8].try_into().unwrap())
    };
    let text = "  短。这是 最长，的。也是一样长？end 1\r\n\n123。…\n一、标题";
    let long = vec![(7, vec![hash("这是最长的")]), (2, vec![hash("一标题")])];
    assert_eq!(nodes(text, Sentences::Long), long);
    let ends = vec![
        (7, vec![hash("短"), hash("end1")]),
        (2, vec![hash("一标题"), hash("一标题")]),
    ];
    assert_eq!(nodes(text, Sentences::Ends), ends);
}

#[test]
fn one_text_in_another() {
    let part = "一、标题\n第一段话。\n第二段话。";
    let whole =
        format!("{part}\n第三段话。\n第四段话。\n第五段话。\n第六段话。\n第七段话。\n第八段话。");
    let score = |spec: &str| {
        let method = method(spec);
        method.score(
            &sketch(&*method, part.as_bytes()),
            &sketch(&*method, whole.as_bytes()),
        )
    };
    assert_eq!(score("structure-tree"), Score::Fraction(1 + 2, 1 + 8));
    assert_eq!(score("structure-tree:mode=subtree"), Score::Fraction(1, 1));
}

#[test]
fn empty_sketches_are_not_accepted() {
    let method = method("structure-tree");
    assert!(!method.accepts(&method.score(&[], &[])));
}

#[test]
fn malformed_sketches_panic() {
    let method = method("structure-tree");
    let number = |number: u64| number.to_le_bytes();
    for sketch in [
        vec![1],
        number(0).to_vec(),
        [number(0), number(1), number(1)].concat(),
        [number(8), number(1), number(0)].concat(),
        [number(0), number(1), number(u64::MAX)].concat(),
    ] {
        let keys = || method.keys(&sketch, &mut |_| {});
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(keys)).is_err());
    }
}

#[test]
fn common_denominators() {
    assert_eq!(denominator([4, 6, 0].into_iter()), 12);
    let primes = [4_294_967_291, 4_294_967_279, 4_294_967_231];
    assert_eq!(denominator(primes.into_iter()), MAX_DENOMINATOR);
}
