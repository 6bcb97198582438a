//! Every strategy on every instruction set finds what comparing all pairs finds.

use proptest::prelude::*;
use simtool_core::ErrorKind;
use simtool_core::kernel::Level;
use simtool_core::search::hamming::{
    Fingerprint, HammingScratch, Hit, Index, Strategy, plan, scan,
};
use simtool_core::search::naive;

/// How the fingerprints of a case are spread.
#[derive(Clone, Copy, Debug)]
enum Spread {
    Uniform,
    /// Bit j is set in 2 % to 99 % of them.
    Skewed,
    /// A few centres, and fingerprints a few bits away from one.
    Clustered,
    AllEqual,
}

const SPREADS: [Spread; 4] = [
    Spread::Uniform,
    Spread::Skewed,
    Spread::Clustered,
    Spread::AllEqual,
];
const WIDTHS: [u32; 10] = [1, 2, 8, 16, 31, 63, 64, 65, 127, 128];

/// SplitMix64: a case is its seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    fn wide(&mut self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }

    fn fingerprint(&mut self, spread: Spread, seed: u64) -> u128 {
        match spread {
            Spread::Uniform => self.wide(),
            Spread::Skewed => (0..128).fold(0, |bits, j| {
                let one = self.next() % 10_000 < 200 + j * 77 % 9_700;
                bits | u128::from(one) << j
            }),
            Spread::Clustered => {
                let centre = Random(seed ^ (self.next() % 5)).wide();
                let errors = self.next() % 6;
                (0..errors).fold(centre, |bits, _| bits ^ 1 << (self.next() % 128))
            }
            Spread::AllEqual => Random(seed).wide(),
        }
    }
}

fn strategies(k: u32) -> impl Iterator<Item = Strategy> {
    let blocks = (k + 1..=k + 3).filter(|blocks| {
        (1..=k).fold(1.0, |c, i| c * f64::from(blocks - k + i) / f64::from(i)) <= 255.0
    });
    let blocks: Vec<u32> = blocks.collect();
    let tables = blocks
        .clone()
        .into_iter()
        .map(|blocks| Strategy::Tables { blocks });
    let groups = blocks.into_iter().map(|blocks| Strategy::Groups {
        blocks: Some(blocks),
    });
    [Strategy::BruteForce, Strategy::Groups { blocks: None }]
        .into_iter()
        .chain(tables)
        .chain(groups)
}

fn agrees_with_naive<F: Fingerprint>(spread: Spread, width: u32, k: u32, count: usize, seed: u64) {
    let mut random = Random(seed);
    let mut draw = |count| -> Vec<F> {
        (0..count)
            .map(|_| F::truncate(random.fingerprint(spread, seed)))
            .collect()
    };
    let fingerprints = draw(count);
    // Eleven: a whole tile and a part of one. Some are members, changed or not.
    let mut queries = draw(11);
    for (query, member) in queries.iter_mut().zip(&fingerprints).take(6) {
        *query = *member ^ F::truncate(query.widen() & seed as u128 & 0b1001);
    }
    let mask = F::low_bits(width);
    let near =
        |a: &F, b: &F| Some((*a & mask).distance(*b & mask)).filter(|distance| *distance <= k);
    let expected: Vec<Vec<Hit>> = naive::search(&queries, &fingerprints, near)
        .into_iter()
        .map(|hits| {
            hits.into_iter()
                .map(|(distance, at)| Hit {
                    distance,
                    position: at as u32,
                })
                .collect()
        })
        .collect();

    let mut scratch = HammingScratch::default();
    for level in Level::available() {
        for strategy in strategies(k.min(width)) {
            let index = Index::build(&fingerprints, width, k, strategy, level).unwrap();
            let mut batch = Vec::new();
            index.search_batch(&queries, &mut scratch, |query, hits| {
                assert_eq!(query, batch.len());
                batch.push(hits.to_vec());
            });
            assert_eq!(batch, expected, "{strategy:?} {level} width {width} k {k}");
            let mut single = vec![Hit {
                distance: 9,
                position: 9,
            }];
            index.search(queries[0], &mut scratch, &mut single);
            assert_eq!(
                single, expected[0],
                "{strategy:?} {level} width {width} k {k}"
            );
        }
        let mut scanned = vec![Vec::new(); queries.len()];
        scan(
            &fingerprints,
            &queries,
            width,
            k,
            level,
            0,
            |query, hits: &[Hit]| {
                assert!(!hits.is_empty());
                scanned[query].extend_from_slice(hits);
            },
        )
        .unwrap();
        for (scanned, expected) in scanned.iter_mut().zip(&expected) {
            assert!(scanned.is_sorted_by_key(|hit| hit.position));
            scanned.sort();
            assert_eq!(scanned, expected);
        }
    }
}

fn of_width(spread: Spread, width: u32, k: u32, count: usize, seed: u64) {
    if width <= 64 {
        agrees_with_naive::<u64>(spread, width, k, count, seed);
    }
    agrees_with_naive::<u128>(spread, width, k, count, seed);
}

