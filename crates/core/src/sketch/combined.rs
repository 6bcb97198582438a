//! Combinations of two methods: both must accept, or either.
//!
//! A sketch starts with a byte of flags: 1 if the first method found features, 2 if the second did.
//! Then follow the length of the first sketch (eight bytes, little-endian) unless both methods have
//! sketches of fixed length, and both sketches. Source of the rule `and`: Henzinger, "Finding
//! near-duplicate web pages", SIGIR 2006, where SimHash filters pairs that shingles found.

use std::fmt;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::features::vectors::Vectors;
use super::method::{Combination, Compare, Method, Needs, Score, SketchScratch, TokenizedDocument};

/// The rule that combines two verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Both accept; candidates and score are those of the first.
    And,
    /// Either accepts; candidates are those of both, and the score is 0 or 1.
    Or,
}

impl Rule {
    pub(super) const ALL: [Rule; 2] = [Rule::And, Rule::Or];

    /// The word between the methods.
    pub(super) fn word(self) -> &'static str {
        match self {
            Rule::And => "and",
            Rule::Or => "or",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.word())
    }
}

/// A combination of two methods.
pub(super) struct Combined {
    pub(super) rule: Rule,
    pub(super) methods: [Box<dyn Method>; 2],
}

/// The number of bytes of the flags.
const FLAGS: usize = 1;
/// The number of bytes of the length of the first sketch.
const LENGTH: usize = size_of::<u64>();

impl Combined {
    fn lengths(&self) -> [Option<usize>; 2] {
        [0, 1].map(|side| self.methods[side].sketch_bytes())
    }

    /// Parses the two sketches; `None` if the format is wrong.
    fn parse<'s>(&self, sketch: &'s [u8]) -> Option<[Option<&'s [u8]>; 2]> {
        let (flags, rest) = sketch.split_first()?;
        let (length, rest) = match self.lengths() {
            [Some(first), Some(_)] => (first, rest),
            _ => {
                let (length, rest) = rest.split_first_chunk::<LENGTH>()?;
                (usize::try_from(u64::from_le_bytes(*length)).ok()?, rest)
            }
        };
        let (first, second) = rest.split_at_checked(length)?;
        let of = |side: u8, sketch| (flags >> side & 1 == 1).then_some(sketch);
        Some([of(0, first), of(1, second)])
    }

    /// The score of one method, if both documents have features for it.
    fn side(&self, side: usize, a: &[u8], b: &[u8]) -> Option<Score> {
        let [a, b] = [self.sides_of(a)[side]?, self.sides_of(b)[side]?];
        Some(self.methods[side].score(a, b))
    }

    fn side_accepts(&self, side: usize, a: &[u8], b: &[u8]) -> bool {
        let score = self.side(side, a, b);
        score.is_some_and(|score| self.methods[side].accepts(&score))
    }
}

/// The worst score of its kind.
fn worst(score: Score) -> Score {
    match score {
        Score::Distance(_) => Score::Distance(u32::MAX),
        Score::Fraction(..) => Score::Fraction(0, 1),
    }
}

impl Combination for Combined {
    fn methods(&self) -> [&dyn Compare; 2] {
        self.methods
            .each_ref()
            .map(|method| &**method as &dyn Compare)
    }

    fn is_either(&self) -> bool {
        self.rule == Rule::Or
    }

    fn sides_of<'s>(&self, sketch: &'s [u8]) -> [Option<&'s [u8]>; 2] {
        self.parse(sketch)
            .unwrap_or_else(|| panic!("{} bytes are no sketches of two methods", sketch.len()))
    }
}

