//! Blocks of a text: their levels and sentences.

use md5::{Digest, Md5};

/// Levels 0 to 7.
pub(super) const LEVELS: usize = 8;
/// The level of a block that is not a heading.
const PARAGRAPH: usize = 7;

/// The sentences that represent a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sentences {
    /// The one with the most letters; the first of equal ones.
    Long,
    /// The first and the last.
    Ends,
}

/// Calls `visit` with the level and the hashes of each block that has letters, in text order.
///
/// Blocks are lines; a carriage return also ends one. Invalid UTF-8 counts as a symbol.
pub(super) fn for_each_node(
    text: &[u8],
    sentences: Sentences,
    mut visit: impl FnMut(usize, std::iter::Flatten<std::array::IntoIter<Option<u64>, 2>>),
) {
    let mut nodes = Nodes::default();
    for line in text.split(|byte| matches!(byte, b'\n' | b'\r')) {
        let line = String::from_utf8_lossy(line);
        let block = line.trim();
        let hashes = match sentences {
            Sentences::Long => [nodes.longest(block), None],
            Sentences::Ends => nodes.ends(block),
        };
        if hashes[0].is_some() {
            visit(level(block), hashes.into_iter().flatten());
        }
    }
}

/// The level of a block, from its start.
pub(super) fn level(block: &str) -> usize {
    let behind = |text, opening: &[char]| str::strip_prefix(text, opening).map(str::trim_start);
    let closed = |text: Option<&str>, closing: &[char]| {
        text.is_some_and(|text| text.trim_start().starts_with(closing))
    };
    let chinese = |text| run(text, |character| NUMERALS.contains(character));
    let digits = |text| run(text, is_digit);
    let either = |text| chinese(text).or_else(|| digits(text));
    let opened = behind(block, &['（', '(']);
    let dotted = digits(block).and_then(|text| text.strip_prefix(['.', '．']));
    match () {
        () if closed(behind(block, &['第']).and_then(either), &['章']) => 1,
        () if closed(chinese(block), &['、']) => 2,
        () if closed(opened.and_then(chinese), &['）', ')']) => 3,
        () if dotted.is_some_and(|text| !text.starts_with(is_digit)) => 4,
        () if closed(opened.and_then(digits), &['）', ')']) => 5,
        () => PARAGRAPH,
    }
}

/// The digits of Chinese numbers.
const NUMERALS: &str = "〇零一二三四五六七八九十百千两";

fn is_digit(character: char) -> bool {
    matches!(character, '0'..='9' | '０'..='９')
}

/// The text after its leading characters of a kind; `None` if there are none.
fn run(text: &str, kind: impl Fn(char) -> bool) -> Option<&str> {
    let rest = text.trim_start_matches(kind);
    (rest.len() < text.len()).then_some(rest)
}

/// The characters that end sentences.
const ENDS: [char; 7] = ['。', '！', '？', '；', '!', '?', ';'];

/// Buffers for the letters and digits of sentences.
#[derive(Default)]
struct Nodes {
    sentence: String,
    longest: String,
}

impl Nodes {
    /// Reads a sentence into the buffer; returns its number of letters.
    fn letters(&mut self, sentence: &str) -> usize {
        self.sentence.clear();
        let kept = sentence
            .chars()
            .filter(|character| character.is_alphanumeric());
        self.sentence.extend(kept);
        let characters = self.sentence.chars();
        characters
            .filter(|character| character.is_alphabetic())
            .count()
    }

    /// The hash of the sentence with the most letters, the first of equal ones; `None` without
    /// letters.
    fn longest(&mut self, block: &str) -> Option<u64> {
        let mut most = 0;
        for sentence in block.split(ENDS) {
            let letters = self.letters(sentence);
            if letters > most {
                most = letters;
                std::mem::swap(&mut self.sentence, &mut self.longest);
            }
        }
        (most > 0).then(|| hash(&self.longest))
    }

    /// The hashes of the first and of the last sentence with letters.
    fn ends(&mut self, block: &str) -> [Option<u64>; 2] {
        let mut lettered = |sentence| (self.letters(sentence) > 0).then(|| hash(&self.sentence));
        let first = block.split(ENDS).find_map(&mut lettered);
        [first, block.rsplit(ENDS).find_map(lettered)]
    }
}

/// The first 64 bits of the MD5.
fn hash(letters: &str) -> u64 {
    let digest: [u8; 16] = Md5::digest(letters.as_bytes()).into();
    let [first, _] = bytemuck::cast::<_, [[u8; 8]; 2]>(digest);
    u64::from_le_bytes(first)
}