/// Promise (Correct answers): Hamming search finds every fingerprint within the distance, with
/// every strategy, for any width up to 128 and any distance
#[test]
fn at_the_borders() {
    for (seed, spread) in (1..).zip(SPREADS) {
        for width in WIDTHS {
            for k in [0, 1, 3, width - 1, width, width + 1] {
                for count in [0, 1, 65] {
                    of_width(spread, width, k, count, seed);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Promise (Correct answers): Hamming search finds every fingerprint within …
    #[test]
    fn anywhere(
        spread in prop::sample::select(&SPREADS[..]),
        width in prop_oneof![1u32..=128, prop::sample::select(&WIDTHS[..])],
        k in 0u32..=8,
        count in 0usize..=300,
        seed: u64,
    ) {
        of_width(spread, width, k, count, seed);
    }
}

/// Large enough that keys have more bits than there are buckets, and lists more than a block.
/// Promise (Correct answers): Hamming search finds every fingerprint within …
#[test]
fn many_fingerprints() {
    for (seed, spread) in (1..).zip(SPREADS) {
        of_width(spread, 64, 3, 6_000, seed);
        of_width(spread, 12, 2, 6_000, seed);
        of_width(spread, 100, 2, 6_000, seed);
    }
}

#[test]
fn a_scan_in_pieces_continues_the_positions() {
    let fingerprints: Vec<u64> = (0..9_000).map(|i| i % 7).collect();
    let mut found = Vec::new();
    for (piece, first) in fingerprints.chunks(2_500).zip((0..).step_by(2_500)) {
        scan(piece, &[0b110], 3, 0, Level::best(), first, |_, hits| {
            found.extend_from_slice(hits)
        })
        .unwrap();
    }
    let expected: Vec<Hit> = (0..9_000)
        .filter(|i| i % 7 == 6)
        .map(|position| Hit {
            distance: 0,
            position,
        })
        .collect();
    assert_eq!(found, expected);
}

/// Promise (Correct answers): Hamming search finds every fingerprint within …
#[test]
fn the_last_position_is_reported() {
    for level in Level::available() {
        let mut found = Vec::new();
        let first = u32::MAX - 10;
        scan(&[0u64; 10], &[0], 8, 3, level, first, |_, hits| {
            found.extend_from_slice(hits)
        })
        .unwrap();
        let positions = found.iter().map(|hit| hit.position);
        assert!(positions.eq(first..u32::MAX), "{found:?}");
    }
}

#[test]
fn a_plan_respects_memory_and_sees_the_distribution() {
    let mut random = Random(3);
    let uniform: Vec<u64> = (0..200_000).map(|_| random.next()).collect();
    let roomy = plan(&uniform, 1_000_000, 64, 3, usize::MAX).unwrap();
    assert!(
        matches!(roomy.strategy, Strategy::Tables { .. }),
        "{roomy:?}"
    );
    assert!(roomy.candidates_per_query < 200.0, "{roomy:?}");
    let built = Index::build(&uniform, 64, 3, roomy.strategy, Level::best()).unwrap();
    assert_eq!(built.bytes().abs_diff(roomy.bytes) / 1000, 0, "{roomy:?}");
    let tight = plan(&uniform, 1_000_000, 64, 3, 1000).unwrap();
    assert_eq!((tight.strategy, tight.bytes), (Strategy::BruteForce, 0));
    let one_query = plan(&uniform, 1, 64, 3, usize::MAX).unwrap();
    assert_eq!(one_query.strategy, Strategy::BruteForce);

    // Each fingerprint 200 times over: comparing the distinct ones is enough.
    let repeated: Vec<u64> = (0..200_000).map(|i| uniform[i % 1000]).collect();
    let grouped = plan(&repeated, 10_000, 64, 3, usize::MAX).unwrap();
    assert!(
        matches!(grouped.strategy, Strategy::Groups { .. }),
        "{grouped:?}"
    );
    assert!(
        (grouped.hits_per_query / 200.0 - 1.0).abs() < 0.1,
        "{grouped:?}"
    );

    // Ten bits that vary: everything with up to three of them different is a hit.
    let narrow: Vec<u64> = uniform.iter().map(|bits| bits % 1024).collect();
    let crowded = plan(&narrow, 10_000, 16, 3, usize::MAX).unwrap();
    let expected = 176.0 / 1024.0 * 200_000.0;
    assert!(
        (crowded.hits_per_query / expected - 1.0).abs() < 0.1,
        "{crowded:?}"
    );
}

#[test]
fn parameters_out_of_range_are_named() {
    let fail = |width, k, strategy| {
        let error = Index::build(&[0u64], width, k, strategy, Level::best()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Parameter);
        error.to_string()
    };
    assert_eq!(
        fail(65, 3, Strategy::BruteForce),
        "fingerprint width 65: expected 1 to 64 bits"
    );
    assert_eq!(
        fail(64, 3, Strategy::Tables { blocks: 3 }),
        "3 blocks: expected more than the distance, 3"
    );
    assert_eq!(
        fail(64, 3, Strategy::Groups { blocks: Some(30) }),
        "30 blocks at distance 3: 4060 tables, expected at most 255"
    );
    assert!(scan(&[0u64], &[0], 0, 3, Level::best(), 0, |_, _| ()).is_err());
    assert!(
        scan(
            &[0u64; 2],
            &[0],
            8,
            3,
            Level::best(),
            u32::MAX - 1,
            |_, _| ()
        )
        .is_err()
    );
    assert!(plan(&[0u64], 1, 0, 3, 0).is_err());
}