impl Compare for Combined {
    fn name(&self) -> &'static str {
        self.rule.word()
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        let all = |side: usize| {
            let method = &self.methods[side];
            let parameters = method.parameters().into_iter();
            let parameters: Vec<String> = parameters
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            format!("{}({})", method.name(), parameters.join(", "))
        };
        vec![("first", all(0)), ("second", all(1))]
    }

    fn sketch_bytes(&self) -> Option<usize> {
        match self.lengths() {
            [Some(first), Some(second)] => Some(FLAGS + first + second),
            _ => None,
        }
    }

    fn combination(&self) -> Option<&dyn Combination> {
        Some(self)
    }

    fn is_sketch(&self, bytes: &[u8]) -> bool {
        self.parse(bytes).is_some_and(|sides| {
            let mut sides = sides.into_iter().zip(&self.methods);
            sides.all(|(sketch, method)| sketch.is_none_or(|sketch| method.is_sketch(sketch)))
        })
    }

    fn keys(&self, sketch: &[u8], emit: &mut dyn FnMut(u64)) {
        let sketches = self.sides_of(sketch);
        match (self.rule, sketches) {
            (Rule::And, [Some(first), _]) => self.methods[0].keys(first, emit),
            (Rule::And, _) => {}
            (Rule::Or, sketches) => {
                for ((method, sketch), side) in self.methods.iter().zip(sketches).zip(0..) {
                    let mut tagged = |key: u64| emit(xxh3_64_with_seed(&key.to_le_bytes(), side));
                    if let Some(sketch) = sketch {
                        method.keys(sketch, &mut tagged);
                    }
                }
            }
        }
    }

    fn score(&self, a: &[u8], b: &[u8]) -> Score {
        match self.rule {
            Rule::And => match self.side(0, a, b) {
                Some(score) if self.side_accepts(1, a, b) => score,
                Some(score) => worst(score),
                None => Score::Fraction(0, 1),
            },
            Rule::Or => {
                let either = self.side_accepts(0, a, b) || self.side_accepts(1, a, b);
                Score::Fraction(either.into(), 1)
            }
        }
    }

    fn accepts(&self, score: &Score) -> bool {
        match self.rule {
            Rule::And => self.methods[0].accepts(score),
            Rule::Or => *score == Score::Fraction(1, 1),
        }
    }

    /// Pairs that both accept are accepted by the first, so its vectors suffice.
    fn vectors(&self) -> Option<Vectors<'_>> {
        let first = match self.rule {
            Rule::And => self.methods[0].vectors()?,
            Rule::Or => return None,
        };
        Some(Vectors::new(first.rule, move |sketch, emit| {
            if let [Some(sketch), _] = self.sides_of(sketch) {
                first.features(sketch, emit);
            }
        }))
    }
}

impl Method for Combined {
    /// The larger of both minima for `and`, the smaller for `or`.
    fn least_words(&self) -> usize {
        let [first, second] = [0, 1].map(|side| self.methods[side].least_words());
        match self.rule {
            Rule::And => first.max(second),
            Rule::Or => first.min(second),
        }
    }

    fn needs(&self) -> Needs {
        self.methods[0].needs().and(self.methods[1].needs())
    }

    fn sketch(
        &self,
        document: TokenizedDocument<'_>,
        scratch: &mut SketchScratch,
        out: &mut Vec<u8>,
    ) -> bool {
        let start = out.len();
        let own_lengths = self.sketch_bytes().is_none();
        let first_starts = start + FLAGS + if own_lengths { LENGTH } else { 0 };
        out.resize(first_starts, 0);
        let first = self.methods[0].sketch(document, scratch, out);
        if own_lengths {
            let bytes = (out.len() - first_starts) as u64;
            out[start + FLAGS..first_starts].copy_from_slice(&bytes.to_le_bytes());
        }
        let second =
            (first || self.rule == Rule::Or) && self.methods[1].sketch(document, scratch, out);
        let found = match self.rule {
            Rule::And => first && second,
            Rule::Or => first || second,
        };
        out[start] = u8::from(first) | u8::from(second) << 1;
        if !found {
            out.truncate(start);
            out.resize(start + self.sketch_bytes().unwrap_or(0), 0);
        }
        found
    }
}

#[cfg(test)]
mod tests;
