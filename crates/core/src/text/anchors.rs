//! Anchors of stretches: by them, equal stretches of texts are found.
//!
//! A text is a sequence of units: words (their hashes) or bytes. A *gram* is a run of some units; a
//! *window* is a stretch of the least length that counts. The anchor of a window is the gram with
//! the least hash in it, and of several the last one. The choice depends on the window alone, so
//! equal windows have equal anchors at the same place. Neighbouring windows mostly share an anchor:
//! with w grams in a window, a random text has two anchors for every w + 1 grams.
//!
//! A stretch that repeats itself at a short distance, such as a line of dashes, would have very many
//! anchors. Of its windows, those that also begin the distance earlier are known to be repeated, and
//! have none.
//!
//! Sources: Schleimer, Wilkerson and Aiken, "Winnowing: local algorithms for document
//! fingerprinting", SIGMOD 2003. Minima of windows by blocks: van Herk, "A fast algorithm for local
//! minimum and maximum filters on rectangular and octagonal kernels", 1992.

use std::ops::Range;

/// A unit of a text.
pub trait Unit: Copy + PartialEq {
    /// A number for hashing; different units have different ones.
    fn number(self) -> u64;
}

/// The hash of a word.
impl Unit for u64 {
    #[inline(always)]
    fn number(self) -> u64 {
        self
    }
}

impl Unit for u8 {
    #[inline(always)]
    fn number(self) -> u64 {
        (u64::from(self) + 1).wrapping_mul(BYTE)
    }
}

/// Odd numbers without a pattern: digits of pi, e and the golden ratio.
const BASE: u64 = 0x2438_3f6a_8885_a309;
const BYTE: u64 = 0xadf8_5458_a2bb_4a9b;
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// The lengths of windows and grams, in units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    window: usize,
    gram: usize,
}

/// An anchor and its windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The hash of its gram.
    pub id: u64,
    /// The first unit of the gram.
    pub at: usize,
    /// The first unit of the first window.
    pub first: usize,
    /// The number of windows, which begin at consecutive units.
    pub windows: usize,
}

/// What is found in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// An anchor.
    Anchor(Anchor),
    /// Windows that are equal to those that begin `distance` units earlier.
    Periodic {
        /// The first unit of the first window.
        first: usize,
        /// The number of windows, which begin at consecutive units.
        windows: usize,
        /// How far earlier the equal windows begin.
        distance: usize,
    },
}

/// Finds the anchors of texts; one for each thread.
pub struct AnchorReader {
    lengths: Lengths,
    /// For each gram of a block, the least hash from there to its end, and where it is in the block.
    suffixes: Vec<(u64, u32)>,
    /// The hashes of the next block so far.
    block: Vec<u64>,
}

impl Lengths {
    /// Windows of `window` units, at least 1 and at most 2³⁰, and grams of a third of them.
    pub fn new(window: usize) -> Lengths {
        let window = window.clamp(1, 1 << 30);
        Lengths {
            window,
            gram: (window / 3).max(1),
        }
    }

    /// The units of a window.
    pub fn window(self) -> usize {
        self.window
    }

    /// The units of a gram.
    pub fn gram(self) -> usize {
        self.gram
    }

    /// The grams of a window.
    fn grams(self) -> usize {
        self.window - self.gram + 1
    }
}

/// The hashes of the grams of a text in order, each from the one before it: O(1) time.
///
/// A hash depends on the units of its gram alone, and is no cryptographic one.
pub struct Grams<'a, U> {
    units: &'a [U],
    gram: usize,
    /// `BASE` to the power of the gram's length.
    power: u64,
    hash: u64,
    next: usize,
}

impl<U: Unit> Grams<'_, U> {
    /// The hashes of all runs of `gram` units, at least 1.
    ///
    /// # Panics
    /// If there is no such run.
    pub fn new(units: &[U], gram: usize) -> Grams<'_, U> {
        let mut hash = 0u64;
        for unit in &units[..gram - 1] {
            hash = hash.wrapping_mul(BASE).wrapping_add(unit.number());
        }
        let power = (0..gram).fold(1u64, |power, _| power.wrapping_mul(BASE));
        Grams {
            units,
            gram,
            power,
            hash,
            next: 0,
        }
    }

    /// The hash of the next gram.
    ///
    /// # Panics
    /// If there is none.
    #[inline(always)]
    pub fn next_hash(&mut self) -> u64 {
        let added = self.units[self.next + self.gram - 1].number();
        let full = self.hash.wrapping_mul(BASE).wrapping_add(added);
        let before = match self.next {
            0 => 0,
            next => self.units[next - 1].number(),
        };
        self.hash = full.wrapping_sub(before.wrapping_mul(self.power));
        self.next += 1;
        let mixed = (self.hash ^ self.hash >> 32).wrapping_mul(MIX);
        mixed ^ mixed >> 29
    }
}

