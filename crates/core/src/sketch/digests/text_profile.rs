//! TextProfileSignature of Nutch and Solr: a digest of words and their rounded counts.
//!
//! Tokens are runs of more than two letters and decimal digits of the Basic Multilingual Plane,
//! folded to lower case one to one. Counts are rounded down to multiples of a quantum, and tokens
//! with smaller counts are left out. The quantum is the largest count times 0.01, rounded, but at
//! least 2 if any token repeats. (Two and 0.01 are the defaults.) The signature is the MD5 of the
//! lines "token count", by descending count, then by token. Source: the description and behaviour
//! of TextProfileSignature in Apache Nutch and Apache Solr. Versions that leave the order of equal
//! counts to a hash map differ in that.

use std::cmp::Reverse;

use unicode_normalization::char::is_combining_mark;

use super::digest::Algorithm;
use super::equality::{Digester, Equality};
use crate::sketch::method::entry::{Entry, Statistics};
use crate::sketch::method::parameter::{Domain, Parameter, SHARE_DENOMINATOR};
use crate::sketch::method::{SketchScratch, TokenizedDocument};

/// The registry entry of TextProfileSignature.
pub const ENTRY: Entry = Entry {
    name: "text-profile",
    summary: "TextProfileSignature of Nutch and Solr: MD5 of words and their rounded counts",
    description: "\
The signature by which Nutch and Solr find near-copies. Words longer than two characters are \
counted, counts are rounded down to multiples of a quantum, and words with smaller counts are left \
out. With the default rate, words that occur once are left out as soon as any occurs twice. \
Documents are near if the remaining words and counts are equal. Words here are runs of letters and \
digits of the text, for any tokenizer; characters beyond the Basic Multilingual Plane separate \
them.
Costs a sort of the words and 16 bytes per document. Finds copies in which only rare words differ, \
but also joins short documents that share their frequent words. An edit of a word with count 2 \
separates copies. Words with equal counts are sorted by their characters; versions of Nutch and \
Solr that do not sort them give other signatures.
Apache Nutch and Apache Solr, TextProfileSignature.",
    measured: "18 times the time of simhash per document; 10^4 and 10^5 documents are joined in \
               0.002 and 0.03 s; characters are classified, folded and put together one by \
               one, and words sorted by their letters",
    parameters: &[
        Parameter {
            name: "longer-than",
            meaning: "only words longer than this many characters count",
            default: "2",
            domain: Domain::Integer(0, 1000),
        },
        Parameter {
            name: "rate",
            meaning: "share of the largest count that is the quantum",
            default: "0.01",
            domain: Domain::Share,
        },
    ],
    statistics: |_| Statistics::Nothing,
    build: |values, _| {
        Ok(Box::new(Equality(TextProfile {
            longer_than: values.integer("longer-than") as usize,
            rate: values.share("rate").0,
            parameters: values.list(),
        })))
    },
};

/// The digester of text profiles.
struct TextProfile {
    longer_than: usize,
    /// In millionths.
    rate: u64,
    /// The parameters as configured.
    parameters: Vec<(&'static str, String)>,
}

impl TextProfile {
    /// The quantum of counts. The 32-bit floats of the original round identically for a rate of
    /// 0.01 and counts below 2^24.
    fn quantum(&self, largest: u64) -> u64 {
        let exact = u128::from(largest) * u128::from(self.rate);
        let share = u128::from(SHARE_DENOMINATOR);
        let rounded = ((exact + share / 2) / share) as u64;
        rounded.max(largest.min(2))
    }
}

/// The tokens of a document, stored contiguously.
struct TokenBuffer<'a> {
    bytes: &'a mut Vec<u8>,
    spans: &'a mut Vec<(usize, usize)>,
    longer_than: usize,
    /// The start of the current token.
    start: usize,
    /// The number of its characters.
    length: usize,
}

impl TokenBuffer<'_> {
    fn read(&mut self, text: &[u8]) {
        self.bytes.clear();
        self.spans.clear();
        for chunk in text.utf8_chunks() {
            for character in chunk.valid().chars() {
                match is_letter_or_digit(character) {
                    true => self.push(lower(character)),
                    false => self.end(),
                }
            }
            if !chunk.invalid().is_empty() {
                self.end();
            }
        }
        self.end();
    }

    fn push(&mut self, character: char) {
        let mut buffer = [0; 4];
        let bytes = character.encode_utf8(&mut buffer).as_bytes();
        self.bytes.extend_from_slice(bytes);
        self.length += 1;
    }

    fn end(&mut self) {
        match self.length > self.longer_than {
            true => self.spans.push((self.start, self.bytes.len())),
            false => self.bytes.truncate(self.start),
        }
        (self.start, self.length) = (self.bytes.len(), 0);
    }
}

