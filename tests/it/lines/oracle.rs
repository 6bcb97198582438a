//! The definition, with a hash map and without any of the program's parts.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::lines::setup::Text;

/// What the definition says.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    pub unit: Unit,
    pub normalizes: bool,
    pub often: Often,
    pub per: Group,
    pub keeps_first: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Line,
    /// Runs of lines with this many words that have fewer without the first or without the last line.
    Run(usize),
    /// All runs of lines with this many words.
    AnyRun(usize),
    Paragraph,
    Sentences(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Often {
    Above(usize),
    InDocuments(usize),
}

impl Often {
    /// Whether a unit with these places is removed.
    fn is_reached_by(self, places: &[Removed]) -> bool {
        let documents: HashSet<usize> = places.iter().map(|(number, ..)| *number).collect();
        match self {
            Often::Above(most) => places.len() > most,
            Often::InDocuments(least) => documents.len() >= least,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    All,
    Source,
    Site,
    Documents(usize),
}

/// A range of a text and the count of its unit; or the number of a document and a range.
pub type Removed = (usize, usize, usize);

impl Definition {
    /// The removed ranges of the documents, each given with the number of its file, except the first
    /// `references`. Ranges that overlap are one, with the larger count.
    pub fn removed(&self, documents: &[(usize, Text)], references: usize) -> Vec<Vec<Removed>> {
        let mut places: HashMap<(String, String), Vec<Removed>> = HashMap::new();
        for (number, (source, document)) in documents.iter().enumerate() {
            let group = match self.per {
                Group::All => String::new(),
                Group::Source => source.to_string(),
                Group::Site => document.url.split('/').nth(2).unwrap_or("").to_owned(),
                Group::Documents(count) => (number / count).to_string(),
            };
            for (start, end) in self.units(&document.text) {
                let unit = &document.text[start..end];
                let form = match self.unit {
                    // Runs are compared line by line or sentence by sentence.
                    Unit::Run(_) | Unit::AnyRun(_) => {
                        let lines = unit.lines().map(|line| self.form(line));
                        let lines = lines.filter(|line| !line.trim().is_empty());
                        lines.collect::<Vec<_>>().join("\n")
                    }
                    Unit::Sentences(_) => {
                        let sentences = sentences(unit).into_iter();
                        let forms = sentences.map(|(start, end)| self.form(&unit[start..end]));
                        forms.collect::<Vec<_>>().join("\u{1}")
                    }
                    _ => self.form(unit),
                };
                places
                    .entry((group.clone(), form))
                    .or_default()
                    .push((number, start, end));
            }
        }
        let mut removed = vec![Vec::new(); documents.len()];
        for places in places
            .values()
            .filter(|places| self.often.is_reached_by(places))
        {
            let skipped = usize::from(self.keeps_first);
            for (number, start, end) in places.iter().skip(skipped) {
                if *number >= references {
                    removed[*number].push((*start, *end, places.len()));
                }
            }
        }
        removed.into_iter().map(joined).collect()
    }

    fn form(&self, unit: &str) -> String {
        match self.normalizes {
            true => unit.split_whitespace().collect::<Vec<_>>().join(" "),
            false => unit.to_owned(),
        }
    }

    fn units(&self, text: &str) -> Vec<(usize, usize)> {
        let units = match self.unit {
            Unit::Line => lines(text),
            Unit::Run(words) => runs(text, words, true),
            Unit::AnyRun(words) => runs(text, words, false),
            Unit::Paragraph => paragraphs(text),
            Unit::Sentences(count) => {
                let sentences = sentences(text);
                let runs = sentences.windows(count);
                runs.map(|run| (run[0].0, run[count - 1].1)).collect()
            }
        };
        let is_blank = |&(start, end): &(usize, usize)| text[start..end].trim().is_empty();
        units.into_iter().filter(|unit| !is_blank(unit)).collect()
    }
}

fn lines(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let own = match line.strip_suffix('\n') {
            Some(line) => line.strip_suffix('\r').unwrap_or(line),
            None => line,
        };
        found.push((start, start + own.len()));
        start += line.len();
    }
    found
}

/// The runs of lines with this many words; if `shortest`, of each line only the shortest one that
/// begins with it, and the shortest one that ends with it.
fn runs(text: &str, words: usize, shortest: bool) -> Vec<(usize, usize)> {
    let mut lines = lines(text);
    lines.retain(|&(start, end)| !text[start..end].trim().is_empty());
    let counts: Vec<usize> = lines
        .iter()
        .map(|line| words_of(&text[line.0..line.1]))
        .collect();
    let has_enough =
        |&(first, end): &(usize, usize)| counts[first..end].iter().sum::<usize>() >= words;
    let mut runs = BTreeSet::new();
    for place in 0..lines.len() {
        let from = (place + 1..=lines.len())
            .map(|end| (place, end))
            .filter(has_enough);
        let until = (0..=place)
            .rev()
            .map(|first| (first, place + 1))
            .filter(has_enough);
        let most = if shortest { 1 } else { usize::MAX };
        runs.extend(from.take(most).chain(until.take(most)));
    }
    let runs = runs.into_iter();
    runs.map(|(first, end)| (lines[first].0, lines[end - 1].1))
        .collect()
}

/// The words of a line: at least five if it has one.
fn words_of(line: &str) -> usize {
    let (mut words, mut is_in_word) = (0, false);
    for character in line.chars() {
        match character {
            '\u{301}' | '\u{feff}' => {}
            '中' | '文' => {
                words += 1;
                is_in_word = false;
            }
            _ if character.is_alphanumeric() => {
                words += usize::from(!is_in_word);
                is_in_word = true;
            }
            _ => is_in_word = false,
        }
    }
    match words {
        0 => 0,
        words => words.max(5),
    }
}

fn paragraphs(text: &str) -> Vec<(usize, usize)> {
    let is_blank = |&(start, end): &(usize, usize)| text[start..end].trim_ascii().is_empty();
    let lines = lines(text);
    let first = lines.iter().position(|line| !is_blank(line));
    let last = lines.iter().rposition(|line| !is_blank(line));
    let (Some(first), Some(last)) = (first, last) else {
        return Vec::new();
    };
    let lines = &lines[first..=last];
    if !lines.iter().any(is_blank) {
        return lines.to_vec();
    }
    let paragraphs = lines.split(is_blank).filter(|lines| !lines.is_empty());
    paragraphs
        .map(|lines| (lines[0].0, lines[lines.len() - 1].1))
        .collect()
}

/// Sentences end at line breaks, at `.` and `!` before white space, and at `。`.
fn sentences(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((place, character)) = characters.next() {
        let end = place + character.len_utf8();
        let next = characters.peek().map(|(_, next)| *next);
        let is_run = next.is_some_and(|next| ".!。".contains(next));
        let ends = match character {
            '\n' => true,
            '。' => !is_run,
            '.' | '!' => {
                let run = text[..end].chars().rev();
                let has_wide = run.take_while(|c| ".!。".contains(*c)).any(|c| c == '。');
                !is_run && (has_wide || next.is_none_or(|next| next.is_ascii_whitespace()))
            }
            _ => false,
        };
        if ends || next.is_none() {
            let sentence = &text[start..end];
            let own = sentence.trim_ascii();
            if !own.is_empty() {
                let from = start + (sentence.len() - sentence.trim_ascii_start().len());
                found.push((from, from + own.len()));
            }
            start = end;
        }
    }
    // Sentences of white space that is not ASCII do not count.
    found.retain(|&(start, end)| !text[start..end].trim().is_empty());
    found
}

/// Sorted ranges, those that overlap as one.
fn joined(mut ranges: Vec<Removed>) -> Vec<Removed> {
    ranges.sort_unstable();
    let mut all: Vec<Removed> = Vec::new();
    for (start, end, count) in ranges {
        match all.last_mut() {
            Some(last) if start < last.1 => {
                last.1 = last.1.max(end);
                last.2 = last.2.max(count);
            }
            _ => all.push((start, end, count)),
        }
    }
    all
}