impl AnchorReader {
    /// A reader of anchors of windows of these lengths.
    pub fn new(lengths: Lengths) -> AnchorReader {
        AnchorReader {
            lengths,
            suffixes: Vec::new(),
            block: Vec::new(),
        }
    }

    /// Calls `visit` with the anchors of a text and with its periodic windows, in order. Each window
    /// has exactly one anchor or is periodic.
    ///
    /// O(length) time; memory for two windows.
    pub fn for_each<U: Unit>(&mut self, units: &[U], mut visit: impl FnMut(Found)) {
        let lengths = self.lengths;
        let mut periods = Periods::new(units, lengths);
        self.anchors(units, |anchor| periods.cut(anchor, &mut visit));
    }

    /// Calls `visit` with all anchors, also those of periodic windows.
    fn anchors<U: Unit>(&mut self, units: &[U], mut visit: impl FnMut(Anchor)) {
        let Lengths { window, gram } = self.lengths;
        let grams = self.lengths.grams();
        let Some(windows) = (units.len() + 1).checked_sub(window).filter(|n| *n > 0) else {
            return;
        };
        let mut hashes = Grams::new(units, gram);
        self.block.clear();
        self.block.extend((0..grams).map(|_| hashes.next_hash()));
        // The anchor of the windows from `first` on.
        let (mut id, mut at, mut first) = (0, usize::MAX, 0);
        let mut note = |window: usize, new_id: u64, new_at: usize| {
            if new_at != at {
                if at != usize::MAX {
                    visit(Anchor {
                        id,
                        at,
                        first,
                        windows: window - first,
                    });
                }
                (id, at, first) = (new_id, new_at, window);
            }
        };
        let mut start = 0;
        while start < windows {
            // Window `start` has the grams of the block; the next ones lose some of them and get some
            // of the next block.
            self.end_block();
            let (least, place) = self.suffixes[0];
            note(start, least, start + place as usize);
            let count = (windows - start).min(grams);
            let next_block = start + grams;
            let (mut least, mut min_at) = (u64::MAX, 0);
            for (number, (suffix, place)) in self.suffixes[..count].iter().enumerate().skip(1) {
                let hash = hashes.next_hash();
                self.block.push(hash);
                if hash <= least {
                    (least, min_at) = (hash, next_block + number - 1);
                }
                match least <= *suffix {
                    true => note(start + number, least, min_at),
                    false => note(start + number, *suffix, start + *place as usize),
                }
            }
            start += count;
            if start < windows {
                self.block.push(hashes.next_hash());
            }
        }
        visit(Anchor {
            id,
            at,
            first,
            windows: windows - first,
        });
    }

    /// Turns the hashes of a whole block into minima, and begins the next block.
    fn end_block(&mut self) {
        self.suffixes.resize(self.block.len(), (0, 0));
        let (mut least, mut place) = (u64::MAX, self.block.len() as u32 - 1);
        for (number, hash) in self.block.iter().enumerate().rev() {
            if *hash < least {
                (least, place) = (*hash, number as u32);
            }
            self.suffixes[number] = (least, place);
        }
        self.block.clear();
    }
}

/// Finds windows that repeat those at the distance of an equal anchor.
struct Periods<'a, U> {
    units: &'a [U],
    lengths: Lengths,
    /// The id and the place of the last anchor.
    last: Option<(u64, usize)>,
    /// The distance at which the units in the range are repeated.
    distance: usize,
    repeated: Range<usize>,
}

