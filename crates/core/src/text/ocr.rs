//! Signs of wrong characters in text, such as those of OCR and of damaged PDF.
//!
//! A word is *odd* if it has a digit or certain punctuation between two letters (`th1s`, `for,the`),
//! or an upper-case letter behind a lower-case one. Names such as `GitHub`, words of several
//! documents, and documents with much code do not count. Of OCR with 3 to 20 % wrong characters in
//! languages with spaces between words, 0.5 to 3 % of the words are odd; of corrected text, mail,
//! licences, and pages in 20 languages, less than 0.4 %.

use ahash::AHashMap;

use super::tokenizer::is_word_alone;

/// Texts with at least this share of odd words look like OCR.
pub const OCR_SHARE: f64 = 0.005;
/// With fewer words, nothing is said.
const LEAST_WORDS: u64 = 3000;
/// Enough words.
const MOST_WORDS: u64 = 20_000;
/// The characters of a document that are looked at.
const CHARACTERS: usize = 4000;
/// Documents with fewer words are left out.
const LEAST_IN_DOCUMENT: u64 = 20;
/// Documents in which one of fewer words than this is code are left out.
const WORDS_OF_CODE: u64 = 50;
/// The longest odd word, in characters.
const LONGEST: usize = 24;
/// Characters of code.
const CODE: &str = "_=(){}<>/\\@#$|+&[]`\"";
/// Punctuation that is wrong between two letters. Hyphens, apostrophes and full stops are not.
const WRONG: &str = ",;:!?°^~*«»■•";

/// Odd words of a sample of documents.
#[derive(Clone, Debug, Default)]
pub struct OcrSigns {
    words: u64,
    /// The number of documents in which each odd word occurs.
    odd: AHashMap<String, u32>,
}

impl OcrSigns {
    /// Adds the beginning of a document, unless there are enough. O(1): of a text of any length, 16 000
    /// bytes are read.
    pub fn add(&mut self, text: &[u8]) {
        if self.is_enough() {
            return;
        }
        let text = &text[..text.len().min(4 * CHARACTERS)];
        let valid = text.utf8_chunks().flat_map(|chunk| chunk.valid().chars());
        let text: String = valid.take(CHARACTERS).collect();
        let (mut words, mut code, mut odd) = (0, 0, Vec::new());
        for word in text.split_whitespace().map(inner) {
            match Word::of(word) {
                Word::NotCounted => continue,
                Word::Code => code += 1,
                Word::Odd => odd.push(word.to_lowercase()),
                Word::Usual => {}
            }
            words += 1;
        }
        if words < LEAST_IN_DOCUMENT || code * WORDS_OF_CODE > words {
            return;
        }
        self.words += words;
        odd.sort_unstable();
        odd.dedup();
        for word in odd {
            *self.odd.entry(word).or_default() += 1;
        }
    }

    /// Whether further documents are ignored.
    pub fn is_enough(&self) -> bool {
        self.words >= MOST_WORDS
    }

    /// The share of odd words if the texts look like OCR: at least [`OCR_SHARE`].
    pub fn share(&self) -> Option<f64> {
        let odd = self.odd.values().filter(|documents| **documents == 1);
        let share = odd.count() as f64 / self.words.max(1) as f64;
        (self.words >= LEAST_WORDS && share >= OCR_SHARE).then_some(share)
    }

    /// Some of the odd words: the longest ones, as they show best what is wrong.
    pub fn examples(&self, count: usize) -> Vec<&str> {
        let odd = self.odd.iter().filter(|(_, documents)| **documents == 1);
        let mut odd: Vec<&str> = odd.map(|(word, _)| &**word).collect();
        odd.sort_unstable_by_key(|word| (std::cmp::Reverse(word.chars().count()), *word));
        odd.truncate(count);
        odd
    }
}

/// A word between white space, without punctuation before and after it.
fn inner(word: &str) -> &str {
    word.trim_matches(|character: char| !(character.is_alphanumeric() || character == '_'))
}

enum Word {
    NotCounted,
    Code,
    Odd,
    Usual,
}

