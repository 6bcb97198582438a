//! Searching sketches and clustering documents block by block gives what comparing all pairs
//! gives, however the blocks, batches and threads are cut.

mod case;
mod judges;

use proptest::prelude::*;
use simtool_core::dedup::components::Components;
use simtool_core::dedup::star::Star;
use simtool_core::dedup::{
    Documents, Event, IndexedBlock, MAX_REFUSALS, OneThread, Parallel, Verdict, naive,
};
use simtool_core::kernel::Level;
use simtool_core::search::join::{AnyQuery, NearQuery, Scratch, SketchIndex};
use simtool_core::sketch::{Score, SketchList, Sketches};
use simtool_core::{Error, ErrorKind};
use std::collections::BTreeMap;

use case::*;
use judges::*;

impl Case {
    /// The events of blocks that end at `borders`, sorted, with the centres and the number of
    /// refusals.
    fn star(
        &self,
        borders: &[u64],
        (batch, pairs, beyond): (usize, usize, u64),
        parallel: &impl Parallel,
        flags: (bool, bool),
    ) -> (Vec<Event>, Vec<u64>, u64) {
        let mut events = Vec::new();
        let mut centres: Vec<u64> = Vec::new();
        let mut refused = 0;
        let trial = Trial::new(self, flags);
        let mut sink = |event| {
            events.push(event);
            Ok(())
        };
        let mut from = 0;
        for &to in borders {
            let index = self.index(from, to, 1 << 30);
            let star = Star::new(index, from, self.partitions(from, to));
            let mut star = star.with_batches(batch, pairs, beyond);
            for ranks in centres.chunks(7) {
                let (sketches, partitions) = self.gathered(ranks);
                let passing = Documents::with_ranks(sketches.all(&self.method), ranks, &partitions);
                star.remove_near(&passing, parallel, &trial, &mut sink)
                    .unwrap();
            }
            while star.step(parallel, &trial, &mut sink).unwrap() {}
            assert_eq!(u64::from(star.decided()), to - from);
            centres.extend(
                star.not_removed()
                    .map(|position| from + u64::from(position)),
            );
            refused += star.refused();
            from = to;
        }
        assert_in_keep_order(&events);
        events.sort_by_key(|event: &Event| (event.centre, event.member));
        let compared = trial.compared();
        assert!(
            compared.is_sorted_by(|a, b| a < b),
            "nothing is compared twice"
        );
        (events, centres, refused)
    }

    /// Sketches and partitions of some documents.
    fn gathered(&self, ranks: &[u64]) -> (SketchList, Vec<u64>) {
        let mut sketches = SketchList::new(&self.method);
        ranks
            .iter()
            .for_each(|rank| sketches.push(self.sketch(*rank)));
        let partitions = ranks
            .iter()
            .filter_map(|rank| self.partitions.get(*rank as usize));
        (sketches, partitions.copied().collect())
    }

    /// The first document of each document's component, the reported events, sorted, and the number
    /// of refusals.
    fn components(
        &self,
        borders: &[u64],
        (batch, pairs): (usize, usize),
        parallel: &impl Parallel,
        flags: (bool, bool),
    ) -> (Vec<u64>, Vec<Event>, u64) {
        let components = Components::new(self.count()).unwrap();
        let mut components = components.with_batches(batch, pairs);
        let trial = Trial::new(self, flags);
        let (mut refused, mut told) = (0, Vec::new());
        let mut sink = |event| {
            told.push(event);
            Ok(())
        };
        let block = |from: u64, to: u64| {
            Documents::block(self.all(from, to), from, self.partitions(from, to))
        };
        for is_second in [false, true] {
            let mut from = 0;
            for &to in borders {
                let index = self.index(from, to, 1 << 30);
                let own = IndexedBlock {
                    index: &index,
                    documents: block(from, to),
                };
                for earlier in [Some(&block(0, from)), None] {
                    let mut at = Some(0);
                    while let Some(start) = at {
                        at = if is_second {
                            let asked = components
                                .report_refused(own, earlier, start, parallel, &trial, &mut sink);
                            let (next, count) = asked.unwrap();
                            refused += count;
                            next
                        } else {
                            let joined = components.join(own, earlier, start, parallel, &trial);
                            joined.unwrap()
                        };
                    }
                }
                from = to;
            }
        }
        assert!(refused == 0 || components.has_refused());
        let compared = trial.compared();
        assert!(
            compared.is_sorted_by(|a, b| a < b),
            "nothing is compared twice"
        );
        assert_in_keep_order(&told);
        told.sort_by_key(|event: &Event| (event.centre, event.member));
        let firsts: Vec<u64> = (0..self.count())
            .map(|rank| components.first(rank))
            .collect();
        for component in components.largest(usize::MAX) {
            let members = firsts.iter().filter(|first| **first == component.first);
            assert_eq!(members.count() as u64, component.size);
        }
        (firsts, told, refused)
    }
}

