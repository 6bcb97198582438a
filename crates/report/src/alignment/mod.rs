//! Alignment of two texts: their equal and changed parts, in order.
//!
//! A text is a list of tokens. The common prefix and suffix are removed first. For the rest, the
//! greedy algorithm of Myers finds the fewest differences, up to a bound. Beyond that bound, tokens
//! that occur once in each text are anchors: the longest chain of them in the same order splits the
//! problem into small ones. Parts that are still too different count as changed. Sources: Myers,
//! "An O(ND) Difference Algorithm and Its Variations", Algorithmica 1, 1986; the anchors are those
//! of Cohen's patience diff.

pub mod tokens;

use std::ops::Range;

/// The maximum number of differences searched between two anchors.
const MAX_DIFFERENCES: usize = 1024;
/// The maximum number of comparisons of one search for differences.
const SEARCH_STEPS: usize = 1 << 23;
/// The maximum number of comparisons of all searches.
const ALL_STEPS: usize = 1 << 28;
/// The maximum depth of recursion between anchors.
const MAX_DEPTH: usize = 8;
/// Equal parts of at most this many tokens, between changes at least as long, count as accidental.
const ACCIDENT_TOKENS: usize = 3;

/// A part of two texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Whether its tokens are the same in both.
    pub is_equal: bool,
    /// Its tokens in each text; a changed part may be empty in one of them.
    pub tokens: [Range<usize>; 2],
}

impl Part {
    /// The number of its tokens in the text that has more.
    fn length(&self) -> usize {
        self.tokens.iter().map(Range::len).max().unwrap_or(0)
    }
}

/// Splits two texts into alternating equal and changed parts, in order, which cover both.
///
/// With few differences the number of changed tokens is minimal, except that a few equal tokens
/// between longer changes count as changed. Deterministic. O(n log n) time plus at most about 2^28
/// steps; O(n) memory plus about 2 MB.
pub fn align(a: &[u32], b: &[u32]) -> Vec<Part> {
    without_accidents(parts(&matches(a, b), [a.len(), b.len()]))
}

/// A run of equal tokens, with its position in each text and its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct EqualRun {
    a: usize,
    b: usize,
    length: usize,
}

fn matches(a: &[u32], b: &[u32]) -> Vec<EqualRun> {
    let mut aligner = Aligner {
        a,
        b,
        matches: Vec::new(),
        steps: ALL_STEPS,
    };
    aligner.align(0..a.len(), 0..b.len(), 0);
    aligner.matches
}

struct Aligner<'t> {
    a: &'t [u32],
    b: &'t [u32],
    /// The matches in order; adjacent ones are not merged yet.
    matches: Vec<EqualRun>,
    /// The remaining number of comparisons.
    steps: usize,
}

impl Aligner<'_> {
    fn align(&mut self, mut a: Range<usize>, mut b: Range<usize>, depth: usize) {
        let pairs = self.a[a.clone()].iter().zip(&self.b[b.clone()]);
        let same = pairs.take_while(|(a, b)| a == b).count();
        self.found(a.start, b.start, same);
        (a.start, b.start) = (a.start + same, b.start + same);

        let pairs = self.a[a.clone()]
            .iter()
            .rev()
            .zip(self.b[b.clone()].iter().rev());
        let same = pairs.take_while(|(a, b)| a == b).count();
        (a.end, b.end) = (a.end - same, b.end - same);
        if !a.is_empty() && !b.is_empty() {
            self.align_different(a.clone(), b.clone(), depth);
        }
        self.found(a.end, b.end, same);
    }

    fn found(&mut self, a: usize, b: usize, length: usize) {
        if length > 0 {
            self.matches.push(EqualRun { a, b, length });
        }
    }

    /// Aligns ranges without common prefix and suffix.
    fn align_different(&mut self, a: Range<usize>, b: Range<usize>, depth: usize) {
        if let Some(few) = self.fewest_differences(a.clone(), b.clone()) {
            self.matches.extend(few);
            return;
        }
        if depth == MAX_DEPTH {
            return;
        }
        let anchors = anchors(&self.a[a.clone()], &self.b[b.clone()]);
        if anchors.is_empty() {
            return;
        }
        let (mut next_a, mut next_b) = (a.start, b.start);
        for (in_a, in_b) in anchors {
            let (in_a, in_b) = (a.start + in_a, b.start + in_b);
            self.align(next_a..in_a, next_b..in_b, depth + 1);
            self.found(in_a, in_b, 1);
            (next_a, next_b) = (in_a + 1, in_b + 1);
        }
        self.align(next_a..a.end, next_b..b.end, depth + 1);
    }

    /// The matches with the fewest differences; `None` if a bound is exceeded.
    ///
    /// `reached[k]` is the furthest position in `a` on diagonal k (position in `a` minus position
    /// in `b`) with a number of differences. The positions for each number are kept for
    /// backtracking.
    fn fewest_differences(&mut self, a: Range<usize>, b: Range<usize>) -> Option<Vec<EqualRun>> {
        let (text_a, text_b) = (&self.a[a.clone()], &self.b[b.clone()]);
        let most = (text_a.len() + text_b.len()).min(MAX_DIFFERENCES);
        let mut steps = SEARCH_STEPS.min(self.steps);
        let before = steps;
        let mut history: Vec<Vec<u32>> = Vec::new();
        let end = (0..=most).find_map(|differences| {
            let mut reached = Vec::with_capacity(differences + 1);
            for step in 0..=differences {
                let diagonal = Diagonal::new(differences, step);
                let begin = diagonal.begin(history.last());
                let Some((in_a, in_b)) = diagonal.place(begin, text_a, text_b) else {
                    reached.push(begin as u32);
                    continue;
                };
                let pairs = text_a[in_a..].iter().zip(&text_b[in_b..]);
                let same = pairs.take_while(|(a, b)| a == b).count();
                steps = steps.saturating_sub(same + 1);
                reached.push((in_a + same) as u32);
                if (in_a + same, in_b + same) == (text_a.len(), text_b.len()) {
                    history.push(std::mem::take(&mut reached));
                    return Some(Some(step));
                }
            }
            history.push(reached);
            (steps == 0).then_some(None)
        });
        self.steps -= before - steps;
        Some(backtrack(&history, end??, [a.start, b.start]))
    }
}

