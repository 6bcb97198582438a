//! Structure trees: headings and paragraphs of a text, compared level by level.
//!
//! A sketch has for each level of a text, ascending: the level, its number of blocks, its number of
//! distinct hashes, and the set of these. All numbers have eight bytes, little-endian.

mod blocks;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::sketch::features::sets;
use crate::sketch::features::vectors::{Feature, SimilarityRule, VectorMeasure, Vectors};
use crate::sketch::method::entry::{Entry, Statistics};
use crate::sketch::method::parameter::{Domain, Parameter};
use crate::sketch::method::{Compare, Method, Score, SketchScratch, TokenizedDocument};
use crate::text::shingles::overlap;
use blocks::{LEVELS, Sentences, for_each_node};

/// The registry entry of the structure tree.
pub const ENTRY: Entry = Entry {
    name: "structure-tree",
    summary: "sentences of headings and paragraphs, compared level by level",
    description: "\
Each line is a block with a level: headings 第X章, 一、, （一）, 1. and (1) have levels 1 to 5, all \
others are paragraphs of level 7. (The markup of a page is already removed, so levels 0 and 6 are \
empty.) A block is represented by the MD5 of its sentence with the most letters, or of its first \
and its last sentence, without white space, punctuation and symbols. Sentences end at 。！？；!?; and \
at the end of the line.
For each level, the share of sentences in common is that of the larger set, or of the smaller one \
if one text may be a part of the other. Their mean, weighted by the larger number of blocks, is \
the similarity. The level of a block does not depend on other blocks, so a lost heading affects no \
other block.
Costs one MD5 and eight bytes per block, the first 64 bits of its MD5. Texts without a common line \
are never near. If every paragraph has many edits, longest sentences do not help.
In the published experiment, all of 250 verbatim and 213 of 250 edited copies were found, and no \
pair was wrong among 500 unrelated texts.",
    measured: "8.8 times the time of simhash per document; 10^4 and 10^5 documents are joined in \
               0.07 and 1.4 s; every character is classified, and every line needs an MD5",
    parameters: &[
        Parameter {
            name: "similarity",
            meaning: "least weighted similarity of the levels",
            default: "0.5",
            domain: Domain::Share,
        },
        Parameter {
            name: "sentences",
            meaning: "long: the longest of a block; ends: its first and its last",
            default: "long",
            domain: Domain::Word(&["long", "ends"]),
        },
        Parameter {
            name: "mode",
            meaning: "page: share of the larger; subtree: of the smaller, a part of the other",
            default: "page",
            domain: Domain::Word(&["page", "subtree"]),
        },
    ],
    statistics: |_| Statistics::Nothing,
    build: |values, _| {
        Ok(Box::new(Structure {
            similarity: values.share("similarity"),
            sentences: match values.word("sentences") {
                "long" => Sentences::Long,
                _ => Sentences::Ends,
            },
            subtree: values.word("mode") == "subtree",
            parameters: values.list(),
        }))
    },
};

/// The structure-tree method.
#[derive(Clone, Debug)]
struct Structure {
    similarity: (u64, u64),
    sentences: Sentences,
    subtree: bool,
    parameters: Vec<(&'static str, String)>,
}

/// One level of a text.
#[derive(Clone, Copy, Debug, Default)]
struct TextLevel<'s> {
    /// The number of blocks.
    nodes: u64,
    /// The set of the blocks' hashes.
    hashes: &'s [u8],
}

/// The count of numbers before the set of a level.
const HEAD: usize = 3;

/// The levels of a sketch.
///
/// # Panics
/// If `sketch` is not a sketch of this method.
fn levels(sketch: &[u8]) -> [TextLevel<'_>; LEVELS] {
    parse(sketch).unwrap_or_else(|| panic!("{} bytes are no levels", sketch.len()))
}

/// Parses the levels of a sketch; `None` if the format is wrong.
fn parse(mut sketch: &[u8]) -> Option<[TextLevel<'_>; LEVELS]> {
    let mut levels = [TextLevel::default(); LEVELS];
    while !sketch.is_empty() {
        let (numbers, _) = sketch.as_chunks();
        let numbers: &[_; HEAD] = numbers.first_chunk()?;
        let [level, nodes, hashes] = numbers.map(u64::from_le_bytes);
        let numbers = usize::try_from(hashes).ok()?.checked_add(HEAD)?;
        let end = numbers.checked_mul(size_of::<u64>())?;
        let (own, rest) = sketch.split_at_checked(end)?;
        let hashes = &own[HEAD * size_of::<u64>()..];
        *levels.get_mut(usize::try_from(level).ok()?)? = TextLevel { nodes, hashes };
        sketch = rest;
    }
    Some(levels)
}

/// The maximum common denominator.
const MAX_DENOMINATOR: u128 = 1 << 56;
/// Larger counts are reduced to this.
const MAX_NODES: u64 = u32::MAX as u64;

