//! Pages of deduplications: hostile text, content security policy, and empty cases.

use super::html::ASSETS;
use crate::dedup::{
    Cluster, ClusterMember, ComparedPair, DedupPage, LowerThreshold, LowerThresholds, MethodRow,
    Refused, ShownDocument, ShownSites, ShownText, Similarities, Sizes, Totals,
};
use crate::html::checks::{HOSTILE, check_accessible, check_hashes, check_hostile};
use crate::places::{Place, Places};

#[test]
fn the_policy_lets_the_style_work() {
    check_hashes(ASSETS);
}

fn document(number: usize) -> ShownDocument {
    let url = [
        HOSTILE,
        "javascript:alert(3)",
        "http://a.example/\"><img src=x>",
    ][number % 3];
    ShownDocument {
        id: HOSTILE.as_bytes().to_vec(),
        url: url.as_bytes().to_vec(),
        place: Some(format!("{HOSTILE}:{number}").into_bytes()),
        text: match number % 4 {
            3 => ShownText::Unknown("the text is not at hand"),
            _ => ShownText::Known(format!("{HOSTILE} {number} {}", "<b>".repeat(9000)).into()),
        },
    }
}

fn pairs() -> Vec<ComparedPair> {
    let pair = |number: usize| ComparedPair {
        kept: document(number),
        document: document(number + 1),
        verified: [80 + number as u32, 100],
        is_estimated: number == 3,
        found: HOSTILE.to_owned(),
    };
    (0..5).map(pair).collect()
}

fn totals(seen: u64) -> Totals {
    Totals {
        seen,
        dropped: seen / 3,
        skipped: seen / 9,
        text_bytes: 1000 * seen,
        dropped_bytes: 400 * seen,
    }
}

fn largest() -> Places<Totals> {
    let row = |number: u64| Place {
        name: HOSTILE.as_bytes().to_vec(),
        files: (number > 3).then_some(number),
        totals: totals(90 - number),
    };
    Places {
        rows: (0..9).map(row).collect(),
        others: 4,
        rest: totals(12),
    }
}

fn page() -> DedupPage {
    let mut sizes = Sizes::default();
    let mut similarities = Similarities::new(Some(800));
    similarities.equal = 9;
    similarities.unknown = 2;
    for number in 0..40 {
        sizes.add(2 + number * number);
        similarities.add([800 + number as u32, 1000], number == 1);
    }
    let cluster = |number: u64| Cluster {
        size: 1600 - number,
        same_text: 900,
        same_words: 0,
        same_url: 0,
        near: 699 - number,
        least: (number > 0).then_some([801, 1000]),
        members: (0..3)
            .map(|place| ClusterMember {
                position: 1 + place * number,
                is_kept: place == 0 || number == 2,
                document: document((place + number) as usize),
            })
            .collect(),
    };
    DedupPage {
        facts: vec![(HOSTILE.to_owned(), HOSTILE.to_owned())],
        totals: totals(900),
        skipped: vec![(HOSTILE.to_owned(), 7)],
        methods: vec![MethodRow {
            name: HOSTILE.to_owned(),
            note: "the same text",
            documents: 30,
            bytes: 400,
        }],
        sources: largest(),
        sites: Some(ShownSites {
            places: largest(),
            without: totals(3),
        }),
        sizes,
        clusters: (0..4).map(cluster).collect(),
        keeps_a_copy: true,
        is_containment: false,
        similarities,
        least_similar: pairs(),
        lower: Some(LowerThresholds {
            sampled: 2000,
            of: 90_000,
            thresholds: vec![LowerThreshold {
                thousandths: 700,
                removed: 40,
                pairs: pairs(),
            }],
        }),
        refused: Some(Refused {
            count: 50,
            listed: Some(20),
            nearest: pairs(),
        }),
        warnings: vec![HOSTILE.to_owned()],
    }
}

fn html(page: &DedupPage) -> String {
    String::from_utf8(page.html()).unwrap()
}

/// Promise (Methods and their evaluation): The HTML page of a deduplication runs …
#[test]
fn untrusted_text_is_never_markup() {
    let html = html(&page());
    check_hostile(&html, 0);
    // Links lead to web addresses only, and to sections of the page.
    for link in html.split("href=\"").skip(1) {
        let is_web = link.starts_with("http://a.example/&quot;&gt;&lt;img");
        assert!(link.starts_with('#') || is_web, "{}", &link[..40]);
    }
    assert!(!html.contains("javascript:alert(3)\""));
}

/// Promise (Methods and their evaluation): The HTML page of a deduplication runs …
#[test]
fn nothing_is_loaded() {
    let html = html(&page());
    let (_, body) = html.split_once("</style>").unwrap();
    for external in [
        "@import", "url(", "<link", "<iframe", "<object", "<embed", "style=\"",
    ] {
        assert_eq!(html.matches(external).count(), 0, "{external}");
    }
    let hostile = body.matches("img src=x").count();
    assert_eq!(body.matches("src=").count(), hostile);
}

#[test]
fn every_drawing_has_a_text_and_every_table_a_name() {
    check_accessible(&html(&page()));
}

#[test]
fn empty_parts_are_left_out() {
    let empty = DedupPage {
        facts: Vec::new(),
        totals: Totals::default(),
        skipped: Vec::new(),
        methods: Vec::new(),
        sources: Places::default(),
        sites: None,
        sizes: Sizes::default(),
        clusters: Vec::new(),
        keeps_a_copy: true,
        is_containment: false,
        similarities: Similarities::new(None),
        least_similar: Vec::new(),
        lower: None,
        refused: None,
        warnings: Vec::new(),
    };
    let html = html(&empty);
    assert!(html.contains("id=\"totals\"") && !html.contains("NaN"));
    for section in [
        "sources",
        "sites",
        "clusters",
        "similarity",
        "lower",
        "refused",
        "warnings",
    ] {
        assert!(!html.contains(&format!("id=\"{section}\"")), "{section}");
    }
    check_accessible(&html);
}

#[test]
fn parts_of_shown_lists_are_bounded() {
    let html = html(&page());
    // Texts of 27 000 bytes are cut.
    assert!(html.len() < 200_000, "{}", html.len());
    assert!(html.contains("and more") && html.contains("the text is not at hand"));
}
