//! Runs of consecutive lines with a minimum number of words.

use std::collections::VecDeque;
use std::ops::Range;

use crate::kernel::Level;
use crate::text::tokenizer::{Choice, Tokenizer};

/// The words as which a line with at least one word counts at least: six entries of a menu count as
/// 30 words.
pub const MIN_LINE_WORDS: usize = 5;

/// The bytes at the beginning of a line in which enough words are looked for first.
const BEGINNING_BYTES: usize = 1024;

/// The multiplier of the hashes of lines: odd, so that it has an inverse.
const MULTIPLIER: u128 = 0x2d35_8dcc_aa6c_78a5_9e37_79b9_7f4a_7c15;
/// The inverse of [`MULTIPLIER`] modulo 2¹²⁸.
const INVERSE: u128 = {
    let mut inverse = MULTIPLIER;
    // Each step doubles the number of correct bits, of which an odd number has three as its own
    // inverse.
    let mut step = 0;
    while step < 6 {
        let product = MULTIPLIER.wrapping_mul(inverse);
        inverse = inverse.wrapping_mul(2u128.wrapping_sub(product));
        step += 1;
    }
    inverse
};

/// Counts the words of lines.
pub(super) struct LineWords {
    tokenizer: Tokenizer,
    /// Where counting stops.
    enough: usize,
}

impl LineWords {
    pub(super) fn new(choice: Choice, enough: usize) -> LineWords {
        LineWords {
            tokenizer: Tokenizer::new(choice, Level::best()),
            enough,
        }
    }

    /// The words as which a line counts: none if it has none, and otherwise at least
    /// [`MIN_LINE_WORDS`]. Larger numbers than `enough` are `enough`.
    pub(super) fn of(&mut self, line: &[u8]) -> usize {
        let mut words = 0;
        // What is code, and what a string or a comment, may depend on the rest of the line.
        let is_code = matches!(
            self.tokenizer.choice(),
            Choice::Code | Choice::CodeAndComments
        );
        if let (Some(beginning), false) = (line.get(..BEGINNING_BYTES), is_code) {
            words = self.count(beginning);
        }
        // Near its end, the beginning may have other words than the line.
        if words <= 2 * self.enough {
            words = self.count(line);
        }
        match words {
            0 => 0,
            words => words.max(MIN_LINE_WORDS).min(self.enough),
        }
    }

    fn count(&mut self, text: &[u8]) -> usize {
        let mut words = 0;
        self.tokenizer.for_each_word(text, &mut |_| words += 1);
        words
    }
}

/// The hash of consecutive lines: a polynomial of their hashes modulo 2¹²⁸, of which the first line
/// can be removed again.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunHash {
    pub(super) value: u128,
    /// The power of [`MULTIPLIER`] whose exponent is the number of lines.
    power: u128,
}

impl RunHash {
    /// The hash of no line.
    pub(super) const EMPTY: RunHash = RunHash { value: 0, power: 1 };

    pub(super) fn push(&mut self, line: u128) {
        self.value = self.value.wrapping_mul(MULTIPLIER).wrapping_add(line);
        self.power = self.power.wrapping_mul(MULTIPLIER);
    }

    fn remove_first(&mut self, line: u128) {
        self.power = self.power.wrapping_mul(INVERSE);
        self.value = self.value.wrapping_sub(line.wrapping_mul(self.power));
    }
}

/// A line that is not blank.
struct RunLine {
    start: usize,
    hash: u128,
    words: usize,
}

/// Finds, of each line, the shortest run with enough words that begins with it, and the shortest one
/// that ends with it.
///
/// A run with enough words begins with the shortest one of its first line, and so on: so each line of
/// a run with enough words is in one of these, and whatever occurs with the run occurs with them.
pub(super) struct LineRuns {
    enough: usize,
    /// The lines of the last run with enough words, or all so far.
    lines: VecDeque<RunLine>,
    words: usize,
    hash: RunHash,
}

