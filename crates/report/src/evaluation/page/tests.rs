//! Pages of evaluations: hostile text, content security policy, and empty cases.

use super::html::ASSETS;
use super::{EvaluationPage, MistakeDocument};
use crate::html::checks::{HOSTILE, check_accessible, check_hashes, check_hostile};
use simtool_core::sketch::Score;
use simtool_evaluate::{Evaluation, EvaluationSettings, Ids, Outcome, Truth, evaluate};
use std::collections::BTreeMap;

#[test]
fn the_policy_lets_the_style_and_the_script_work() {
    check_hashes(ASSETS);
}

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
    let shown = |name: &str| MistakeDocument {
        name: name.as_bytes().to_vec(),
        text: format!("{HOSTILE} {name}").into_bytes(),
    };
    let documents = BTreeMap::from([(0, shown(HOSTILE)), (1, shown("x")), (2, shown("y"))]);
    let page = EvaluationPage {
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
    check_hostile(&html(&evaluation(EvaluationSettings::default())), 1);
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
}

#[test]
fn the_same_evaluation_is_the_same_page() {
    let page = || html(&evaluation(EvaluationSettings::default()));
    assert_eq!(page(), page());
}

#[test]
fn every_drawing_has_a_text_and_every_table_a_name() {
    check_accessible(&html(&evaluation(EvaluationSettings::default())));
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
