//! The judgement of proposed pairs, by the truth and by exact alignment.

use std::collections::{BTreeMap, BTreeSet};

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::prepared::TEXTS;
use crate::Result;
use simtool_core::kernel::Level;
use simtool_core::sketch::Needs;
use simtool_core::text::{Choice, common_subsequence};
use simtool_engine::collection::{Inputs, Member};
use simtool_engine::text_words::WordReader;
use simtool_engine::{Stage, Workers};
use simtool_evaluate::{Judgement, Pair, Truth};

/// The words of a text that are aligned, and the characters: those after them do not count.
pub const MAX_ALIGNED: usize = 1 << 16;
/// The bound of the steps of all alignments: about a minute of one processor.
pub const MAX_STEPS: u64 = 1 << 35;
/// The bound of the bytes of all texts that are aligned.
const MAX_TEXT_BYTES: u64 = 256 << 20;

/// Which texts are duplicates: those that have enough words in common, in the same order.
///
/// The longest common subsequence of the words decides; the words between them do not count. Texts
/// with too few equal words are duplicates if the share of equal characters is at least half-way
/// between that of words and 1, so that wrong characters, as of OCR, are no obstacle: unrelated texts
/// of a language have about half of their characters in common in order, but a tenth of their words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alignment {
    /// The least share of the words of the longer text, in thousandths.
    pub thousandths: u32,
    /// Whether it is the share of the words of the shorter text.
    pub contained: bool,
}

/// Aligns texts, one pair after another; one for each thread.
pub struct Aligner {
    alignment: Alignment,
    words: WordReader,
    characters: WordReader,
}

impl Aligner {
    /// An aligner with the default words of every tokenizer.
    pub fn new(alignment: Alignment, level: Level) -> Aligner {
        let reader = |choice| WordReader::new(choice, Needs::HASHES, level);
        Aligner {
            alignment,
            words: reader(Choice::Auto),
            characters: reader(Choice::Chars),
        }
    }

    /// Whether two texts are duplicates. O(product of the lengths / 64), of at most [`MAX_ALIGNED`]
    /// words and characters.
    pub fn is_right(&mut self, texts: [&[u8]; 2]) -> bool {
        let words = self.alignment.thousandths;
        let reaches = |reader: &mut WordReader, thousandths: u32| {
            let [a, b] = texts.map(|text| reader.read(text).first(MAX_ALIGNED).short);
            let (short, long) = (a.len().min(b.len()), a.len().max(b.len()));
            let whole = if self.alignment.contained {
                short
            } else {
                long
            };
            let least = (whole * thousandths as usize).div_ceil(1000).max(1);
            short >= least && common_subsequence(&a, &b) >= least
        };
        reaches(&mut self.words, words) || reaches(&mut self.characters, (1000 + words) / 2)
    }
}

/// The most steps of an alignment of two texts with these numbers of bytes.
pub fn alignment_steps(lengths: [u64; 2]) -> u64 {
    let [a, b] = lengths.map(|length| length.min(MAX_ALIGNED as u64));
    a * b / 64 + lengths[0] + lengths[1]
}

/// The judged pairs.
#[derive(Debug, Default)]
pub struct Verdicts {
    /// Whether each judged pair is right.
    pub right: BTreeMap<Pair, bool>,
    /// The number of pairs that were to be judged.
    pub asked: u64,
    /// How many were aligned, because the truth does not know them.
    pub aligned: u64,
    /// How many of these have a text of more than [`MAX_ALIGNED`] bytes.
    pub long: u64,
}

/// What judges pairs.
pub struct Judge<'a> {
    /// The truth, which decides first.
    pub truth: &'a Truth,
    /// What decides where the truth says nothing.
    pub alignment: Alignment,
    /// The documents.
    pub members: &'a [Member],
    /// The seed of the order in which pairs are aligned, until they take too long.
    pub seed: u64,
}

