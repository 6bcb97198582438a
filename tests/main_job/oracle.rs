//! The main job by its definition, without regard to speed; shares no code with the library.

use std::collections::{BTreeMap, HashSet};

/// `simtool N M` and its inputs.
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// N.
    pub features: usize,
    /// M.
    pub columns: usize,
    /// The maximum Hamming distance of listed articles; 3 in `simtool N M`.
    pub distance: usize,
    /// `article.txt`, possibly split into several files.
    pub articles: Vec<Vec<u8>>,
    /// `sample.txt`.
    pub samples: Vec<u8>,
    /// `stopwords.txt`.
    pub stop_words: Vec<u8>,
    /// `hashvalue.txt`.
    pub hash_table: Vec<u8>,
}

struct Page<'a> {
    id: &'a [u8],
    text: &'a [u8],
}

impl Job {
    /// The text of `result.txt`; `None` if the hash table is invalid.
    pub fn result(&self) -> Option<Vec<u8>> {
        let rows = self.rows()?;
        let ranks: BTreeMap<Vec<u8>, usize> = self.ranking().into_iter().zip(0..).collect();
        let fingerprint = |page: &Page<'_>| fingerprint(page, &ranks, &rows, self.columns);
        let articles: Vec<Page<'_>> = self.articles.iter().flat_map(|file| pages(file)).collect();
        let known: Vec<u128> = articles.iter().map(fingerprint).collect();
        let mut result = Vec::new();
        for sample in pages(&self.samples) {
            let new = fingerprint(&sample);
            result.extend([sample.id, b"\n"].concat());
            for distance in 0..=self.distance {
                let near = |&place: &usize| (new ^ known[place]).count_ones() as usize == distance;
                let ids: Vec<&[u8]> = (0..known.len())
                    .filter(near)
                    .map(|place| articles[place].id)
                    .collect();
                if !ids.is_empty() {
                    result.extend(format!("{distance}:").bytes());
                    ids.iter()
                        .for_each(|id| result.extend([id, &b" "[..]].concat()));
                    result.push(b'\n');
                }
            }
        }
        Some(result)
    }

    /// The first N words of the articles, by descending count, then alphabetical.
    pub fn ranking(&self) -> Vec<Vec<u8>> {
        let stop_words: HashSet<Vec<u8>> = without_mark(&self.stop_words)
            .split(|byte| b" \t\n\x0b\x0c\r".contains(byte))
            .map(<[u8]>::to_ascii_lowercase)
            .collect();
        let mut counts: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        for page in self.articles.iter().flat_map(|file| pages(file)) {
            for word in words(page.text).filter(|word| !stop_words.contains(word)) {
                *counts.entry(word).or_default() += 1;
            }
        }
        let mut ranked: Vec<(Vec<u8>, u64)> = counts.into_iter().collect();
        // The words are in alphabetical order, which a stable sort keeps for equal counts.
        ranked.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        ranked
            .into_iter()
            .take(self.features)
            .map(|(word, _)| word)
            .collect()
    }

    /// N rows of M digits; digit j is bit j.
    fn rows(&self) -> Option<Vec<u128>> {
        let mut lines: Vec<&[u8]> = without_mark(&self.hash_table)
            .split(|&byte| byte == b'\n')
            .collect();
        // After the last line end there is a further line only if it is not empty.
        lines.pop_if(|last| last.is_empty());
        let row = |line: &&[u8]| {
            let digits = line
                .strip_suffix(b"\r")
                .unwrap_or(line)
                .get(..self.columns)?;
            let is_binary = digits.iter().all(|digit| b"01".contains(digit));
            let bits = digits
                .iter()
                .zip(0..)
                .map(|(digit, column)| u128::from(digit & 1) << column);
            is_binary.then(|| bits.sum())
        };
        lines.get(..self.features)?.iter().map(row).collect()
    }
}

fn pages(file: &[u8]) -> impl Iterator<Item = Page<'_>> {
    without_mark(file)
        .split(|&byte| byte == b'\x0c')
        .filter_map(page)
}

fn page(chunk: &[u8]) -> Option<Page<'_>> {
    let is_blank = |byte: &u8| b" \t\r".contains(byte);
    let start = chunk
        .iter()
        .position(|byte| *byte != b'\n' && !is_blank(byte))?;
    let chunk = &chunk[start..];
    let end = chunk
        .iter()
        .position(|&byte| byte == b'\n')
        .unwrap_or(chunk.len());
    let (line, text) = chunk.split_at(end);
    let id_len = line
        .iter()
        .rposition(|byte| !is_blank(byte))
        .map_or(0, |last| last + 1);
    Some(Page {
        id: &line[..id_len],
        text,
    })
}

fn words(text: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let runs = text.split(|byte| !byte.is_ascii_alphabetic());
    runs.filter(|run| !run.is_empty())
        .map(<[u8]>::to_ascii_lowercase)
}

fn fingerprint(
    page: &Page<'_>,
    ranks: &BTreeMap<Vec<u8>, usize>,
    rows: &[u128],
    columns: usize,
) -> u128 {
    let mut weights: BTreeMap<usize, i64> = BTreeMap::new();
    for word in words(page.text) {
        if let Some(&rank) = ranks.get(&word) {
            *weights.entry(rank).or_default() += 1;
        }
    }
    let mut fingerprint = 0;
    for column in 0..columns {
        let signed = weights.iter().map(|(&rank, &weight)| {
            if rows[rank] >> column & 1 == 1 {
                weight
            } else {
                -weight
            }
        });
        if signed.sum::<i64>() > 0 {
            fingerprint |= 1 << column;
        }
    }
    fingerprint
}

fn without_mark(file: &[u8]) -> &[u8] {
    file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file)
}