/// The least common multiple, or [`MAX_DENOMINATOR`] if it is larger; then fractions are rounded.
fn denominator(of: impl Iterator<Item = u64>) -> u128 {
    let common = |all: u128, next: u64| {
        let next = u128::from(next.max(1));
        let multiple = all.checked_mul(next / greatest_divisor(all, next))?;
        (multiple <= MAX_DENOMINATOR).then_some(multiple)
    };
    let mut of = of;
    of.try_fold(1, common).unwrap_or(MAX_DENOMINATOR)
}

fn greatest_divisor(a: u128, b: u128) -> u128 {
    if b == 0 {
        a
    } else {
        greatest_divisor(b, a % b)
    }
}

impl Structure {
    /// For each level: its weight, the overlap, and the size that the overlap is divided by.
    fn shares(&self, a: &[u8], b: &[u8]) -> [[u64; 3]; LEVELS] {
        let (a, b) = (levels(a), levels(b));
        let mut shares = [[0; 3]; LEVELS];
        for (share, (a, b)) in shares.iter_mut().zip(a.iter().zip(&b)) {
            let (of_a, of_b) = (sets::read(a.hashes), sets::read(b.hashes));
            let of = match self.subtree {
                true => of_a.len().min(of_b.len()),
                false => of_a.len().max(of_b.len()),
            };
            let shared = if of > 0 { overlap(&of_a, &of_b) } else { 0 };
            *share = [a.nodes.max(b.nodes), shared as u64, of as u64];
        }
        shares.map(|share| share.map(|number| number.min(MAX_NODES)))
    }
}

impl Compare for Structure {
    fn name(&self) -> &'static str {
        "structure-tree"
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        self.parameters.clone()
    }

    fn is_sketch(&self, bytes: &[u8]) -> bool {
        parse(bytes).is_some()
    }

    /// Each hash, together with its level.
    fn keys(&self, sketch: &[u8], emit: &mut dyn FnMut(u64)) {
        for (level, number) in levels(sketch).iter().zip(0..) {
            for hash in sets::read(level.hashes).iter() {
                emit(xxh3_64_with_seed(&hash.to_le_bytes(), number));
            }
        }
    }

    /// Exact if the least common multiple of the sizes is at most [`MAX_DENOMINATOR`] and the sums
    /// fit into 64 bits; else rounded down by less than 2^-52.
    fn score(&self, a: &[u8], b: &[u8]) -> Score {
        let shares = self.shares(a, b);
        let common = denominator(shares.iter().map(|[_, _, of]| *of));
        let shares = shares.map(|share| share.map(u128::from));
        let of_level = |[weight, shared, of]: &[u128; 3]| weight * shared * common / (*of).max(1);
        let whole: u128 = shares.iter().map(|[weight, ..]| weight * common).sum();
        Score::share(shares.iter().map(of_level).sum(), whole)
    }

    fn accepts(&self, score: &Score) -> bool {
        score.reaches(self.similarity)
    }

    /// The mean reaches the threshold only if some level does.
    fn vectors(&self) -> Option<Vectors<'_>> {
        let rule = SimilarityRule {
            measure: match self.subtree {
                true => VectorMeasure::Smaller,
                false => VectorMeasure::Larger,
            },
            least: self.similarity,
            parts: LEVELS as u32,
        };
        Some(Vectors::new(rule, |sketch, emit| {
            for (level, part) in levels(sketch).iter().zip(0..) {
                let hashes = sets::read(level.hashes);
                hashes
                    .iter()
                    .for_each(|&name| emit(Feature::element(part, name)));
            }
        }))
    }
}

impl Method for Structure {
    fn sketch(
        &self,
        document: TokenizedDocument<'_>,
        scratch: &mut SketchScratch,
        out: &mut Vec<u8>,
    ) -> bool {
        let SketchScratch { runs, short, .. } = scratch;
        // Pairs of (level, hash).
        runs.clear();
        let mut nodes = [0u64; LEVELS];
        for_each_node(document.text, self.sentences, |level, hashes| {
            nodes[level] += 1;
            runs.extend(hashes.map(|hash| (level as u64, u128::from(hash))));
        });
        let start = out.len();
        for (level, nodes) in nodes
            .into_iter()
            .enumerate()
            .filter(|(_, nodes)| *nodes > 0)
        {
            let level = level as u64;
            short.clear();
            let own = runs.iter().filter(|(of, _)| *of == level);
            short.extend(own.map(|(_, hash)| *hash as u64));
            out.extend(
                [level, nodes]
                    .iter()
                    .flat_map(|number| number.to_le_bytes()),
            );
            let place = out.len();
            out.extend_from_slice(&[0; 8]);
            let hashes = sets::write(short, out) as u64;
            out[place..place + 8].copy_from_slice(&hashes.to_le_bytes());
        }
        out.len() > start
    }
}

#[cfg(test)]
mod tests;