impl Word {
    fn of(word: &str) -> Word {
        let has_code = word.contains(|character| CODE.contains(character));
        if word.contains(is_word_alone) {
            return Word::NotCounted;
        }
        if has_code || word.contains("::") || word.starts_with("http") {
            return Word::Code;
        }
        let characters: Vec<char> = word.chars().collect();
        let letters = characters
            .iter()
            .filter(|character| character.is_alphabetic());
        if characters.len() < 3 || letters.count() < 2 {
            return Word::NotCounted;
        }
        let has_capital = characters
            .windows(2)
            .any(|pair| is_capital_inside(pair[0], pair[1]));
        let is_odd = has_capital && !is_name(&characters)
            || characters.windows(3).any(|three| {
                let is_wrong = three[1].is_numeric() || WRONG.contains(three[1]);
                is_wrong && three[0].is_alphabetic() && three[2].is_alphabetic()
            });
        match is_odd && characters.len() <= LONGEST {
            true => Word::Odd,
            false => Word::Usual,
        }
    }
}

fn is_capital_inside(before: char, character: char) -> bool {
    before.is_lowercase() && character.is_uppercase()
}

/// Whether a word has two parts of at least three letters: `GitHub`, `OpenBLAS`, `PDFlib`. A part is
/// a run of lower-case letters, with a capital before it if there is one, or a run of capitals.
fn is_name(word: &[char]) -> bool {
    let mut parts = Vec::new();
    let mut rest = word;
    while let Some((&first, behind)) = rest.split_first() {
        let lower = |run: &[char]| {
            let letters = run.iter();
            letters
                .take_while(|letter| letter.is_alphabetic() && !letter.is_uppercase())
                .count()
        };
        let length = match first.is_uppercase() {
            true if lower(behind) > 0 => 1 + lower(behind),
            true => rest
                .iter()
                .take_while(|letter| letter.is_uppercase())
                .count(),
            false => lower(rest),
        };
        if length > 0 {
            parts.push(length);
        }
        rest = &rest[length.max(1)..];
    }
    parts.len() == 2 && parts.iter().all(|length| *length >= 3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_odd(word: &str) -> bool {
        matches!(Word::of(inner(word)), Word::Odd)
    }

    #[test]
    fn odd_words() {
        for word in [
            "th1s",
            "sei,worauf",
            "p^rty",
            "tbEre",
            "aBcDe",
            "\"wh0le\".",
            "ma!s",
            "iPhone",
            "a,b",
        ] {
            assert!(is_odd(word), "{word}");
        }
        for word in [
            "this",
            "This",
            "THIS",
            "GitHub",
            "OpenBLAS",
            "PDFlib",
            "don't",
            "well-known",
            "e.g.x",
            "1st",
            "x86",
            "mp3",
            "f(x1y)",
            "http://a1b",
            "std::x1y",
            "日1本語a1b",
            "",
            "verylongwordverylongword1withadigit",
        ] {
            assert!(!is_odd(word), "{word}");
        }
    }

    fn signs(documents: impl Iterator<Item = String>) -> OcrSigns {
        let mut signs = OcrSigns::default();
        documents.for_each(|text| signs.add(text.as_bytes()));
        signs
    }

    #[test]
    fn a_share_of_odd_words_in_enough_text() {
        let scanned = |number: usize| {
            let letter = ["a", "b", "c", "d", "e", "f", "g", "h"][number % 8];
            let odd = format!("t1{}", letter.repeat(1 + number / 8));
            format!("{} {odd}", "some words of text ".repeat(25))
        };
        let share = signs((0..40).map(scanned)).share().unwrap();
        assert!((share - 1.0 / 76.0).abs() < 1e-9, "{share}");
        assert_eq!(
            signs((0..40).map(scanned)).examples(2),
            ["t1aaaaa", "t1bbbbb"]
        );
        // Too little text, clean text, a word of several documents, code.
        assert_eq!(signs((0..20).map(scanned)).share(), None);
        let clean = |_| "some words of text ".repeat(25);
        assert_eq!(signs((0..40).map(clean)).share(), None);
        let named = |_| format!("{} jQuery", clean(0));
        assert_eq!(signs((0..40).map(named)).share(), None);
        let code = |number: usize| format!("{} f(x) g(x) h(x)", scanned(number));
        assert_eq!(signs((0..40).map(code)).share(), None);
    }

    proptest! {
        #[test]
        fn hostile_texts(texts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..20)) {
            let mut signs = OcrSigns::default();
            texts.iter().for_each(|text| signs.add(text));
            prop_assert!(signs.odd.len() as u64 <= signs.words);
        }

        #[test]
        fn the_share_is_at_most_one(words in prop::collection::vec("\\PC{0,8}", 0..200)) {
            let mut signs = OcrSigns::default();
            (0..200).for_each(|number| signs.add(format!("{number} {}", words.join(" ")).as_bytes()));
            prop_assert!(signs.share().unwrap_or(0.0) <= 1.0);
            prop_assert!(signs.words < 20_000 + 4000);
        }
    }
}