/// Checks that the events of each document are in the keep order of the other documents.
fn assert_in_keep_order(events: &[Event]) {
    let mut last = BTreeMap::new();
    for event in events {
        let before = last.insert(event.member, event.centre);
        assert!(before.is_none_or(|before| before < event.centre));
    }
}

/// The first refusals of each later document, of `pairs` in any order.
fn first_refusals(mut pairs: Vec<Event>) -> Vec<Event> {
    pairs.sort_by_key(|event| (event.member, event.centre));
    let of_members = pairs.chunk_by(|a, b| a.member == b.member);
    let first = of_members.flat_map(|pairs| pairs.iter().take(MAX_REFUSALS.into()));
    first.copied().collect()
}

/// Ends of blocks, the last at `count`.
fn borders(count: u64, cuts: &[u64]) -> Vec<u64> {
    let mut borders: Vec<u64> = cuts.iter().map(|cut| cut % (count + 1)).collect();
    borders.push(count);
    borders.sort();
    borders
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Promise (Deduplication): Stars and components are those of all pairs, for any blocks,
    /// batches and threads; no pair is compared twice
    /// Promise (Methods and their evaluation): Searches by any method give the result of comparing
    /// all pairs, for sketches of fixed and variable length
    #[test]
    fn stars_of_blocks_are_those_of_all_pairs(
        case in cases(),
        cuts in prop::collection::vec(any::<u64>(), 0..4),
        batch in 1usize..40,
        pairs in 1usize..300,
        beyond in prop_oneof![Just(0), Just(u64::MAX), 0..500u64],
        flags in any::<(bool, bool)>(),
    ) {
        let near = |a, b| case.near(a, b);
        let events = naive::star(case.count(), near, |a, b| case.verdict(a, b));
        let is_refused = |event: &&Event| event.verdict == Verdict::Refused;
        let all_refused = events.iter().filter(is_refused).copied().collect();
        let refused = first_refusals(all_refused);
        let removed: Vec<u64> = events
            .iter()
            .filter(|event| !is_refused(event))
            .map(|event| event.member)
            .collect();
        let centres: Vec<u64> = (0..case.count()).filter(|rank| !removed.contains(rank)).collect();
        let mut told: Vec<Event> = events.iter().filter(|event| !is_refused(event)).copied().collect();
        if flags.1 {
            told.extend_from_slice(&refused);
        }
        told.sort_by_key(|event| (event.centre, event.member));
        let expected = (told, centres, refused.len() as u64);
        let borders = borders(case.count(), &cuts);
        let cut = (batch, pairs, beyond);
        prop_assert_eq!(&case.star(&borders, cut, &OneThread, flags), &expected);
        prop_assert_eq!(&case.star(&borders, cut, &Rayon::new(3), flags), &expected);
        let whole = (1024, 1 << 18, u64::MAX);
        prop_assert_eq!(&case.star(&[case.count()], whole, &OneThread, flags), &expected);
    }

    /// Promise (Deduplication): Stars and components are those of all …
    #[test]
    fn components_of_blocks_are_those_of_all_pairs(
        case in cases(),
        cuts in prop::collection::vec(any::<u64>(), 0..4),
        batch in 1usize..40,
        pairs in 1usize..300,
        flags in any::<(bool, bool)>(),
    ) {
        let is_copy = |a, b| {
            case.near(a, b).is_some() && matches!(case.verdict(a, b), Verdict::Same(_))
        };
        let firsts = naive::components(case.count(), is_copy);
        let mut refused = Vec::new();
        for a in 0..case.count() {
            for b in a + 1..case.count() {
                let Some(score) = case.near(a, b) else { continue };
                if firsts[a as usize] == firsts[b as usize] {
                    continue;
                }
                refused.push(Event { member: b, centre: a, score, verdict: Verdict::Refused });
            }
        }
        let refused = first_refusals(refused);
        let mut told = refused.clone();
        told.retain(|_| flags.1);
        told.sort_by_key(|event| (event.centre, event.member));
        let borders = borders(case.count(), &cuts);
        for threads in [1, 3] {
            let found = case.components(&borders, (batch, pairs), &Rayon::new(threads), flags);
            prop_assert_eq!(&found.0, &firsts);
            prop_assert_eq!(&found.1, &told);
            prop_assert_eq!(found.2, refused.len() as u64);
        }
    }

    #[test]
    fn index_finds_what_all_pairs_find(
        case in cases(),
        range in any::<[u64; 2]>(),
        limit in 1usize..50,
    ) {
        let count = case.count();
        let mut range = range.map(|border| (border % (count + 1)) as u32);
        range.sort();
        let within = range[0]..range[1];
        let plain = Case { partitions: Vec::new(), ..case };
        let mut index = plain.index(0, count, 1 << 30);
        let mut scratch = Scratch::default();
        let mut found = Vec::new();
        for query in 0..count {
            let sketch = plain.sketch(query);
            let expected: Vec<(u32, Score)> = within
                .clone()
                .filter_map(|other| Some((other, plain.near(query, other.into())?)))
                .collect();
            index.near(sketch, within.clone(), &mut scratch, &mut found);
            prop_assert_eq!(&found, &expected);

            let mut portions = Vec::new();
            let mut from = within.start;
            while from < within.end {
                let portion = NearQuery { sketch, within: from..within.end, limit };
                index.near_batch(&[portion], &mut scratch, |_, near, next| {
                    assert!(next > from && near.iter().all(|each| (from..next).contains(&each.0)));
                    portions.extend_from_slice(near);
                    from = next;
                });
            }
            prop_assert_eq!(&portions, &expected);
        }
        let queries: Vec<AnyQuery<'_>> = (0..count)
            .map(|query| AnyQuery {
                sketch: plain.sketch(query),
                except: (query % 3 != 0).then_some(query as u32),
            })
            .collect();
        index.any_near_batch(&queries, &mut scratch, |query, any| {
            let query = query as u64;
            let mut others = (0..count).filter(|other| query.is_multiple_of(3) || *other != query);
            assert_eq!(any, others.any(|other| plain.near(query, other).is_some()));
        });

        let is_kept = |position: u32| scramble(position.into()).is_multiple_of(3);
        index.retain(is_kept);
        for query in 0..count {
            index.near(plain.sketch(query), within.clone(), &mut scratch, &mut found);
            check_retained(&plain, query, is_kept, within.clone(), &found);
        }
    }
}

