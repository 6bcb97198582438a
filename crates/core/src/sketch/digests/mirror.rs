//! Five methods that recognise mirrored pages.
//!
//! Method 1 compares abstracts. Methods 2 and 5 compare keywords in the order of weight (2) or of
//! bytes (5). Methods 3 and 4 also require similar weights, again in the order of weight (3) or of
//! bytes (4). So 3 is stricter than 2 and 4, which are both stricter than 5.

mod keywords;
mod page_abstract;

use super::equality::Equality;
use crate::Result;
use crate::sketch::Method;
use crate::sketch::features::weights::Idf;
use crate::sketch::method::entry::{CountRequest, Entry, FeatureUnit, MethodContext, Statistics};
use crate::sketch::method::parameter::{Domain, Parameter, Values};
use keywords::{Keywords, Order};
use page_abstract::Abstract;

/// Method 1: equal abstracts.
pub const ONE: Entry = Entry {
    name: "mirror-1",
    summary: "equal MD5 of the abstract: the first bytes of the text",
    description: "\
The abstract is the start of the text, truncated between two characters, with runs of white space \
reduced to one space and without invalid UTF-8. Pages are mirrors if the MD5 of their abstracts is \
equal.
Costs a few nanoseconds per byte of the abstract, independent of the length of the page, and 16 \
bytes per document. Ignores everything after the abstract, and does not distinguish pages of a \
site that start alike. MD5 does not resist deliberate collisions.
First of five methods for mirrored pages; the others compare keywords.",
    measured: "1.4 times the time of simhash per document; 10^4 and 10^5 documents are joined in \
               0.002 and 0.03 s",
    parameters: &[Parameter {
        name: "bytes",
        meaning: "length of the abstract",
        default: "512",
        domain: Domain::Integer(1, 1 << 20),
    }],
    statistics: |_| Statistics::Nothing,
    build: |values, _| {
        let bytes = values.integer("bytes") as usize;
        Ok(Box::new(Equality(Abstract { bytes })))
    },
};

/// Method 2: equal keywords in the order of their weights.
pub const TWO: Entry = keyword_entry(
    "mirror-2",
    "equal MD5 of the keywords in the order of their weights",
    PARAMETERS_OF_DIGESTS,
    |values, setting| build("mirror-2", Order::Weight, false, values, setting),
);

/// Method 3: equal keywords in the order of their weights, and similar weights.
pub const THREE: Entry = keyword_entry(
    "mirror-3",
    "equal MD5 of the keywords in the order of their weights, and like weights",
    PARAMETERS,
    |values, setting| build("mirror-3", Order::Weight, true, values, setting),
);

/// Method 4: equal keywords and similar weights.
pub const FOUR: Entry = keyword_entry(
    "mirror-4",
    "equal MD5 of the keywords in alphabetical order, and like weights",
    PARAMETERS,
    |values, setting| build("mirror-4", Order::Alphabet, true, values, setting),
);

/// Method 5: equal keywords.
pub const FIVE: Entry = keyword_entry(
    "mirror-5",
    "equal MD5 of the keywords in alphabetical order",
    PARAMETERS_OF_DIGESTS,
    |values, setting| build("mirror-5", Order::Alphabet, false, values, setting),
);

type Build = fn(&Values, &MethodContext<'_>) -> Result<Box<dyn Method>>;

const fn keyword_entry(
    name: &'static str,
    summary: &'static str,
    parameters: &'static [Parameter],
    build: Build,
) -> Entry {
    Entry {
        name,
        summary,
        description: DESCRIPTION,
        measured: "8 times the time of simhash per document, since all words are spelled, counted \
                   and sorted; 10^4 and 10^5 documents are joined in 0.002 s and 0.03 to 0.08 s",
        parameters,
        statistics,
        build,
    }
}

const DESCRIPTION: &str = "\
The keywords of a page are its words of highest weight, without stop words; of words with equal \
weights, those first in byte order. A page with fewer words has all of them. The keywords are \
joined by zero bytes, in the order of their weights (mirror-2, mirror-3) or of their bytes \
(mirror-4, mirror-5), and digested with MD5. Pages are mirrors if it is equal; for mirror-3 and \
mirror-4, also |a-b|^2 / (|a|^2+|b|^2) of the vectors of weights, aligned by word, must be below \
epsilon. The score is one minus that, or zero if the MD5 differs.
Costs a sort of the words, 16 bytes per document, and 8 per keyword if weights count. Found by one \
lookup. One edit separates pages if it changes which words are keywords; very short pages are \
similar by accident.
Four of five methods for mirrored pages by keywords; 3 is stricter than 2 and 4, which are both \
stricter than 5.";

const KEYWORDS: Parameter = Parameter {
    name: "keywords",
    meaning: "number of words of highest weight",
    default: "10",
    domain: Domain::Integer(1, 1000),
};

const WEIGHTS: Parameter = Parameter {
    name: "weights",
    meaning: "tf: occurrences; tf-idf: times log2 of all documents / those with the word",
    default: "tf",
    domain: Domain::Word(&["tf", "tf-idf"]),
};

const EPSILON: Parameter = Parameter {
    name: "epsilon",
    meaning: "upper bound on the relative difference of weights",
    default: "0.1",
    domain: Domain::Share,
};

const PARAMETERS_OF_DIGESTS: &[Parameter] = &[KEYWORDS, WEIGHTS];
const PARAMETERS: &[Parameter] = &[KEYWORDS, WEIGHTS, EPSILON];

/// The maximum number of counted words; rarer words count as occurring in one document.
const MAX_COUNTED: usize = 1_000_000;

fn statistics(values: &Values) -> Statistics {
    match values.word("weights") {
        "tf" => Statistics::Nothing,
        _ => Statistics::Count(CountRequest {
            unit: FeatureUnit::Words,
            most: MAX_COUNTED,
            shingle: 1,
            skip_stop_words: true,
            documents: true,
        }),
    }
}

fn build(
    name: &'static str,
    order: Order,
    like_weights: bool,
    values: &Values,
    setting: &MethodContext<'_>,
) -> Result<Box<dyn Method>> {
    let frequencies = || setting.frequencies.cloned().unwrap_or_default();
    let idf = match values.word("weights") {
        "tf" => None,
        _ => Some(Idf::new(&frequencies())),
    };
    Ok(Box::new(Keywords {
        name,
        order,
        keywords: values.integer("keywords") as usize,
        idf,
        epsilon: like_weights.then(|| values.share("epsilon")),
        stop_words: setting.stop_words.clone(),
    }))
}

#[cfg(test)]
mod tests;
