//! Segmentation of runs of Han characters.

#[cfg(feature = "zh")]
use jieba_rs::Jieba;

use super::sink::Sink;

/// The maximum number of characters segmented together; only text without punctuation has longer
/// runs.
const MAX_RUN: usize = 1024;

/// Buffers a run of Han and splits it into words. With the feature `zh`, words are those of jieba's
/// dictionary. Otherwise they are overlapping pairs of characters, or the only character.
pub(super) struct Dictionary {
    run: String,
    /// Where each character is in the run, and its address in the text.
    places: Vec<(usize, usize)>,
}

impl Dictionary {
    pub(super) fn new() -> Dictionary {
        Dictionary {
            run: String::new(),
            places: Vec::new(),
        }
    }

    /// Adds a character, which `text` begins with, to the run; splits the run first if it has the
    /// maximum length.
    #[inline]
    pub(super) fn push(&mut self, character: char, text: &[u8], sink: &mut Sink<'_>) {
        if self.places.len() == MAX_RUN {
            self.flush(sink);
        }
        let address = text.as_ptr() as usize;
        self.places.push((self.run.len(), address));
        self.run.push(character);
    }

    /// Splits the buffered run into words and clears it.
    pub(super) fn flush(&mut self, sink: &mut Sink<'_>) {
        let Dictionary { run, places } = self;
        words(run, |word| {
            // Words are parts of the run, which may lack marks of the text.
            let start = (word.as_ptr() as usize).wrapping_sub(run.as_ptr() as usize);
            let end = start + word.len();
            let first = places.partition_point(|(place, _)| *place < start);
            let after = places.partition_point(|(place, _)| *place < end);
            if let (Some((_, begin)), Some((place, last))) =
                (places.get(first), places.get(after.wrapping_sub(1)))
            {
                sink.at_addresses(*begin..last + (end - place));
            }
            sink.word(word.as_bytes());
        });
        run.clear();
        places.clear();
    }
}

/// The words of jieba's dictionary and their frequencies, compressed by Zstandard.
#[cfg(feature = "zh")]
const DICTIONARY: &[u8] = include_bytes!("jieba-dictionary.zst");

/// Loaded at the first use in the process, in about 0.2 s. A test reads the dictionary, so no program has
/// a damaged one.
#[cfg(feature = "zh")]
static JIEBA: std::sync::LazyLock<Jieba> = std::sync::LazyLock::new(|| {
    let read = || {
        let text = zstd::decode_all(DICTIONARY).ok()?;
        Jieba::with_dict(&mut &text[..]).ok()
    };
    read().unwrap_or_else(Jieba::empty)
});

/// The most probable segmentation. It does not use jieba's hidden Markov model, which guesses names
/// and so depends on wider context.
#[cfg(feature = "zh")]
fn words(run: &str, mut visit: impl FnMut(&str)) {
    for token in JIEBA.cut(run, false) {
        visit(token.word);
    }
}

#[cfg(not(feature = "zh"))]
fn words(run: &str, mut visit: impl FnMut(&str)) {
    let ends = || {
        run.char_indices()
            .map(|(place, character)| place + character.len_utf8())
    };
    if run.chars().nth(1).is_none() {
        return visit(run);
    }
    for ((start, _), end) in run.char_indices().zip(ends().skip(1)) {
        visit(&run[start..end]);
    }
}

#[cfg(feature = "zh")]
#[cfg(test)]
mod tests {
    use super::*;
    use xxhash_rust::xxh3::xxh3_64;

    #[test]
    fn the_dictionary_is_read_whole() {
        let text = zstd::decode_all(DICTIONARY).unwrap();
        assert_eq!(xxh3_64(&text), 0x58f5_30f3_7a00_4e85);
        let text = str::from_utf8(&text).unwrap();
        assert_eq!(text.lines().count(), 349_045);
        for line in text.lines().step_by(97) {
            let (word, frequency) = line.split_once(' ').unwrap();
            assert!(
                frequency.parse::<u32>().is_ok() && JIEBA.has_word(word),
                "{line}"
            );
        }
    }
}
