//! The repeated ranges of a JSON Lines file by a suffix array, for `lab/spans-oracle`.
//!
//! `spans_oracle FILE LENGTH [--all-copies]`, with a length such as `500b` or `50w`. Prints the id and the repeated
//! ranges in bytes of each document that has some, as JSON Lines. Words are those of the tokenizer
//! `auto`. Everything is in memory: about 25 bytes for each byte of text.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::Range;

use serde_json::{Value, json};
use simtool::jobs::passages::spans::Least;
use simtool::kernel::Level;
use simtool::text::{Choice, Tokenizer, WordRange};

/// A document: its id, the first of its units among those of all, and the places of words.
struct Document {
    id: String,
    units: Range<usize>,
    text_bytes: usize,
    words: Vec<WordRange>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let least = Least::parse(&arguments[2]).unwrap();
    let unit_bytes = if matches!(least, Least::Words(_)) {
        4
    } else {
        1
    };
    let (documents, bytes) = read(&arguments[1], least);
    let keeps_first = arguments.get(3).is_none_or(|flag| flag != "--all-copies");
    let lengths = (least.units(), unit_bytes);
    let is_repeated = repeated(&documents, &bytes, lengths, keeps_first);
    for document in &documents {
        let ranges: Vec<[usize; 2]> = ranges(document, &is_repeated, least)
            .iter()
            .map(|range| [range.start, range.end])
            .collect();
        if !ranges.is_empty() {
            println!("{}", json!({"id": document.id, "ranges": ranges}));
        }
    }
}

/// The documents of a file, and all units: bytes, or the numbers of words as four bytes each.
fn read(path: &str, least: Least) -> (Vec<Document>, Vec<u8>) {
    let mut tokenizer = Tokenizer::new(Choice::Auto, Level::best());
    let mut numbers: HashMap<Vec<u8>, u32> = HashMap::new();
    let (mut documents, mut bytes): (Vec<Document>, Vec<u8>) = (Vec::new(), Vec::new());
    let mut count = 0;
    for line in BufReader::new(File::open(path).unwrap()).lines() {
        let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let text = line["text"].as_str().unwrap().as_bytes();
        let mut words = Vec::new();
        let start = count;
        match least {
            Least::Bytes(_) => {
                bytes.extend_from_slice(text);
                count += text.len();
            }
            Least::Words(_) => {
                tokenizer.word_ranges(text, &mut words);
                count += words.len();
                tokenizer.for_each_word(text, &mut |word| {
                    let next = numbers.len() as u32;
                    let number = *numbers.entry(word.to_vec()).or_insert(next);
                    bytes.extend_from_slice(&number.to_be_bytes());
                });
            }
        }
        documents.push(Document {
            id: line["id"].as_str().unwrap().to_owned(),
            units: start..count,
            text_bytes: text.len(),
            words,
        });
    }
    (documents, bytes)
}

/// Whether the stretch of the least length at each unit occurs earlier, or, unless the first one is
/// kept, anywhere else.
fn repeated(
    documents: &[Document],
    bytes: &[u8],
    (least, unit_bytes): (usize, usize),
    keeps_first: bool,
) -> Vec<bool> {
    let mut is_start = vec![false; bytes.len() / unit_bytes];
    for Document { units, .. } in documents {
        let starts = units.start..(units.end + 1).saturating_sub(least).max(units.start);
        is_start[starts].fill(true);
    }
    let (_, order) = divsufsort::sort(bytes).into_parts();
    let common = common_lengths(bytes, &order);
    let mut repeated = vec![false; is_start.len()];
    let mut group: Vec<usize> = Vec::new();
    for (rank, place) in order.iter().map(|place| *place as usize).enumerate() {
        if (common[rank] as usize) < least * unit_bytes {
            end(&mut group, &mut repeated, keeps_first);
        }
        let unit = place / unit_bytes;
        if place.is_multiple_of(unit_bytes) && is_start[unit] {
            group.push(unit);
        }
    }
    end(&mut group, &mut repeated, keeps_first);
    repeated
}

/// All places of a group of equal stretches are repeated, but for the first one if it is kept.
fn end(group: &mut Vec<usize>, repeated: &mut [bool], keeps_first: bool) {
    let first = group.iter().copied().min();
    let is_alone = group.len() < 2;
    for unit in group.drain(..) {
        let stays = keeps_first && Some(unit) == first;
        repeated[unit] = !(is_alone || stays);
    }
}

/// For each suffix in order, the length that it has in common with the one before. Source: Kasai et
/// al., "Linear-time longest-common-prefix computation in suffix arrays", CPM 2001.
fn common_lengths(bytes: &[u8], order: &[i32]) -> Vec<u32> {
    let mut ranks = vec![0u32; bytes.len()];
    for (rank, place) in order.iter().enumerate() {
        ranks[*place as usize] = rank as u32;
    }
    let mut common = vec![0u32; bytes.len()];
    let mut length = 0usize;
    for place in 0..bytes.len() {
        let rank = ranks[place] as usize;
        if rank == 0 {
            length = 0;
            continue;
        }
        let before = order[rank - 1] as usize;
        let most = bytes.len() - place.max(before);
        while length < most && bytes[place + length] == bytes[before + length] {
            length += 1;
        }
        common[rank] = length as u32;
        length = length.saturating_sub(1);
    }
    common
}

/// The repeated bytes of a document.
fn ranges(document: &Document, is_repeated: &[bool], least: Least) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for unit in document.units.clone().filter(|unit| is_repeated[*unit]) {
        let own = unit..unit + least.units();
        match ranges.last_mut() {
            Some(last) if own.start <= last.end => last.end = own.end,
            _ => ranges.push(own),
        }
    }
    let count = document.units.len();
    let in_bytes = |range: Range<usize>| {
        let units = range.start - document.units.start..range.end - document.units.start;
        if let Least::Bytes(_) = least {
            return units;
        }
        let start = match units.start {
            0 => 0,
            first => document.words[first].start as usize,
        };
        let end = match units.end {
            end if end == count => document.text_bytes,
            end => document.words[end - 1].end as usize,
        };
        start..end
    };
    ranges.into_iter().map(in_bytes).collect()
}