impl LineRuns {
    pub(super) fn new(enough: usize) -> LineRuns {
        LineRuns {
            enough,
            lines: VecDeque::new(),
            words: 0,
            hash: RunHash::EMPTY,
        }
    }

    /// Forgets all lines.
    pub(super) fn clear(&mut self) {
        self.lines.clear();
        self.words = 0;
        self.hash = RunHash::EMPTY;
    }

    /// Adds the next line, and passes the runs that end with it to `visit`, each once, in the order
    /// of their beginnings. Amortised O(1).
    pub(super) fn push(
        &mut self,
        line: Range<usize>,
        (hash, words): (u128, usize),
        mut visit: impl FnMut(Range<usize>, u128),
    ) {
        // The first run in `lines` is new unless it had enough words without this line.
        let mut is_new = self.words < self.enough;
        self.words += words;
        self.hash.push(hash);
        let start = line.start;
        self.lines.push_back(RunLine { start, hash, words });
        while let Some(first) = self.lines.front()
            && self.words - first.words >= self.enough
        {
            if is_new {
                visit(first.start..line.end, self.hash.value);
            }
            is_new = true;
            self.words -= first.words;
            self.hash.remove_first(first.hash);
            self.lines.pop_front();
        }
        if let Some(first) = self.lines.front()
            && self.words >= self.enough
        {
            visit(first.start..line.end, self.hash.value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The runs, by comparing all.
    fn naive(words: &[usize], enough: usize) -> Vec<(usize, usize)> {
        let is_enough = |run: &[usize]| run.iter().sum::<usize>() >= enough;
        let ends = 1..=words.len();
        let runs = ends.flat_map(|end| (0..end).map(move |start| (start, end)));
        let is_unit = |&(start, end): &(usize, usize)| {
            let run = &words[start..end];
            is_enough(run) && !(is_enough(&run[1..]) && is_enough(&run[..run.len() - 1]))
        };
        runs.filter(is_unit).collect()
    }

    proptest! {
        #[test]
        fn runs_are_the_shortest_ones_of_their_first_or_last_line(
            words in prop::collection::vec(0..9usize, 0..40), enough in 1..20usize,
        ) {
            let mut runs = LineRuns::new(enough);
            for _ in 0..2 {
                runs.clear();
                let mut found = Vec::new();
                for (number, &words) in words.iter().enumerate() {
                    let hash = (number as u128 + 1) << 100 | 7;
                    runs.push(number..number + 1, (hash, words), |run, hash| {
                        let mut whole = RunHash::EMPTY;
                        run.clone().for_each(|line| whole.push((line as u128 + 1) << 100 | 7));
                        assert_eq!(hash, whole.value);
                        found.push((run.start, run.end));
                    });
                }
                prop_assert_eq!(&found, &naive(&words, enough));
            }
        }

        #[test]
        fn the_words_of_long_lines_are_all_counted(
            part in "([ab.]{1,9}|[中e\u{301}한] ?){1,20}", times in 1..400usize, enough in 1..300usize,
        ) {
            let line = part.repeat(times);
            for choice in Choice::ALL {
                let mut words = LineWords::new(choice, enough);
                let all = match words.count(line.as_bytes()) {
                    0 => 0,
                    all => all.max(MIN_LINE_WORDS).min(enough),
                };
                prop_assert_eq!(words.of(line.as_bytes()), all, "{}", choice);
            }
        }
    }

    #[test]
    fn words_of_lines_are_counted() {
        for (line, expected) in [
            ("--", 0),
            ("", 0),
            ("}", 0),
            ("Home", 5),
            ("one two three four five six", 6),
            ("中文中文中文中", 7),
            (&"word ".repeat(40), 30),
        ] {
            let mut words = LineWords::new(Choice::Auto, 30);
            assert_eq!(words.of(line.as_bytes()), expected, "{line:?}");
        }
        assert_eq!(LineWords::new(Choice::Ascii, 30).of("中文".as_bytes()), 0);
    }
}
