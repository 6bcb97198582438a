//! The SimHash of the main job, with a hash table.
//!
//! Bit j is 1 if Σ ±count over the features is positive, with + if bit j of the feature's row is 1.
//! A document without features has the fingerprint 0. Source: Charikar, "Similarity Estimation
//! Techniques from Rounding Algorithms", STOC 2002; the rows are those of a [hash
//! table](super::hash_table).

use ahash::AHashMap;

use crate::kernel::Level;
use crate::kernel::accumulate::{MAX_ADDITIONS, MAX_COLUMNS, SignRows, Sums};
use crate::text::Windows;
use crate::vocabulary::{Lexicon, Lookup, Term};

/// A ranked vocabulary and a hash table: feature i has row i.
#[derive(Clone, Copy, Debug)]
pub struct Vocabulary<'a> {
    /// The features in rank order.
    pub features: &'a [Term],
    /// The rows, at least as many as features.
    pub rows: &'a [u128],
    /// The number of bits of each row that are used.
    pub columns: usize,
}

/// A lexicon of features, and their rows.
#[derive(Clone, Debug)]
pub struct RankedFeatures {
    lexicon: Lexicon,
    rows: SignRows,
}

impl Vocabulary<'_> {
    /// Selects the features for which `wanted` holds.
    ///
    /// # Panics
    /// If there are more than 10 000 features, or fewer rows than features.
    pub fn select(&self, wanted: impl Fn(Term) -> bool, level: Level) -> RankedFeatures {
        let features = self.features.iter().copied().filter(|&term| wanted(term));
        let lexicon = Lexicon::complete(&features.collect::<Vec<_>>(), level);
        RankedFeatures {
            rows: self.rows_of(&lexicon, level),
            lexicon,
        }
    }

    /// Assigns rows to the slots of those words of `lexicon` that are features.
    ///
    /// # Panics
    /// If there are fewer rows than features.
    pub fn rows_of(&self, lexicon: &Lexicon, level: Level) -> SignRows {
        let ranked = self.features.iter().zip(0..);
        let ranks: AHashMap<Term, usize> = ranked.map(|(&term, rank)| (term, rank)).collect();
        let mut signs = SignRows::new(self.columns, &self.rows[..ranks.len()], level);
        for (term, slot) in lexicon.slots() {
            if let Some(&rank) = ranks.get(term) {
                signs.assign(*slot, rank);
            }
        }
        signs
    }
}

impl RankedFeatures {
    /// Adds the features of `text`; O(length).
    pub fn add_text(&self, text: &[u8], scratch: &mut (Windows, Lookup), sums: &mut ColumnSums) {
        let (windows, lookup) = scratch;
        windows.for_each(text, |window| {
            self.lexicon.look_up(window, lookup);
            self.add_found(lookup, sums);
        });
    }

    /// Adds the given words that are features.
    pub fn add_words(
        &self,
        keys: &[u64],
        terms: &[Term],
        lookup: &mut Lookup,
        sums: &mut ColumnSums,
    ) {
        self.lexicon.look_up_missed(keys, terms, lookup);
        self.add_found(lookup, sums);
    }

    fn add_found(&self, lookup: &Lookup, sums: &mut ColumnSums) {
        for slots in lookup.slots() {
            sums.add(&self.rows, slots);
        }
    }
}

/// The column sums of one document, of any length.
#[derive(Clone, Debug)]
pub struct ColumnSums {
    sums: Sums,
    additions: usize,
    /// 64-bit sums of earlier additions, carried over before 32 bits could overflow.
    carried: Option<Box<[i64; MAX_COLUMNS]>>,
}

impl ColumnSums {
    /// All zero.
    pub fn new() -> ColumnSums {
        ColumnSums {
            sums: Sums::default(),
            additions: 0,
            carried: None,
        }
    }

    /// Adds the row of each slot.
    pub fn add(&mut self, rows: &SignRows, slots: &[u16]) {
        for slots in slots.chunks(MAX_ADDITIONS) {
            if self.additions + slots.len() > MAX_ADDITIONS {
                self.carry();
            }
            self.additions += slots.len();
            rows.accumulate(slots, &mut self.sums);
        }
    }

    fn carry(&mut self) {
        let carried = self
            .carried
            .get_or_insert_with(|| Box::new([0; MAX_COLUMNS]));
        for (carried, sum) in carried.iter_mut().zip(&self.sums.0) {
            *carried += i64::from(*sum);
        }
        (self.sums, self.additions) = (Sums::default(), 0);
    }

    /// Returns the fingerprint, bit j for column j, and resets the sums to zero.
    pub fn take_fingerprint(&mut self) -> u128 {
        let bits = match self.carried.is_some() {
            true => {
                self.carry();
                self.carried.take().map_or(0, |sums| signs(&sums, 0))
            }
            false => signs(&self.sums.0, 0),
        };
        (self.sums, self.additions) = (Sums::default(), 0);
        bits
    }
}

impl Default for ColumnSums {
    fn default() -> ColumnSums {
        ColumnSums::new()
    }
}

/// A bit for each sum, set if it is above `zero`.
fn signs<T: PartialOrd + Copy>(sums: &[T; MAX_COLUMNS], zero: T) -> u128 {
    let above = sums.map(|sum| u8::from(sum > zero));
    let (eights, _) = above.as_chunks::<8>();
    let bits = eights.iter().map(|&eight| {
        // Moves bit 8 i, the lowest of byte i, to bit 56 + i. No two products have a common bit.
        u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56
    });
    let bits = bits.zip((0..).step_by(8));
    bits.fold(0, |all, (eight, place)| all | u128::from(eight) << place)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Promise (Correct answers): Column sums do not overflow on pages of any length
    #[test]
    fn carried_sums_are_the_same() {
        let mut rows = SignRows::new(4, &[0b0011, 0b0101], Level::best());
        rows.assign(0, 0);
        rows.assign(1, 1);
        let mut sums = ColumnSums::new();
        sums.add(&rows, &[0, 0, 1]);
        sums.carry();
        sums.add(&rows, &[1]);
        assert_eq!(sums.take_fingerprint(), 0b0001);
        assert_eq!(sums.take_fingerprint(), 0);
        sums.add(&rows, &[1]);
        assert_eq!(sums.take_fingerprint(), 0b0101);
    }

    #[test]
    fn text_and_missed_words_add_alike() {
        let words = ["common", "a", "internationalisation"];
        let terms = words.map(|word| Term::from_letters(word.as_bytes()));
        let vocabulary = Vocabulary {
            features: &terms,
            rows: &[0b001, 0b010, 0b100],
            columns: 3,
        };
        let features = vocabulary.select(|_| true, Level::best());
        let mut scratch = (Windows::new(Level::best()), Lookup::default());
        let mut sums = ColumnSums::new();
        features.add_text(b"A a rare Internationalisation a", &mut scratch, &mut sums);
        assert_eq!(sums.take_fingerprint(), 0b010);
        let keys = [terms[1], terms[0]].map(|term| term.key().unwrap_or_default());
        features.add_words(&keys, &[terms[2], terms[2]], &mut scratch.1, &mut sums);
        assert_eq!(sums.take_fingerprint(), 0);
    }
}