/// A diagonal that can be reached with d differences: every second one from -d to d.
#[derive(Clone, Copy)]
struct Diagonal {
    differences: usize,
    /// Its index among them, from the lowest.
    step: usize,
}

impl Diagonal {
    fn new(differences: usize, step: usize) -> Diagonal {
        Diagonal { differences, step }
    }

    /// Whether the last difference is a token that only `b` has, not one that only `a` has.
    fn is_from_above(self, before: &[u32]) -> bool {
        let Diagonal { differences, step } = self;
        step == 0 || step < differences && before[step - 1] < before[step]
    }

    /// The position in `a` at which a run of equal tokens may start.
    fn begin(self, before: Option<&Vec<u32>>) -> usize {
        match before {
            None => 0,
            Some(before) if self.is_from_above(before) => before[self.step] as usize,
            Some(before) => before[self.step - 1] as usize + 1,
        }
    }

    /// That position in both texts; `None` if it is out of range.
    fn place(self, in_a: usize, a: &[u32], b: &[u32]) -> Option<(usize, usize)> {
        let in_b = (in_a + self.differences).checked_sub(2 * self.step)?;
        (in_a <= a.len() && in_b <= b.len()).then_some((in_a, in_b))
    }
}

/// The matches on the path to diagonal `step` of the last number of differences.
fn backtrack(history: &[Vec<u32>], mut step: usize, start: [usize; 2]) -> Vec<EqualRun> {
    let mut matches = Vec::new();
    for differences in (0..history.len()).rev() {
        let before = differences.checked_sub(1).map(|before| &history[before]);
        let diagonal = Diagonal::new(differences, step);
        let begin = diagonal.begin(before);
        let length = history[differences][step] as usize - begin;
        if length > 0 {
            matches.push(EqualRun {
                a: start[0] + begin,
                b: start[1] + begin + differences - 2 * step,
                length,
            });
        }
        if before.is_some_and(|before| !diagonal.is_from_above(before)) {
            step -= 1;
        }
    }
    matches.reverse();
    matches
}

/// The positions of the longest chain of tokens that occur once in each text, in the order of both.
fn anchors(a: &[u32], b: &[u32]) -> Vec<(usize, usize)> {
    let (in_a, in_b) = (unique_tokens(a), unique_tokens(b));
    let mut pairs = Vec::new();
    let mut others = in_b.iter().peekable();
    for (token, place) in in_a {
        while others.next_if(|(other, _)| *other < token).is_some() {}
        if let Some((_, other_place)) = others.next_if(|(other, _)| *other == token) {
            pairs.push((place, *other_place));
        }
    }
    pairs.sort_unstable();
    longest_chain(&pairs)
}

/// The tokens that occur once and their positions, sorted by token.
fn unique_tokens(tokens: &[u32]) -> Vec<(u32, usize)> {
    let mut places: Vec<(u32, usize)> = tokens.iter().copied().zip(0..).collect();
    places.sort_unstable();
    let runs = places.chunk_by(|(token, _), (next, _)| token == next);
    runs.filter(|run| run.len() == 1)
        .map(|run| run[0])
        .collect()
}

/// The longest subsequence with ascending second positions, by patience sorting.
fn longest_chain(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // The last pair of the best chain of each length, and the predecessor of each pair.
    let mut last: Vec<usize> = Vec::new();
    let mut before = vec![None; pairs.len()];
    for (number, pair) in pairs.iter().enumerate() {
        let length = last.partition_point(|&other| pairs[other].1 < pair.1);
        before[number] = length.checked_sub(1).map(|shorter| last[shorter]);
        match last.get_mut(length) {
            Some(worse) => *worse = number,
            None => last.push(number),
        }
    }
    let chain = std::iter::successors(last.last().copied(), |&number| before[number]);
    let mut chain: Vec<_> = chain.map(|number| pairs[number]).collect();
    chain.reverse();
    chain
}