impl Judge<'_> {
    /// Judges pairs, in a pseudo-random order until the bounds of steps and bytes are reached.
    ///
    /// # Errors
    /// Errors of reading the texts; [`Memory`](crate::ErrorKind::Memory).
    pub fn judge(
        &self,
        pairs: &BTreeSet<Pair>,
        inputs: &Inputs<'_>,
        workers: &Workers,
    ) -> Result<Verdicts> {
        let mut verdicts = Verdicts {
            asked: pairs.len() as u64,
            ..Verdicts::default()
        };
        let mut unknown = Vec::new();
        for &pair in pairs {
            match self.known(pair) {
                Some(right) => drop(verdicts.right.insert(pair, right)),
                None => unknown.push(pair),
            }
        }
        let hash = |pair: &Pair| {
            let [a, b] = pair.documents().map(u32::to_le_bytes);
            (xxh3_64_with_seed([a, b].as_flattened(), self.seed), *pair)
        };
        unknown.sort_by_cached_key(hash);
        let wanted = self.within_bounds(&mut unknown);
        let account = inputs.memory_account()?;
        let mut texts: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
        let wanted: Vec<u32> = wanted.into_iter().collect();
        inputs.texts(self.members, &wanted, |number, text| {
            account.reserve(text.len(), TEXTS)?;
            texts.insert(number, text);
            Ok(())
        })?;
        inputs.progress.begin(Stage::Search, inputs.bytes());
        let level = inputs.resources.level;
        let verdict = |aligner: &mut Aligner, pair: &Pair| {
            inputs.progress.check()?;
            let texts = pair.documents().map(|number| &texts[&number][..]);
            Ok((*pair, aligner.is_right(texts)))
        };
        let aligner = || Aligner::new(self.alignment, level);
        let align = || (unknown.par_iter().map_init(aligner, verdict)).collect::<Result<_>>();
        let aligned: Vec<(Pair, bool)> = workers.install(align)?;
        inputs.progress.end(inputs.bytes());
        verdicts.aligned = aligned.len() as u64;
        let is_long = |number: u32| texts[&number].len() > MAX_ALIGNED;
        let long = unknown
            .iter()
            .filter(|pair| pair.documents().map(is_long).contains(&true));
        verdicts.long = long.count() as u64;
        verdicts.right.extend(aligned);
        Ok(verdicts)
    }

    /// What the truth says of a pair. Documents that it connects by near pairs are duplicates, unless
    /// it calls the pair itself far.
    fn known(&self, pair: Pair) -> Option<bool> {
        match self.truth.judge(pair) {
            Judgement::Near(_) => Some(true),
            Judgement::Far(_) => Some(false),
            Judgement::Unknown => {
                let clusters = self.truth.clusters();
                let [a, b] = pair.documents().map(|number| clusters.cluster(number));
                (a.is_some() && a == b).then_some(true)
            }
        }
    }

    /// Leaves the first pairs that are within the bounds; returns their documents.
    fn within_bounds(&self, pairs: &mut Vec<Pair>) -> BTreeSet<u32> {
        let (mut steps, mut bytes, mut wanted) = (0, 0, BTreeSet::new());
        let fits = |pair: &&Pair| {
            let lengths = pair.documents().map(|number| {
                let length = self.members[number as usize].text_bytes;
                bytes += if wanted.insert(number) { length } else { 0 };
                length
            });
            steps += alignment_steps(lengths);
            steps <= MAX_STEPS && bytes <= MAX_TEXT_BYTES
        };
        let count = pairs.iter().take_while(fits).count();
        pairs.truncate(count);
        pairs.iter().flat_map(|pair| pair.documents()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_right(thousandths: u32, contained: bool, a: &str, b: &str) -> bool {
        let alignment = Alignment {
            thousandths,
            contained,
        };
        let mut aligner = Aligner::new(alignment, Level::Scalar);
        let right = aligner.is_right([a.as_bytes(), b.as_bytes()]);
        assert_eq!(right, aligner.is_right([b.as_bytes(), a.as_bytes()]));
        right
    }

    #[test]
    fn words_in_order_decide() {
        let (a, b) = ("one two three four five", "one 2 three 4 five");
        assert!(is_right(600, false, a, b) && !is_right(700, false, a, b));
        // Other words between them make the text longer.
        let long = "one two so three four and five but not more";
        assert!(is_right(500, false, a, long) && !is_right(600, false, a, long));
        assert!(is_right(1000, true, a, long));
        // In another order.
        assert!(!is_right(500, false, "a b c d e f g h", "h g f e d c b a"));
        assert!(is_right(
            800,
            false,
            "天地玄黃宇宙洪荒日月",
            "天地玄黃宇宙洪荒星月"
        ));
        assert!(!is_right(1, false, "", "") && !is_right(1, true, "a", ""));
    }

    #[test]
    fn characters_decide_where_words_are_misread() {
        let (a, b) = ("their golden harvest waits", "thcir gol den harveft wa1ts");
        assert!(is_right(700, false, a, b));
        assert!(!is_right(800, false, a, b));
    }
}
