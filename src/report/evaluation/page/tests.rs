//! Pages of evaluations: hostile text, content security policy, and empty cases.

use super::html::{SCRIPT, SCRIPT_HASH, STYLE, STYLE_HASH};
use super::{Page, ShownDocument};
use crate::evaluate::{Evaluation, EvaluationSettings, Ids, Outcome, Truth, evaluate};
use crate::sketch::Score;
use std::collections::BTreeMap;

/// SHA-256 by its definition, FIPS 180-4; its constants are computed from roots of primes.
fn sha256(message: &[u8]) -> [u8; 32] {
    let primes: Vec<u64> = (2..312).filter(|n| (2..*n).all(|d| n % d != 0)).collect();
    // The first 32 fractional bits of a root, from the integer root of prime * 2^(32 * power).
    let root = |prime: u64, power: u32| -> u32 {
        let target = u128::from(prime) << (32 * power);
        let (mut low, mut high) = (0_u128, 1_u128 << 36);
        while high - low > 1 {
            let middle = (low + high) / 2;
            if middle.pow(power) <= target {
                low = middle
            } else {
                high = middle
            }
        }
        low as u32
    };
    let mut state: Vec<u32> = primes.iter().take(8).map(|&prime| root(prime, 2)).collect();
    let constants: Vec<u32> = primes
        .iter()
        .take(64)
        .map(|&prime| root(prime, 3))
        .collect();
    let mut padded = message.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend_from_slice(&(8 * message.len() as u64).to_be_bytes());
    for block in padded.chunks(64) {
        let words = block
            .chunks(4)
            .map(|word| u32::from_be_bytes(word.try_into().unwrap()));
        let mut w: Vec<u32> = words.collect();
        for t in 16..64 {
            let (a, b) = (w[t - 15], w[t - 2]);
            let a = a.rotate_right(7) ^ a.rotate_right(18) ^ a >> 3;
            let b = b.rotate_right(17) ^ b.rotate_right(19) ^ b >> 10;
            w.push(
                w[t - 16]
                    .wrapping_add(a)
                    .wrapping_add(w[t - 7])
                    .wrapping_add(b),
            );
        }
        let mut v = state.clone();
        for t in 0..64 {
            let s1 = v[4].rotate_right(6) ^ v[4].rotate_right(11) ^ v[4].rotate_right(25);
            let choice = v[4] & v[5] ^ !v[4] & v[6];
            let t1 = [s1, choice, constants[t], w[t]]
                .iter()
                .fold(v[7], |sum, x| sum.wrapping_add(*x));
            let s0 = v[0].rotate_right(2) ^ v[0].rotate_right(13) ^ v[0].rotate_right(22);
            let majority = v[0] & v[1] ^ v[0] & v[2] ^ v[1] & v[2];
            v.rotate_right(1);
            v[4] = v[4].wrapping_add(t1);
            v[0] = t1.wrapping_add(s0).wrapping_add(majority);
        }
        for (sum, word) in state.iter_mut().zip(v) {
            *sum = sum.wrapping_add(word);
        }
    }
    let bytes: Vec<u8> = state.iter().flat_map(|word| word.to_be_bytes()).collect();
    bytes.try_into().unwrap()
}

#[test]
fn the_policy_lets_the_style_and_the_script_work() {
    use base64::Engine;
    let base64 = |bytes: [u8; 32]| base64::engine::general_purpose::STANDARD.encode(bytes);
    // The published digest of "abc".
    assert_eq!(
        base64(sha256(b"abc")),
        "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="
    );
    assert_eq!(STYLE_HASH, base64(sha256(STYLE.as_bytes())));
    assert_eq!(SCRIPT_HASH, base64(sha256(SCRIPT.as_bytes())));
}

const HOSTILE: &str =
    "</title><script>alert(1)</script><img src=x onerror=alert(2)>\"'&\u{202e}\u{0}";

