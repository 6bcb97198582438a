//! Fingerprints and signatures of single texts.

use std::sync::LazyLock;

use super::words::{shingle_width, word_reader};
use crate::kernel::Level;
use crate::sketch::hashed::SimHashSettings;
use crate::sketch::minhash::minima;
use crate::sketch::{Method, Needs, SketchScratch};
use crate::text::builtin_stop_words;
use crate::{Error, ErrorKind, Result};

/// The number of minima in a [`MinHash`].
const MINIMA: usize = 128;

/// The 64-bit SimHash of a text: that of `simtool dedup` and `simtool index`.
///
/// Features are the words except stop words, weighted by their number of occurrences. Texts with
/// most words in common have fingerprints with a small [Hamming distance](hamming_distance); up to
/// 6 is taken as near. Fingerprints of texts with fewer than eight words vary much. A text without
/// features has the fingerprint 0. Stable: [the same on every machine](crate#stored-fingerprints).
/// Source: Charikar, STOC 2002.
///
/// ```
/// let a = simtool::simhash("A cat sat on the mat while a dog slept in the sun behind the house");
/// let b = simtool::simhash("A cat sat on the mat, while a dog slept in the sun behind the house!");
/// assert_eq!(simtool::hamming_distance(a, b), 0);
/// ```
pub fn simhash(text: impl AsRef<[u8]>) -> u64 {
    static METHOD: LazyLock<Option<Box<dyn Method>>> = LazyLock::new(|| {
        let settings = SimHashSettings {
            stop_words: builtin_stop_words(),
            ..SimHashSettings::default()
        };
        settings.method(u64::BITS, Level::best()).ok()
    });
    let Some(method) = &*METHOD else {
        return 0;
    };
    let mut sketch = Vec::new();
    let mut reader = word_reader(Needs::HASHES);
    let has_features = reader.read(text.as_ref()).sketch(&**method, &mut sketch);
    match sketch.first_chunk() {
        Some(bytes) if has_features => u64::from_le_bytes(*bytes),
        _ => 0,
    }
}

/// The number of bits in which two fingerprints differ.
pub fn hamming_distance(a: u64, b: u64) -> u32 {
    (a ^ b).count_ones()
}

/// A MinHash signature, from which the [`similarity`](super::similarity()) of two texts is estimated.
///
/// It takes 512 bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MinHash {
    minima: Vec<u32>,
}

impl MinHash {
    /// An estimate of the similarity of the two texts, from 0 to 1: unbiased, with a standard error
    /// of at most 0.045. Texts without words have similarity 0.
    pub fn similarity(&self, other: &MinHash) -> f64 {
        let pairs = self.minima.iter().zip(&other.minima);
        let equal = pairs.filter(|(a, b)| a == b).count();
        equal as f64 / MINIMA as f64
    }

    /// The least value of a shingle under each of 128 permutations; empty for a text without words.
    pub fn minima(&self) -> &[u32] {
        &self.minima
    }

    /// The minima as little-endian numbers: 512 bytes, or none for a text without words.
    /// [`from_bytes`](Self::from_bytes) reads them.
    pub fn to_bytes(&self) -> Vec<u8> {
        let bytes = self.minima.iter().flat_map(|least| least.to_le_bytes());
        bytes.collect()
    }

    /// The signature with these [bytes](Self::to_bytes), of any machine.
    ///
    /// ```
    /// use simtool::{MinHash, minhash};
    ///
    /// let stored = minhash("one two three four five six").to_bytes();
    /// assert_eq!(MinHash::from_bytes(&stored)?, minhash("one two three four five six"));
    /// # Ok::<(), simtool::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Content`] if their number is neither 512 nor 0. Nothing else is checked.
    pub fn from_bytes(bytes: &[u8]) -> Result<MinHash> {
        let (minima, rest) = bytes.as_chunks();
        if !rest.is_empty() || ![0, MINIMA].contains(&minima.len()) {
            let message = format!(
                "a MinHash signature of {} bytes: expected {} or 0",
                bytes.len(),
                MINIMA * size_of::<u32>()
            );
            return Err(Error::new(ErrorKind::Content, message));
        }
        let minima = minima.iter().map(|least| u32::from_le_bytes(*least));
        Ok(MinHash {
            minima: minima.collect(),
        })
    }
}

/// The MinHash signature of a text: 128 minima of its shingles of five words.
///
/// Stable: [the same on every machine](crate#stored-fingerprints). Sources: Broder, SEQUENCES 1997;
/// Dahlgaard, Knudsen and Thorup, FOCS 2017.
///
/// ```
/// let text = "one two three four five six seven eight nine ten";
/// assert_eq!(simtool::minhash(text).similarity(&simtool::minhash(text)), 1.0);
/// ```
pub fn minhash(text: impl AsRef<[u8]>) -> MinHash {
    let mut reader = word_reader(Needs::HASHES);
    let words = reader.read(text.as_ref());
    let words = words.hashes();
    if words.is_empty() {
        return MinHash { minima: Vec::new() };
    }
    let mut scratch = SketchScratch::default();
    let minima = minima(MINIMA, words, shingle_width(), &mut scratch);
    MinHash {
        minima: minima.to_vec(),
    }
}