/// Whether a character is a letter or decimal digit of the Basic Multilingual Plane, by general
/// category.
///
/// [`char::is_alphabetic`] also holds for letter numbers, marks and circled letters, which are
/// excluded.
fn is_letter_or_digit(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_alphanumeric();
    }
    let within = |ranges: &[(u32, u32)]| {
        let code = u32::from(character);
        let after = ranges.partition_point(|&(start, _)| start <= code);
        after > 0 && code <= ranges[after - 1].1
    };
    u32::from(character) <= 0xffff
        && match character.is_alphabetic() {
            true => !is_combining_mark(character) && !within(&LETTERLIKE),
            false => character.is_numeric() && within(&DIGITS),
        }
}

/// Alphabetic characters of the categories Nl and So.
const LETTERLIKE: [(u32, u32); 8] = [
    (0x16ee, 0x16f0),
    (0x2160, 0x2182),
    (0x2185, 0x2188),
    (0x24b6, 0x24e9),
    (0x3007, 0x3007),
    (0x3021, 0x3029),
    (0x3038, 0x303a),
    (0xa6e6, 0xa6ef),
];

/// Decimal digits, category Nd.
const DIGITS: [(u32, u32); 36] = [
    (0x0660, 0x0669),
    (0x06f0, 0x06f9),
    (0x07c0, 0x07c9),
    (0x0966, 0x096f),
    (0x09e6, 0x09ef),
    (0x0a66, 0x0a6f),
    (0x0ae6, 0x0aef),
    (0x0b66, 0x0b6f),
    (0x0be6, 0x0bef),
    (0x0c66, 0x0c6f),
    (0x0ce6, 0x0cef),
    (0x0d66, 0x0d6f),
    (0x0de6, 0x0def),
    (0x0e50, 0x0e59),
    (0x0ed0, 0x0ed9),
    (0x0f20, 0x0f29),
    (0x1040, 0x1049),
    (0x1090, 0x1099),
    (0x17e0, 0x17e9),
    (0x1810, 0x1819),
    (0x1946, 0x194f),
    (0x19d0, 0x19d9),
    (0x1a80, 0x1a89),
    (0x1a90, 0x1a99),
    (0x1b50, 0x1b59),
    (0x1bb0, 0x1bb9),
    (0x1c40, 0x1c49),
    (0x1c50, 0x1c59),
    (0xa620, 0xa629),
    (0xa8d0, 0xa8d9),
    (0xa900, 0xa909),
    (0xa9d0, 0xa9d9),
    (0xa9f0, 0xa9f9),
    (0xaa50, 0xaa59),
    (0xabf0, 0xabf9),
    (0xff10, 0xff19),
];

/// Lower case, one character for one; the first of two for the only character with two.
fn lower(character: char) -> char {
    character.to_lowercase().next().unwrap_or(character)
}

impl Digester for TextProfile {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        self.parameters.clone()
    }

    fn bytes(&self) -> usize {
        Algorithm::Md5.bytes()
    }

    fn digest(
        &self,
        document: TokenizedDocument<'_>,
        scratch: &mut SketchScratch,
        out: &mut Vec<u8>,
    ) -> bool {
        let SketchScratch { bytes, spans, .. } = scratch;
        let mut tokens = TokenBuffer {
            bytes,
            spans,
            longer_than: self.longer_than,
            start: 0,
            length: 0,
        };
        tokens.read(document.text);
        let token = |&(start, end): &(usize, usize)| &bytes[start..end];
        spans.sort_unstable_by(|a, b| token(a).cmp(token(b)));
        let equal = spans.chunk_by(|a, b| token(a) == token(b));
        let mut profile: Vec<_> = equal
            .map(|run| (run.len() as u64, token(&run[0])))
            .collect();
        let Some(largest) = profile.iter().map(|(count, _)| *count).max() else {
            return false;
        };
        let quantum = self.quantum(largest);
        profile.retain_mut(|(count, _)| {
            *count -= *count % quantum;
            *count > 0
        });
        // A stable sort: tokens of equal counts keep their order.
        profile.sort_by_key(|(count, _)| Reverse(*count));
        let counts: Vec<String> = profile
            .iter()
            .map(|(count, _)| format!(" {count}\n"))
            .collect();
        let lines = profile.iter().zip(&counts);
        let mut parts: Vec<&[u8]> = lines
            .flat_map(|((_, token), count)| [*token, count.as_bytes()])
            .collect();
        if let Some(last) = parts.last_mut() {
            *last = last.trim_ascii_end();
        }
        Algorithm::Md5.append(parts.into_iter(), out);
        true
    }
}

#[cfg(test)]
mod tests;
