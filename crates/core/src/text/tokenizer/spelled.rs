//! Lists of words, stored contiguously.

/// Folded words, in text order, stored contiguously.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spelling {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Spelling {
    /// Removes all words; keeps the memory.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Appends a word.
    pub(super) fn push(&mut self, word: &[u8]) {
        self.bytes.extend_from_slice(word);
        self.ends.push(self.bytes.len());
    }

    /// All words.
    pub fn all(&self) -> Spelled<'_> {
        Spelled {
            bytes: &self.bytes,
            ends: &self.ends,
        }
    }
}

/// A view of folded words, in text order; word i has the hashes at index i.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spelled<'a> {
    bytes: &'a [u8],
    ends: &'a [usize],
}

impl<'a> Spelled<'a> {
    /// The number of words.
    pub fn len(self) -> usize {
        self.ends.len()
    }

    /// Whether there is no word.
    pub fn is_empty(self) -> bool {
        self.ends.is_empty()
    }

    /// The bytes of word `number`.
    ///
    /// # Panics
    /// If there is no such word.
    pub fn word(self, number: usize) -> &'a [u8] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[number]]
    }

    /// Iterates over the bytes of each word.
    pub fn iter(self) -> impl ExactSizeIterator<Item = &'a [u8]> + Clone {
        (0..self.len()).map(move |number| self.word(number))
    }
}

impl<'a> FromIterator<&'a [u8]> for Spelling {
    fn from_iter<I: IntoIterator<Item = &'a [u8]>>(words: I) -> Spelling {
        let mut spelling = Spelling::default();
        words.into_iter().for_each(|word| spelling.push(word));
        spelling
    }
}