impl<U: Unit> Periods<'_, U> {
    fn new(units: &[U], lengths: Lengths) -> Periods<'_, U> {
        Periods {
            units,
            lengths,
            last: None,
            distance: 0,
            repeated: 0..0,
        }
    }

    /// Passes the periodic windows of an anchor to `visit`, and the anchor with the others.
    #[inline]
    fn cut(&mut self, anchor: Anchor, visit: &mut impl FnMut(Found)) {
        let last = self.last.replace((anchor.id, anchor.at));
        match last {
            Some((id, at)) if id == anchor.id => self.cut_periodic(anchor, at, visit),
            _ => visit(Found::Anchor(anchor)),
        }
    }

    #[cold]
    fn cut_periodic(&mut self, anchor: Anchor, last: usize, visit: &mut impl FnMut(Found)) {
        let (first, after) = (anchor.first, anchor.first + anchor.windows);
        self.extend(anchor.at, anchor.at - last, first);
        let ends = (self.repeated.end + 1).saturating_sub(self.lengths.window);
        let periodic = self.repeated.start.clamp(first, after)..ends.clamp(first, after);
        if periodic.is_empty() {
            return visit(Found::Anchor(anchor));
        }
        for (first, after) in [(first, periodic.start), (periodic.end, after)] {
            if first < after {
                visit(Found::Anchor(Anchor {
                    first,
                    windows: after - first,
                    ..anchor
                }));
            }
            if after == periodic.start {
                visit(Found::Periodic {
                    first: periodic.start,
                    windows: periodic.len(),
                    distance: self.distance,
                });
            }
        }
    }

    /// Finds the units around `at`, from `first` on, that are repeated at `distance`. In a long run,
    /// each unit is compared once.
    fn extend(&mut self, at: usize, distance: usize, first: usize) {
        let is_known = self.distance == distance && self.repeated.contains(&at);
        if is_known {
            return;
        }
        let is_repeated = |place: usize| self.units[place] == self.units[place - distance];
        let mut start = at;
        while start > first.max(distance) && is_repeated(start - 1) {
            start -= 1;
        }
        let more = (at..self.units.len()).take_while(|place| is_repeated(*place));
        let end = at + more.count();
        self.distance = distance;
        self.repeated = start..end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The anchors of all windows, by definition.
    fn definition<U: Unit>(units: &[U], lengths: Lengths) -> Vec<(u64, usize)> {
        let hash = |at: usize| Grams::new(&units[at..], lengths.gram).next_hash();
        let windows = (units.len() + 1).saturating_sub(lengths.window);
        (0..windows)
            .map(|first| {
                let grams = first..first + lengths.grams();
                // The last of the least ones.
                let (hash, at) = grams
                    .map(|at| (hash(at), at))
                    .min_by_key(|(hash, at)| (*hash, usize::MAX - at))
                    .unwrap();
                (hash, at)
            })
            .collect()
    }

    fn check<U: Unit + std::fmt::Debug>(units: &[U], window: usize) {
        let lengths = Lengths::new(window);
        let expected = definition(units, lengths);
        let mut reader = AnchorReader::new(lengths);
        // A reader keeps nothing of another text.
        reader.for_each(&units[units.len() / 2..], |_| {});
        let mut next = 0;
        reader.for_each(units, |found| match found {
            Found::Anchor(anchor) => {
                assert_eq!(anchor.first, next, "{units:?} {window}");
                assert!(anchor.windows > 0);
                for of in &expected[next..next + anchor.windows] {
                    assert_eq!(&(anchor.id, anchor.at), of);
                }
                next += anchor.windows;
            }
            Found::Periodic {
                first,
                windows,
                distance,
            } => {
                assert_eq!(first, next, "{units:?} {window}");
                assert!(windows > 0 && distance > 0);
                for start in first..first + windows {
                    let own = &units[start..start + window];
                    assert!(own == &units[start - distance..start - distance + window]);
                }
                next += windows;
            }
        });
        assert_eq!(next, expected.len(), "{units:?} {window}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]
        /// Promise (Repeated stretches of text): Each stretch has the anchor of the definition, or
        /// is periodic; runs have few anchors
        #[test]
        fn each_window_has_the_anchor_of_the_definition(
            bytes in prop::collection::vec(0..3u8, 0..80), window in 1..20usize, repeated in 1..4usize,
        ) {
            let bytes = bytes.repeat(repeated);
            check(&bytes, window);
            let words: Vec<u64> = bytes.iter().map(|byte| u64::from(*byte).wrapping_mul(MIX)).collect();
            check(&words, window);
        }

        /// Promise (Repeated stretches of text): Each stretch has the anchor of the definition, or
        /// is …
        #[test]
        fn runs_among_other_units(
            parts in prop::collection::vec((prop::collection::vec(any::<u8>(), 1..7), 1..30usize), 0..6), window in 1..24usize,
        ) {
            let bytes: Vec<u8> = parts.iter().flat_map(|(part, count)| part.repeat(*count)).collect();
            check(&bytes, window);
        }
    }

    fn anchors<U: Unit>(units: &[U], window: usize) -> usize {
        let mut count = 0;
        AnchorReader::new(Lengths::new(window)).for_each(units, |found| {
            count += usize::from(matches!(found, Found::Anchor(_)));
        });
        count
    }

    #[test]
    fn random_text_has_the_expected_number_of_anchors() {
        let mut state = 1u64;
        let units: Vec<u64> = (0..100_000)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                state ^ state >> 31
            })
            .collect();
        let count = anchors(&units, 50);
        // Two for every 36 grams.
        assert!((5300..5800).contains(&count), "{count}");
    }

    /// Promise (Repeated stretches of text): Each stretch has the anchor of the definition, or is …
    #[test]
    fn runs_have_few_anchors() {
        for period in [1, 2, 3, 7, 16] {
            let text: Vec<u8> = (0..100_000u32).map(|n| (n % period) as u8).collect();
            assert!(anchors(&text, 500) <= 2 * period as usize, "{period}");
        }
    }
}