fn parts(matches: &[EqualRun], [end_a, end_b]: [usize; 2]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let (mut a, mut b) = (0, 0);
    let end = EqualRun {
        a: end_a,
        b: end_b,
        length: 0,
    };
    for found in matches.iter().chain([&end]) {
        if (a, b) != (found.a, found.b) {
            parts.push(Part {
                is_equal: false,
                tokens: [a..found.a, b..found.b],
            });
        }
        (a, b) = (found.a + found.length, found.b + found.length);
        match parts.last_mut() {
            Some(last) if last.is_equal => {
                last.tokens = [last.tokens[0].start..a, last.tokens[1].start..b]
            }
            _ if found.length > 0 => parts.push(Part {
                is_equal: true,
                tokens: [found.a..a, found.b..b],
            }),
            _ => {}
        }
    }
    parts
}

fn without_accidents(all: Vec<Part>) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::with_capacity(all.len());
    for part in all {
        parts.push(part);
        while let [.., before, equal, after] = &parts[..] {
            let length = equal.length();
            let is_accident = equal.is_equal
                && length <= ACCIDENT_TOKENS
                && length <= before.length()
                && length <= after.length();
            if !is_accident {
                break;
            }
            let joined = Part {
                is_equal: false,
                tokens: [0, 1].map(|side| before.tokens[side].start..after.tokens[side].end),
            };
            parts.truncate(parts.len() - 3);
            parts.push(joined);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The length of the longest common subsequence, by its definition.
    fn naive(a: &[u32], b: &[u32]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for token in a {
            let mut diagonal = 0;
            for (place, other) in b.iter().enumerate() {
                let above = row[place + 1];
                row[place + 1] = match token == other {
                    true => diagonal + 1,
                    false => above.max(row[place]),
                };
                diagonal = above;
            }
        }
        row[b.len()]
    }

    fn check(parts: &[Part], a: &[u32], b: &[u32]) {
        let mut next = [0, 0];
        for (number, part) in parts.iter().enumerate() {
            assert_eq!([part.tokens[0].start, part.tokens[1].start], next);
            next = [part.tokens[0].end, part.tokens[1].end];
            assert!(part.length() > 0);
            assert!(number == 0 || parts[number - 1].is_equal != part.is_equal);
            if part.is_equal {
                assert_eq!(a[part.tokens[0].clone()], b[part.tokens[1].clone()]);
            }
        }
        assert_eq!(next, [a.len(), b.len()]);
    }

    fn shared(a: &[u32], b: &[u32]) -> usize {
        matches(a, b).iter().map(|found| found.length).sum()
    }

    proptest! {
        #[test]
        fn few_differences_are_the_fewest(
            a in prop::collection::vec(0u32..6, 0..60),
            b in prop::collection::vec(0u32..6, 0..60),
        ) {
            prop_assert_eq!(shared(&a, &b), naive(&a, &b));
            check(&parts(&matches(&a, &b), [a.len(), b.len()]), &a, &b);
            check(&align(&a, &b), &a, &b);
        }

        #[test]
        fn anchors_are_in_order(
            a in prop::collection::vec(0u32..99, 0..60),
            b in prop::collection::vec(0u32..99, 0..60),
        ) {
            let anchors = anchors(&a, &b);
            prop_assert!(anchors.iter().all(|&(in_a, in_b)| a[in_a] == b[in_b]));
            prop_assert!(anchors.is_sorted_by(|x, y| x.0 < y.0 && x.1 < y.1));
        }
    }

    #[test]
    fn many_differences_are_found_between_anchors() {
        let a: Vec<u32> = (0..100_000).collect();
        let b: Vec<u32> = a
            .iter()
            .map(|&token| {
                if token % 20 == 7 {
                    token + 1_000_000
                } else {
                    token
                }
            })
            .collect();
        assert_eq!(shared(&a, &b), 95_000);
        check(&align(&a, &b), &a, &b);
    }

    #[test]
    fn hopeless_texts_end_in_time() {
        let mixed = |seed: u64, kinds: u64| -> Vec<u32> {
            let numbers = (0..300_000_u64).map(|number| {
                let mixed = (number + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                ((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) % kinds
            });
            numbers.map(|number| number as u32).collect()
        };
        for kinds in [1, 2, 50, 1 << 24] {
            let (a, b) = (mixed(1, kinds), mixed(1 << 40, kinds));
            check(&align(&a, &b), &a, &b);
        }
        let reversed: Vec<u32> = (0..300_000).rev().collect();
        let sorted: Vec<u32> = (0..300_000).collect();
        check(&align(&sorted, &reversed), &sorted, &reversed);
    }

    #[test]
    fn short_equal_stretches_amid_changes_are_accidents() {
        let a = [1, 2, 3, 9, 4, 5, 6, 7, 7, 7, 7];
        let b = [11, 12, 13, 9, 14, 15, 16, 7, 7, 7, 7];
        let parts = align(&a, &b);
        let equal: Vec<bool> = parts.iter().map(|part| part.is_equal).collect();
        assert_eq!(equal, [false, true]);
        assert_eq!(parts[0].tokens, [0..7, 0..7]);
    }
}
