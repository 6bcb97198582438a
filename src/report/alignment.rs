//! Which parts of two texts are the same, in order?
//!
//! A text is a list of tokens. What both begin and end with is taken away first; for what is left,
//! the greedy algorithm of Myers finds the fewest differences, up to a bound. Beyond that bound,
//! the tokens that occur once in each of the texts are the anchors: the longest chain of them that
//! is in the same order in both cuts the problem into small ones. Whatever is too different even
//! then counts as changed. Sources: Myers, "An O(ND) Difference Algorithm and Its Variations",
//! Algorithmica 1, 1986; the anchors are those of Cohen's patience diff.

use std::ops::Range;

/// More differences than this between anchors are not looked for.
const MOST_DIFFERENCES: usize = 1024;
/// Comparisons of one search for differences, and of all.
const SEARCH_STEPS: usize = 1 << 23;
const ALL_STEPS: usize = 1 << 28;
/// How often what is between anchors is cut by anchors of its own.
const MOST_DEPTH: usize = 8;
/// Equal stretches this short, between changes at least as long, are accidents.
const ACCIDENT_TOKENS: usize = 3;

/// A stretch of two texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Whether its tokens are the same in both.
    pub is_equal: bool,
    /// Its tokens in each of them; one of the two may be empty where it changed.
    pub tokens: [Range<usize>; 2],
}

impl Part {
    /// The number of its tokens, in the text that has more of them.
    fn length(&self) -> usize {
        self.tokens.iter().map(Range::len).max().unwrap_or(0)
    }
}

/// Cuts two texts into parts: equal and changed ones by turns, in order, which cover both.
///
/// With few differences there are none fewer, but for equal stretches of a few tokens amid longer
/// changes, which count as changed. Deterministic. O(n log n) time and about 2^28 steps more at
/// most, O(n) memory and 8 MB.
pub fn align(a: &[u32], b: &[u32]) -> Vec<Part> {
    without_accidents(parts(&matches(a, b), [a.len(), b.len()]))
}

/// A stretch of so many tokens that both texts share, at its place in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Match {
    a: usize,
    b: usize,
    length: usize,
}

fn matches(a: &[u32], b: &[u32]) -> Vec<Match> {
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
    /// In order, those that touch not yet joined.
    matches: Vec<Match>,
    /// Comparisons that may still be made.
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
            self.matches.push(Match { a, b, length });
        }
    }

    /// Aligns what begins and ends differently.
    fn align_different(&mut self, a: Range<usize>, b: Range<usize>, depth: usize) {
        if let Some(few) = self.fewest_differences(a.clone(), b.clone()) {
            self.matches.extend(few);
            return;
        }
        if depth == MOST_DEPTH {
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

    /// The matches that leave the fewest differences; `None` if that takes too much.
    ///
    /// `reached[k]` is how far into `a` one comes on diagonal k (in `a` minus in `b`) with a number
    /// of differences. What was reached with each number is kept, to find the way back.
    fn fewest_differences(&mut self, a: Range<usize>, b: Range<usize>) -> Option<Vec<Match>> {
        let (text_a, text_b) = (&self.a[a.clone()], &self.b[b.clone()]);
        let most = (text_a.len() + text_b.len()).min(MOST_DIFFERENCES);
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
        Some(way_back(&history, end??, [a.start, b.start]))
    }
}

/// A diagonal that can be reached with a number of differences: those from minus that number to
/// plus it, every second one.
#[derive(Clone, Copy)]
struct Diagonal {
    differences: usize,
    /// Its number among them, from the lowest.
    step: usize,
}

impl Diagonal {
    fn new(differences: usize, step: usize) -> Diagonal {
        Diagonal { differences, step }
    }

    /// Whether one comes to it by a token that only `b` has, rather than one that only `a` has.
    fn is_from_above(self, before: &[u32]) -> bool {
        let Diagonal { differences, step } = self;
        step == 0 || step < differences && before[step - 1] < before[step]
    }

    /// Where on it the next equal tokens may stand: in `a`.
    fn begin(self, before: Option<&Vec<u32>>) -> usize {
        match before {
            None => 0,
            Some(before) if self.is_from_above(before) => before[self.step] as usize,
            Some(before) => before[self.step - 1] as usize + 1,
        }
    }

    /// That place in both texts; `None` if it is outside.
    fn place(self, in_a: usize, a: &[u32], b: &[u32]) -> Option<(usize, usize)> {
        let in_b = (in_a + self.differences).checked_sub(2 * self.step)?;
        (in_a <= a.len() && in_b <= b.len()).then_some((in_a, in_b))
    }
}

/// The matches on the way to diagonal `step` of the last number of differences.
fn way_back(history: &[Vec<u32>], mut step: usize, start: [usize; 2]) -> Vec<Match> {
    let mut matches = Vec::new();
    for differences in (0..history.len()).rev() {
        let before = differences.checked_sub(1).map(|before| &history[before]);
        let diagonal = Diagonal::new(differences, step);
        let begin = diagonal.begin(before);
        let length = history[differences][step] as usize - begin;
        if length > 0 {
            matches.push(Match {
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

/// The longest chain of tokens that occur once in each text, in the order of both: places.
fn anchors(a: &[u32], b: &[u32]) -> Vec<(usize, usize)> {
    let (in_a, in_b) = (singles(a), singles(b));
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

/// The tokens that occur once, by token, and where.
fn singles(tokens: &[u32]) -> Vec<(u32, usize)> {
    let mut places: Vec<(u32, usize)> = tokens.iter().copied().zip(0..).collect();
    places.sort_unstable();
    let runs = places.chunk_by(|(token, _), (next, _)| token == next);
    runs.filter(|run| run.len() == 1)
        .map(|run| run[0])
        .collect()
}

/// The longest subsequence whose second places ascend, by patience sorting.
fn longest_chain(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // The last pair of the best chain of each length, and who stands before whom.
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

fn parts(matches: &[Match], [end_a, end_b]: [usize; 2]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let (mut a, mut b) = (0, 0);
    let end = Match {
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