fn evaluation(settings: EvaluationSettings) -> Evaluation {
    let text =
        format!("a\tb\tlabel\n0\t1\t{HOSTILE}\n2\t3\tminor\n0\t2\tunrelated\n1\t3\tunrelated\n")
            .replace('\0', "");
    let truth = Truth::from_pairs(text.as_bytes(), &mut Ids::open()).unwrap();
    let outcomes = [[0, 9, 2, 30], [1, 2, 3, 4]].map(|distances| Outcome {
        name: HOSTILE.to_owned(),
        parameters: vec![(HOSTILE.to_owned(), HOSTILE.to_owned())],
        scores: distances.map(|bits| Some(Score::Distance(bits))).to_vec(),
        accepted: distances.map(|bits| bits <= 3).to_vec(),
        ..Outcome::default()
    });
    evaluate(&truth, &outcomes, settings).unwrap()
}

fn html(evaluation: &Evaluation) -> String {
    let shown = |name: &str| ShownDocument {
        name: name.as_bytes().to_vec(),
        text: format!("{HOSTILE} {name}").into_bytes(),
    };
    let documents = BTreeMap::from([(0, shown(HOSTILE)), (1, shown("x")), (2, shown("y"))]);
    let page = Page {
        title: HOSTILE,
        facts: &[(HOSTILE.to_owned(), HOSTILE.to_owned())],
        evaluation,
        documents: &documents,
        longest_text: 200,
    };
    String::from_utf8(page.html()).unwrap()
}

#[test]
fn untrusted_text_is_never_markup() {
    let html = html(&evaluation(EvaluationSettings::default()));
    assert!(!html.contains("<img") && !html.contains("<script>alert"));
    assert!(!html.contains(['\u{202e}', '\u{0}']));
    // Exactly one script and one style.
    assert_eq!(html.matches("<script").count(), 1);
    assert_eq!(html.matches("<style").count(), 1);
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
}

#[test]
fn nothing_is_loaded() {
    let html = html(&evaluation(EvaluationSettings::default()));
    for external in [
        "http:", "https:", "src=", "@import", "url(", "<link", "<iframe",
    ] {
        let allowed = match external {
            // The hostile names, escaped.
            "src=" => html.matches("img src=x").count(),
            _ => 0,
        };
        assert_eq!(html.matches(external).count(), allowed, "{external}");
    }
    assert!(html.contains("default-src 'none'"));
}

#[test]
fn the_same_evaluation_is_the_same_page() {
    let page = || html(&evaluation(EvaluationSettings::default()));
    assert_eq!(page(), page());
}

#[test]
fn every_drawing_has_a_text_and_every_table_a_name() {
    let html = html(&evaluation(EvaluationSettings::default()));
    let drawings = html.matches("<svg").count();
    let (told, silent) = (
        html.matches("role=\"img\"").count(),
        html.matches("aria-hidden").count(),
    );
    assert_eq!(drawings, told + silent);
    assert_eq!(told, html.matches("<desc").count());
    assert_eq!(
        html.matches("<table").count(),
        html.matches("<caption").count()
    );
    let mut ids: Vec<&str> = html
        .split(" id=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "ids repeat");
}

#[test]
fn mistakes_are_as_many_as_asked_for() {
    let none = evaluation(EvaluationSettings {
        mistakes: 0,
        ..EvaluationSettings::default()
    });
    assert!(!html(&none).contains("Worst mistakes"));
    let one = evaluation(EvaluationSettings {
        mistakes: 1,
        ..EvaluationSettings::default()
    });
    assert!(html(&one).contains("False hits: 1 of 1"));
    assert!(html(&one).contains("text not at hand"));
}

#[test]
fn a_method_that_gives_nothing_has_a_page() {
    let truth = Truth::labelled([]).unwrap();
    let nothing = evaluate(&truth, &[Outcome::default()], EvaluationSettings::default()).unwrap();
    let html = html(&nothing);
    assert!(html.contains("<h2 id=\"methods-h\">") && !html.contains("id=\"curves\""));
    let body = html.split("<script>").next().unwrap();
    assert!(!body.contains("NaN") && !body.contains(">inf"));
    let no_methods = evaluate(&truth, &[], EvaluationSettings::default()).unwrap();
    assert!(self::html(&no_methods).contains("0 methods"));
}
