//! What goes with contaminated stretches: text around them, and short pieces between them.

use std::ops::Range;

/// What goes with contaminated stretches, in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Widening {
    /// The characters before and after each stretch.
    pub around: usize,
    /// Pieces of text with fewer characters go, too, if they are beside a stretch.
    pub least_piece: usize,
}

/// A range that goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wide {
    /// Its bytes.
    pub bytes: Range<usize>,
    /// The numbers of the stretches in it.
    pub stretches: Range<usize>,
}

impl Widening {
    /// Replaces `wide` by the ranges that go with some `stretches`, which are ascending and do not
    /// overlap. Ranges that overlap or touch are one.
    ///
    /// A character is a byte that does not continue one, with those that do. O(length of the text).
    pub fn widen(self, text: &[u8], stretches: &[Range<usize>], wide: &mut Vec<Wide>) {
        wide.clear();
        for (number, stretch) in stretches.iter().enumerate() {
            let before = wide.last().map_or(0, |last| last.bytes.end);
            let next = stretches.get(number + 1);
            let after = next.map_or(text.len(), |next| next.start).max(stretch.end);
            let start = stretch.start.max(before);
            let start = before + back(&text[before..start], self.around);
            let end = stretch.end + forth(&text[stretch.end..after], self.around);
            match wide.last_mut() {
                Some(last) if start == before || self.is_short(&text[before..start]) => {
                    last.bytes.end = end.max(before);
                    last.stretches.end = number + 1;
                }
                _ => wide.push(Wide {
                    bytes: start..end,
                    stretches: number..number + 1,
                }),
            }
        }
        if let Some(first) = wide.first_mut()
            && self.is_short(&text[..first.bytes.start])
        {
            first.bytes.start = 0;
        }
        if let Some(last) = wide.last_mut()
            && self.is_short(&text[last.bytes.end..])
        {
            last.bytes.end = text.len();
        }
    }

    fn is_short(self, piece: &[u8]) -> bool {
        // Counts no more characters than needed.
        self.least_piece > 0 && forth(piece, self.least_piece) == piece.len() && {
            piece.iter().filter(|byte| begins(byte)).count() < self.least_piece
        }
    }
}

/// Whether a byte begins a character.
fn begins(byte: &u8) -> bool {
    byte & 0xc0 != 0x80
}

/// Where the last `count` characters of a text begin; 0 if there are fewer.
fn back(text: &[u8], count: usize) -> usize {
    let mut starts = (0..text.len()).rev().filter(|place| begins(&text[*place]));
    match count {
        0 => text.len(),
        _ => starts.nth(count - 1).unwrap_or(0),
    }
}

/// Where the first `count` characters of a text end; its length if there are fewer.
fn forth(text: &[u8], count: usize) -> usize {
    let mut starts = (0..text.len()).filter(|place| begins(&text[*place]));
    match count {
        0 => 0,
        _ => starts.nth(count).unwrap_or(text.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn widened(
        around: usize,
        least_piece: usize,
        text: &str,
        stretches: &[Range<usize>],
    ) -> Vec<Wide> {
        let mut wide = Vec::new();
        let widening = Widening {
            around,
            least_piece,
        };
        widening.widen(text.as_bytes(), stretches, &mut wide);
        wide
    }

    #[test]
    fn characters_around_go_and_short_pieces() {
        let wide = |bytes, stretches| Wide { bytes, stretches };
        let text = "äbcdefghijö";
        let one = |around, least_piece, stretch: Range<usize>| {
            widened(around, least_piece, text, std::slice::from_ref(&stretch))
        };
        assert_eq!(one(0, 0, 3..5), [wide(3..5, 0..1)]);
        assert_eq!(one(2, 0, 3..5), [wide(0..7, 0..1)]);
        assert_eq!(one(1, 0, 3..5), [wide(2..6, 0..1)]);
        assert_eq!(one(9, 0, 3..5), [wide(0..13, 0..1)]);
        assert_eq!(
            widened(1, 0, text, &[2..3, 7..8]),
            [wide(0..4, 0..1), wide(6..9, 1..2)]
        );
        assert_eq!(widened(1, 3, text, &[2..3, 7..8]), [wide(0..9, 0..2)]);
        assert_eq!(widened(2, 0, text, &[2..3, 7..8]), [wide(0..10, 0..2)]);
        assert_eq!(one(0, 5, 5..6), [wide(0..6, 0..1)]);
        assert_eq!(widened(3, 9, text, &[]), []);
    }

    proptest! {
        /// Promise (Parts of evaluation sets): The ranges and the counts of items …
        #[test]
        fn ranges_are_those_of_a_mark_for_each_character(
            text in "[a中é\u{301}]{0,30}",
            marks in prop::collection::vec(prop::bool::weighted(0.2), 30),
            around in 0..6usize, least_piece in 0..6usize,
        ) {
            let starts: Vec<usize> = text.char_indices().map(|(place, _)| place).collect();
            let end = |number: usize| starts.get(number + 1).copied().unwrap_or(text.len());
            let bytes = |marks: &[bool]| {
                let mut ranges: Vec<Range<usize>> = Vec::new();
                for (number, start) in starts.iter().enumerate().filter(|(number, _)| marks[*number]) {
                    match ranges.last_mut() {
                        Some(last) if last.end == *start => last.end = end(number),
                        _ => ranges.push(*start..end(number)),
                    }
                }
                ranges
            };
            let own = bytes(&marks);
            let mut wide: Vec<bool> = (0..starts.len())
                .map(|place| {
                    let near = place.saturating_sub(around)..(place + around + 1).min(starts.len());
                    near.into_iter().any(|near| marks[near])
                })
                .collect();
            let mut first = 0;
            for place in 0..=wide.len() {
                if wide.get(place) != Some(&false) {
                    if place - first < least_piece && wide.contains(&true) {
                        wide[first..place].fill(true);
                    }
                    first = place + 1;
                }
            }
            let found: Vec<Range<usize>> = widened(around, least_piece, &text, &own)
                .into_iter().map(|wide| wide.bytes).collect();
            prop_assert_eq!(found, bytes(&wide));
        }
    }
}
