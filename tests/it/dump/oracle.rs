//! A reference implementation of SimHash deduplication, which compares all pairs.

use std::collections::{BTreeMap, BTreeSet};

use simtool::jobs::dedup::DedupJob;
use simtool::kernel::Level;
use simtool::text::Tokenizer;
use xxhash_rust::xxh3::xxh3_64;

use crate::dump::documents::Text;
use crate::dump::setup::Found;

/// Documents with fewer words have no fingerprint.
const MIN_WORDS: usize = 8;

struct Page {
    words: Vec<Vec<u8>>,
    fingerprint: u64,
    shingles: BTreeSet<Vec<Vec<u8>>>,
}

fn page(job: &DedupJob, text: &str) -> Page {
    let mut words: Vec<Vec<u8>> = Vec::new();
    Tokenizer::new(job.tokenizer, Level::Scalar)
        .for_each_word(text.as_bytes(), &mut |word| words.push(word.to_vec()));
    let mut sums = [0i64; 64];
    for word in &words {
        let hash = xxh3_64(word);
        for (bit, sum) in sums.iter_mut().enumerate() {
            *sum += if hash >> bit & 1 == 1 { 1 } else { -1 };
        }
    }
    let bits = sums.iter().enumerate().filter(|(_, sum)| **sum > 0);
    let width = job.verification.shingle.min(words.len()).max(1);
    Page {
        fingerprint: bits.map(|(bit, _)| 1 << bit).sum(),
        shingles: words.windows(width).map(<[_]>::to_vec).collect(),
        words,
    }
}

/// The dropped documents in input order, each with its kept document, their distance and the share
/// of their shingles that both have. `keep` lists the numbers of all documents in keep order.
pub fn duplicates(job: &DedupJob, documents: &[Text], keep: &[usize]) -> Vec<Found> {
    duplicates_against(job, documents, keep, 0)
}

/// The same with the first `references` documents as references: they precede the others in keep
/// order and are never dropped.
pub fn duplicates_against(
    job: &DedupJob,
    documents: &[Text],
    keep: &[usize],
    references: usize,
) -> Vec<Found> {
    let (mut order, new): (Vec<usize>, Vec<usize>) =
        keep.iter().partition(|&&number| number < references);
    order.extend(new);
    let is_reference = |number: usize| number < references;
    assert_eq!(
        job.method.name(),
        "simhash",
        "the oracle implements no other method"
    );
    let parameters = job.method.list().into_iter();
    let mut distances = parameters.filter(|(name, _)| name == "distance");
    let distance: u32 = distances.next().unwrap().1.parse().unwrap();
    let pages: Vec<Page> = documents
        .iter()
        .map(|document| page(job, &document.text))
        .collect();
    let mut found: BTreeMap<usize, Found> = BTreeMap::new();
    let id = |number: usize| documents[number].id.clone();
    // Documents with the same words as a reference are dropped for the first such reference.
    for &kept in order.iter().filter(|&&number| is_reference(number)) {
        for &other in order.iter().filter(|&&number| !is_reference(number)) {
            if !pages[kept].words.is_empty() && pages[kept].words == pages[other].words {
                let equal = (id(other), id(kept), 0, (1, 1));
                found.entry(other).or_insert(equal);
            }
        }
    }
    for (rank, &kept) in order.iter().enumerate() {
        let may_remove = is_reference(kept) || references == 0 || !job.against_only;
        if !may_remove || pages[kept].words.is_empty() || found.contains_key(&kept) {
            continue;
        }
        for &other in &order[rank + 1..] {
            if is_reference(other) || found.contains_key(&other) {
                continue;
            }
            let (a, b) = (&pages[kept], &pages[other]);
            let bits = (a.fingerprint ^ b.fingerprint).count_ones();
            let shared = a.shingles.intersection(&b.shingles).count() as u64;
            let all = (a.shingles.len() + b.shingles.len()) as u64 - shared;
            let same = a.words == b.words;
            let long = a.words.len() >= MIN_WORDS && b.words.len() >= MIN_WORDS;
            let least = u64::from(job.verification.least.thousandths);
            let near = long && bits <= distance && shared * 1000 >= all * least;
            if same || near {
                let verified = if same { (1, 1) } else { (shared, all) };
                found.insert(other, (id(other), id(kept), bits.into(), verified));
            }
        }
    }
    found.into_values().collect()
}