/// Checks the positions found by an index that retains those for which `is_kept` holds.
fn check_retained(
    case: &Case,
    query: u64,
    is_kept: impl Fn(u32) -> bool,
    within: std::ops::Range<u32>,
    found: &[(u32, Score)],
) {
    let near = |other: u32| Some((other, case.near(query, other.into())?));
    let (kept, others): (Vec<_>, Vec<_>) =
        found.iter().copied().partition(|found| is_kept(found.0));
    let expected: Vec<_> = within
        .filter(|other| is_kept(*other))
        .filter_map(near)
        .collect();
    assert_eq!(kept, expected);
    assert!(others.iter().all(|found| near(found.0) == Some(*found)));
    assert!(case.method.by_keys || others.is_empty(), "{others:?}");
}

/// Enough fingerprints for tables, with enough memory for them and without.
#[test]
fn large_blocks_find_what_small_ones_find() {
    for method in METHODS {
        // Comparing all pairs is the best plan below about 11 600 fingerprints.
        let count = if method.by_keys { 4000 } else { 12_000 };
        let mut sketches = sketches(Spread::Uniform, count, method.bytes, 1);
        let mut random = Random(2);
        for copy in (0..count - 1).step_by(5) {
            let from = copy * method.bytes;
            sketches.copy_within(from..from + method.bytes, from + method.bytes);
            sketches[from + method.bytes] ^= 1 << (random.next() % 8);
        }
        let case = Case {
            method,
            sketches,
            borders: sketch_borders(count, method.bytes),
            partitions: Vec::new(),
            one_in: 3,
            sets: Vec::new(),
        };
        let count = count as u64;
        let all = (false, true);
        let whole = case.star(&[count], (1024, 1 << 18, 0), &OneThread, all);
        assert!(whole.0.len() >= count as usize / 5);
        assert!(case.star(&[1700, 1701, count], (500, 1 << 10, 0), &Rayon::new(2), all) == whole);

        let mut tables = case.index(0, count, 1 << 30);
        let sketches = (0..count).map(|rank| SketchIndex::bytes_for(&method, case.sketch(rank)));
        assert!(tables.bytes() <= sketches.sum::<usize>() + 1000);
        if !method.by_keys {
            let scans = case.index(0, count, 0);
            assert!(scans.bytes() < tables.bytes());
            let (mut scratch, mut a, mut b) = (Scratch::default(), Vec::new(), Vec::new());
            for query in (0..count).step_by(97) {
                tables.near(case.sketch(query), 5..11_000, &mut scratch, &mut a);
                scans.near(case.sketch(query), 5..11_000, &mut scratch, &mut b);
                assert_eq!(a, b);
                let except = Some(query as u32);
                assert_eq!(
                    tables.any_near(case.sketch(query), except, &mut scratch),
                    scans.any_near(case.sketch(query), except, &mut scratch)
                );
            }
            let bytes = tables.bytes();
            let is_kept = |position: u32| position > 6000 && !position.is_multiple_of(7);
            tables.retain(is_kept);
            assert!(tables.bytes() < bytes);
            for query in (0..count).step_by(97) {
                tables.near(case.sketch(query), 5..11_000, &mut scratch, &mut a);
                check_retained(&case, query, is_kept, 5..11_000, &a);
            }
        }
    }
}

