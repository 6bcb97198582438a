//! Every search strategy finds the hits of comparing all pairs.
#![no_main]

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use simtool::kernel::Level;
use simtool::search::hamming::{Fingerprint, HammingScratch, Hit, Index, Strategy, plan, scan};

#[derive(Arbitrary, Debug)]
struct Case {
    width: u8,
    k: u8,
    blocks: u8,
    queries: Vec<u128>,
    /// Each fingerprint is the previous one with these bits changed.
    changes: Vec<(u8, u8)>,
    others: Vec<u128>,
}

fuzz_target!(|case: Case| {
    let (mut searched, mut last) = (case.others.clone(), 0);
    for &(first, second) in &case.changes {
        last ^= 1u128.rotate_left(first.into()) ^ 1u128.rotate_left(second.into());
        searched.push(last);
    }
    if case.width.is_multiple_of(2) {
        check::<u64>(&case, &searched);
    } else {
        check::<u128>(&case, &searched);
    }
});

fn check<F: Fingerprint>(case: &Case, searched: &[u128]) {
    let width = u32::from(case.width) / 2 % F::BITS + 1;
    let k = u32::from(case.k) % (width + 2);
    let searched: Vec<F> = searched.iter().map(|&bits| F::truncate(bits)).collect();
    let queries: Vec<F> = case.queries.iter().map(|&bits| F::truncate(bits)).collect();
    let mask = F::low_bits(width);
    let expected: Vec<Vec<Hit>> = queries
        .iter()
        .map(|&query| {
            let hit = |(position, &other): (usize, &F)| {
                let distance = ((query ^ other) & mask).count_ones();
                (distance <= k).then_some(Hit {
                    distance,
                    position: position as u32,
                })
            };
            let mut hits: Vec<Hit> = searched.iter().enumerate().filter_map(hit).collect();
            hits.sort_unstable_by_key(|hit| (hit.distance, hit.position));
            hits
        })
        .collect();

    let blocks = u32::from(case.blocks);
    let planned =
        plan(&searched, queries.len(), width, k, 1 << 20).expect("the case is within limits");
    let strategies = [
        planned.strategy,
        Strategy::BruteForce,
        Strategy::Groups { blocks: None },
        Strategy::Tables { blocks },
        Strategy::Groups {
            blocks: Some(blocks),
        },
    ];
    for level in Level::available() {
        for strategy in strategies {
            let Ok(index) = Index::build(&searched, width, k, strategy, level) else {
                assert!(strategy != planned.strategy, "{planned:?}");
                continue;
            };
            let (mut scratch, mut number) = (HammingScratch::default(), 0);
            index.search_batch(&queries, &mut scratch, |query, hits| {
                assert_eq!(
                    (query, hits),
                    (number, &expected[query][..]),
                    "{strategy:?} {level}"
                );
                number += 1;
            });
            assert_eq!(number, queries.len());
            let mut hits = Vec::new();
            for (&query, expected) in queries.iter().zip(&expected) {
                index.search(query, &mut scratch, &mut hits);
                assert_eq!(hits, *expected, "{strategy:?} {level}");
            }
        }
        let mut scanned = vec![Vec::new(); queries.len()];
        let kept = |query: usize, hits: &[Hit]| scanned[query].extend_from_slice(hits);
        scan(&searched, &queries, width, k, level, 0, kept).expect("the case is within limits");
        for (hits, expected) in scanned.iter_mut().zip(&expected) {
            assert!(hits.is_sorted_by_key(|hit| hit.position));
            hits.sort_by_key(|hit| hit.distance);
            assert_eq!(hits, expected, "{level}");
        }
    }
}
