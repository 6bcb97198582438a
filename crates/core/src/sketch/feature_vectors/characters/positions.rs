//! The mapping of characters to counters.

use std::sync::OnceLock;

use encoding_rs::{EncoderResult, GBK};
use xxhash_rust::xxh3::xxh3_64;

use crate::text::WordSet;

/// The number of counters of the published mapping.
pub(super) const MAPPED: u16 = 3764;
/// The number of characters of GB 2312 level 1.
const COMMON: u16 = 3755;
/// The rank of ignored characters: one more than the largest rank.
pub(super) const IGNORED: u16 = MAPPED;
/// Characters that are frequent in most English or Chinese texts.
///
/// Components of high weight make prefixes short, so keys are few. Starting with rare characters
/// would not help: a prefix needs a tenth of the squared norm at 0.9, which takes hundreds of them,
/// and some are in nearly every text. (On 319 Chinese pages at 0.9, about ten keys per page; a
/// hundred with the order of hashes alone, five hundred with the rarest first; the candidates are
/// the same.)
const FREQUENT: &str = "etaoinsr的，。、一是不了在有";
/// The number of UTF-16 units.
const UNITS: usize = 1 << 16;

/// A rank for each UTF-16 unit; [`IGNORED`] for white space and other ignored characters.
///
/// Ranks are an order of the positions that is the same for all documents: those of [`FREQUENT`]
/// first, the rest by the xxh3-64 hash of the position.
#[derive(Clone, Debug)]
pub(super) struct Positions {
    ranks: Box<[u16]>,
}

/// The position of a code in the published mapping, below [`MAPPED`].
pub(super) fn mapped(code: u16) -> u16 {
    let halves = (0..16).map(|bit| (u32::from(code >> bit & 1) * u32::from(MAPPED)) >> (bit + 1));
    halves.sum::<u32>() as u16
}

/// The code of a character in GBK, if it has one: of one byte or two.
pub(super) fn gbk(character: char) -> Option<u16> {
    let mut bytes = [0; 8];
    let text = character.encode_utf8(&mut [0; 4]).to_owned();
    let mut encoder = GBK.new_encoder();
    let (result, _, written) =
        encoder.encode_from_utf8_without_replacement(&text, &mut bytes, true);
    match (result, &bytes[..written]) {
        (EncoderResult::InputEmpty, &[code]) => Some(code.into()),
        (EncoderResult::InputEmpty, &[first, second]) => Some(u16::from_be_bytes([first, second])),
        _ => None,
    }
}

/// The index of a character in GB 2312 level 1: rows 16 to 55, the last of which ends at column 89.
pub(super) fn common(character: char) -> Option<u16> {
    let [row, column] = gbk(character)?.to_be_bytes();
    let within = (0xb0..=0xd7).contains(&row) && (0xa1..=0xfe).contains(&column);
    let place = u16::from(row.wrapping_sub(0xb0)) * 94 + u16::from(column.wrapping_sub(0xa1));
    (within && place < COMMON).then_some(place)
}

impl Positions {
    /// The positions of the characters of GB 2312 level 1.
    pub(super) fn dictionary() -> Positions {
        static ONCE: OnceLock<Positions> = OnceLock::new();
        ONCE.get_or_init(|| Positions::of_characters(common))
            .clone()
    }

    /// The positions of mapped GBK codes.
    pub(super) fn gbk() -> Positions {
        static ONCE: OnceLock<Positions> = OnceLock::new();
        let position = |character| gbk(character).map(mapped);
        ONCE.get_or_init(|| Positions::of_characters(position))
            .clone()
    }

    /// The positions of mapped UTF-16 units; a character beyond 16 bits has two.
    pub(super) fn utf_16() -> Positions {
        static ONCE: OnceLock<Positions> = OnceLock::new();
        let position = |unit: u16| match char::from_u32(unit.into()) {
            Some(character) => counts(character).then(|| mapped(unit)),
            None => Some(mapped(unit)),
        };
        ONCE.get_or_init(|| Positions::of_units(position)).clone()
    }

    fn of_characters(position: impl Fn(char) -> Option<u16>) -> Positions {
        Positions::of_units(|unit| {
            let character = char::from_u32(unit.into()).filter(|&character| counts(character));
            character.and_then(&position)
        })
    }

    fn of_units(position: impl Fn(u16) -> Option<u16>) -> Positions {
        let mut order: Vec<u16> = (0..MAPPED).collect();
        let frequent: Vec<u16> = FREQUENT.encode_utf16().filter_map(&position).collect();
        order.sort_by_cached_key(|position| {
            let place = frequent.iter().position(|known| known == position);
            let hash = xxh3_64(&position.to_le_bytes());
            (place.unwrap_or(frequent.len()), hash, *position)
        });
        let mut ranks = vec![IGNORED; order.len()];
        for (position, rank) in order.into_iter().zip(0..) {
            ranks[usize::from(position)] = rank;
        }
        let rank = |unit| position(unit).map_or(IGNORED, |position| ranks[usize::from(position)]);
        Positions {
            ranks: (0..=u16::MAX).map(rank).collect(),
        }
    }

    /// Ignores the Chinese characters that are in `words`.
    pub(super) fn ignore(&mut self, words: &WordSet) {
        if words.is_empty() {
            return;
        }
        for (unit, rank) in self.ranks.iter_mut().enumerate() {
            let Some(character) = char::from_u32(unit as u32) else {
                continue;
            };
            if is_chinese(character) && words.contains(feature(character)) {
                *rank = IGNORED;
            }
        }
    }

    /// The rank of a UTF-16 unit, at most [`IGNORED`].
    #[inline]
    pub(super) fn rank(&self, unit: u16) -> u16 {
        self.ranks[usize::from(unit)]
    }
}

/// The hash that identifies a character in frequencies: that of its folded bytes.
pub(super) fn feature(character: char) -> u64 {
    let folded: String = character.to_lowercase().collect();
    xxh3_64(folded.as_bytes())
}

/// Whether a character counts: white space and the replacement of invalid UTF-8 do not.
fn counts(character: char) -> bool {
    !character.is_whitespace() && character != char::REPLACEMENT_CHARACTER
}

/// Whether a character is a unified ideograph of the first plane. Letters of other scripts occur in
/// words of many languages.
fn is_chinese(character: char) -> bool {
    matches!(character, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}')
}

const _: () = assert!((IGNORED as usize) < UNITS && COMMON <= MAPPED);
