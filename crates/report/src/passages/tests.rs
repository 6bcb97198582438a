//! Pages of repeated units: hostile text, and empty cases.

use super::{ItemRow, Items, PassageRow, PassageTotals, PassagesPage, WorstDocument};
use crate::html::checks::{HOSTILE, check_accessible, check_hostile};
use crate::places::{Place, Places};

fn totals(seen: u64) -> PassageTotals {
    PassageTotals {
        documents: [seen, seen - seen / 3, seen / 3, 0],
        bytes: [100 * seen, 50 * seen, 50 * seen, 0],
        changed: seen / 2,
        repeated_bytes: 50 * seen,
    }
}

fn places<T: Default>(count: u64, totals: fn(u64) -> T) -> Places<T> {
    let row = |number: u64| Place {
        name: HOSTILE.as_bytes().to_vec(),
        files: (number > 2).then_some(number),
        totals: totals(number),
    };
    Places {
        rows: (0..count).map(row).collect(),
        others: count,
        rest: T::default(),
    }
}

fn page(count: u64) -> PassagesPage {
    PassagesPage {
        facts: vec![("Unit".to_owned(), HOSTILE.to_owned())],
        action: HOSTILE.to_owned(),
        done: "removed",
        totals: totals(count),
        noun: ["unit", "units"],
        found: "repeated",
        list: "boilerplate.jsonl",
        units: Some(10 * count),
        removed: [count, 3 * count],
        sources: places(count, totals),
        shares: (0..12).map(|bin| bin * count).collect(),
        most_frequent: (0..count)
            .map(|number| PassageRow {
                text: HOSTILE.as_bytes().to_vec(),
                counts: [number + 2, number + 1],
                places: [number, number / 2],
                bytes: number,
            })
            .collect(),
        items: Some(Items {
            files: places(count, |number| [number, number / 2, number / 3]),
            rows: (0..count)
                .map(|number| ItemRow {
                    ids: [HOSTILE.as_bytes().to_vec(), HOSTILE.as_bytes().to_vec()],
                    texts: [
                        b"stays goes".to_vec(),
                        format!("stays {HOSTILE}").into_bytes(),
                    ],
                    grams: [number + 1, number],
                    is_edited: number % 2 == 1,
                    documents: number,
                })
                .collect(),
        }),
        worst: (0..count)
            .map(|_| WorstDocument {
                id: HOSTILE.as_bytes().to_vec(),
                text: format!("{HOSTILE}\nstays").into_bytes(),
                rest: b"stays".to_vec(),
                bytes: [100, 90],
            })
            .collect(),
        warnings: vec![HOSTILE.to_owned(); count as usize],
    }
}

/// Promise (Repeated units): Hostile text has no effect on the page
#[test]
fn hostile_text_has_no_effect() {
    let html = String::from_utf8(page(5).html()).unwrap();
    check_hostile(&html, 0);
    check_accessible(&html);
    assert!(html.contains("<del>"));
}

#[test]
fn a_page_without_documents_is_one() {
    let html = String::from_utf8(page(0).html()).unwrap();
    check_accessible(&html);
    assert!(!html.contains("<section id=\"units\""));
}