/// Documents with a copy in the older collection are removed, and no others.
#[test]
fn references_remove_and_are_not_compared() {
    let case = Case {
        method: METHODS[0],
        sketches: sketches(Spread::Clustered, 200, 8, 3),
        borders: sketch_borders(200, 8),
        partitions: Vec::new(),
        one_in: 4,
        sets: Vec::new(),
    };
    let index = case.index(120, 200, 1 << 30);
    let mut star = Star::new(index, 120, &[]);
    let mut events = Vec::new();
    let passing = Documents::block(case.all(0, 120), 0, &[]);
    let judge = Comparison(|a, b| {
        assert!(a < 120 && b >= 120);
        Ok(case.verdict(a, b))
    });
    let mut sink = |event| {
        events.push(event);
        Ok(())
    };
    star.remove_near(&passing, &OneThread, &judge, &mut sink)
        .unwrap();
    for position in 0..80 {
        let rank = 120 + u64::from(position);
        let mut copies = (0..120).filter(|reference| {
            let verified = matches!(case.verdict(*reference, rank), Verdict::Same(_));
            case.near(*reference, rank).is_some() && verified
        });
        assert_eq!(star.is_removed(position), copies.next().is_some());
    }
    assert!(events.iter().any(|event| event.verdict != Verdict::Refused));
}

#[test]
fn errors_of_the_caller_come_back() {
    let case = Case {
        method: METHODS[0],
        sketches: sketches(Spread::AllEqual, 50, 8, 3),
        borders: sketch_borders(50, 8),
        partitions: Vec::new(),
        one_in: 2,
        sets: Vec::new(),
    };
    let index = case.index(0, 50, 1 << 30);
    let fail = Comparison(|_, _| Err(Error::new(ErrorKind::Read, "gone")));
    let verify = Comparison(|a, b| Ok(case.verdict(a, b)));
    // A batch with too many pairs for one query each is processed by other code.
    for (batch, pairs) in [(1024, 1 << 18), (8, 8)] {
        let mut quiet = |_| Ok(());
        let star = || Star::new(case.index(0, 50, 1 << 30), 0, &[]).with_batches(batch, pairs, 0);
        let error = star().step(&OneThread, &fail, &mut quiet).unwrap_err();
        assert_eq!(error.to_string(), "gone");
        let mut full = |_| Err(Error::new(ErrorKind::Write, "full"));
        let error = star().step(&OneThread, &verify, &mut full).unwrap_err();
        assert_eq!(error.to_string(), "full");
        let block = IndexedBlock {
            index: &index,
            documents: Documents::block(case.all(0, 50), 0, &[]),
        };
        let mut components = Components::new(50).unwrap().with_batches(batch, pairs);
        let error = components
            .join(block, None, 0, &OneThread, &fail)
            .unwrap_err();
        assert_eq!(error.to_string(), "gone");
        let error = components.report_refused(block, None, 0, &OneThread, &verify, &mut full);
        assert_eq!(error.unwrap_err().to_string(), "full");
    }
    assert_eq!(
        Components::new(1 << 32).err().unwrap().kind(),
        ErrorKind::Parameter
    );
}

#[test]
fn indexes_refuse_what_they_cannot_hold() {
    let keys = METHODS[3];
    let sketches = sketches(Spread::Uniform, 1000, 8, 4);
    let of_length = |bytes| Sketches::of_length(&sketches, bytes);
    let error = SketchIndex::build(&keys, of_length(8), 50_000, Level::best());
    let error = error.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Memory);
    assert!(error.to_string().contains("8000 keys"), "{error}");
    let odd = Within3 {
        bytes: 5,
        by_keys: false,
        any_length: false,
    };
    let error = SketchIndex::build(&odd, of_length(5), 50_000, Level::best());
    assert!(
        error
            .err()
            .unwrap()
            .to_string()
            .contains("40 bits: expected 32, 64 or 128")
    );
}
