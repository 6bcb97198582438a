//! Feature codes: sets of the texts around full stops.

mod codes;

use crate::sketch::features::sets;
use crate::sketch::features::vectors::{VectorMeasure, Vectors};
use crate::sketch::method::entry::{Entry, Statistics};
use crate::sketch::method::parameter::{Domain, Parameter};
use crate::sketch::method::{Compare, Method, Score, SketchScratch, TokenizedDocument};
use crate::text::shingles::overlap;
use codes::for_each_code;

/// The registry entry of feature codes.
pub const ENTRY: Entry = Entry {
    name: "feature-code",
    summary: "texts around full stops: the share in common with the shorter text",
    description: "\
A code is the text around a full stop: five characters on each side of 。, or five words on each \
side of a period before white space or the end. Punctuation, symbols and white space are left out. \
There may be fewer at the ends of a text. Documents are near if the shared codes are at least the \
given share of the smaller set.
Costs a hash and eight bytes per full stop. No pair is missed. In an index every code is a key, \
and codes of many texts (a signature, a disclaimer) cause many candidates; a join starts with rare \
codes. A text with one full stop is near all texts that contain it. Texts without full stops have \
no codes.
In the published experiment, all of 250 verbatim and 232 of 250 edited copies were found, and 3 \
pages were wrong among 500 unrelated texts. The later published recall is 97.3 %, the precision \
99.5 %.",
    measured: "8.1 times the time of simhash per document; 10^4 and 10^5 documents are joined in \
               0.06 and 1.5 s",
    parameters: &[
        Parameter {
            name: "length",
            meaning: "characters, or words, on each side",
            default: "5",
            domain: Domain::Integer(1, 100),
        },
        Parameter {
            name: "similarity",
            meaning: "least share of the smaller set",
            default: "0.3",
            domain: Domain::Share,
        },
    ],
    statistics: |_| Statistics::Nothing,
    build: |values, _| {
        Ok(Box::new(FeatureCode {
            length: values.integer("length") as usize,
            similarity: values.share("similarity"),
            parameters: values.list(),
        }))
    },
};

/// The feature-code method.
#[derive(Clone, Debug)]
struct FeatureCode {
    length: usize,
    similarity: (u64, u64),
    parameters: Vec<(&'static str, String)>,
}

impl Compare for FeatureCode {
    fn name(&self) -> &'static str {
        "feature-code"
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        self.parameters.clone()
    }

    fn is_sketch(&self, bytes: &[u8]) -> bool {
        bytes.len().is_multiple_of(size_of::<u64>())
    }

    /// All codes.
    fn keys(&self, sketch: &[u8], emit: &mut dyn FnMut(u64)) {
        sets::read(sketch).iter().for_each(|code| emit(*code));
    }

    fn score(&self, a: &[u8], b: &[u8]) -> Score {
        let (a, b) = (sets::read(a), sets::read(b));
        Score::Fraction(overlap(&a, &b) as u64, a.len().min(b.len()) as u64)
    }

    fn accepts(&self, score: &Score) -> bool {
        score.reaches(self.similarity)
    }

    fn vectors(&self) -> Option<Vectors<'_>> {
        Some(Vectors::of_sets(VectorMeasure::Smaller, self.similarity))
    }
}

impl Method for FeatureCode {
    fn sketch(
        &self,
        document: TokenizedDocument<'_>,
        scratch: &mut SketchScratch,
        out: &mut Vec<u8>,
    ) -> bool {
        let SketchScratch { short, letters, .. } = scratch;
        short.clear();
        for_each_code(document.text, self.length, letters, |code| short.push(code));
        sets::write(short, out) > 0
    }
}

#[cfg(test)]
mod tests;
