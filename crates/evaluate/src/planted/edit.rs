//! The edits that turn a text into a planted copy.

use super::boilerplate::{CHINESE, ENGLISH};
use super::copy::{Kind, Planted};
use super::pieces::{characters, is_single, sentences, words};
use crate::random::SplitMix64;

/// The number of attempts to make a copy differ.
const TRIES: usize = 8;

/// An edited copy; it may happen to equal the text.
pub(super) fn edit(
    text: &[u8],
    donor: &[u8],
    kind: Kind,
    percent: u32,
    random: &mut SplitMix64,
) -> Option<Planted> {
    if kind == Kind::Move {
        return (0..TRIES)
            .filter_map(|_| move_sentences(text, percent, random))
            .find(|planted| planted.text != text);
    }
    if kind == Kind::Characters {
        return misread(text, donor, percent, random);
    }
    let of = words(text).len();
    let edited = percent_of(of, percent)?;
    let text = match kind {
        Kind::Substitute => substitute(text, donor, edited.min(of), random),
        Kind::Insert => insert(text, donor, edited, random),
        Kind::Truncate => truncate(text, edited)?,
        Kind::Boilerplate | Kind::Move | Kind::Characters => surround(text, edited),
    };
    let edited = if kind == Kind::Substitute {
        edited.min(of)
    } else {
        edited
    };
    Some(Planted { text, edited, of })
}

/// `percent` percent of `count`, rounded up; `None` if that is 0.
fn percent_of(count: usize, percent: u32) -> Option<usize> {
    let part = (count as u128 * u128::from(percent)).div_ceil(100);
    usize::try_from(part).ok().filter(|&part| part > 0)
}

fn substitute(text: &[u8], donor: &[u8], count: usize, random: &mut SplitMix64) -> Vec<u8> {
    let words = words(text);
    let donor_words = super::pieces::words(donor);
    let mut copy = Vec::with_capacity(text.len());
    let mut done = 0;
    for chosen in random.sample(count, words.len()) {
        let word = words[chosen].clone();
        copy.extend_from_slice(&text[done..word.start]);
        done = word.end;
        let known = (0..TRIES).find_map(|_| {
            let count = donor_words.len();
            let other = donor_words.get(random.index(count.max(1)))?;
            let other = &donor[other.clone()];
            (other != &text[word.clone()]).then_some(other)
        });
        match known {
            Some(other) => copy.extend_from_slice(other),
            None => copy.extend(random_word(random, &text[word])),
        }
    }
    copy.extend_from_slice(&text[done..]);
    copy
}

/// A random word that is not `other`.
fn random_word(random: &mut SplitMix64, other: &[u8]) -> Vec<u8> {
    let length = 4 + random.index(6);
    let mut word: Vec<u8> = (0..length).map(|_| b'a' + random.index(26) as u8).collect();
    if word == other {
        word.push(b'x');
    }
    word
}

/// Replaces, removes or doubles random characters; replacements are characters of the donor.
fn misread(text: &[u8], donor: &[u8], percent: u32, random: &mut SplitMix64) -> Option<Planted> {
    let (all, others) = (characters(text), characters(donor));
    let of = all.len();
    let edited = percent_of(of, percent)?.min(of);
    let mut copy = Vec::with_capacity(text.len());
    let mut done = 0;
    for chosen in random.sample(edited, of) {
        let (character, other) = (&all[chosen], random.index(others.len().max(1)));
        copy.extend_from_slice(&text[done..character.start]);
        done = character.end;
        match random.index(5) {
            0 => {}
            1 => copy.extend([&text[character.clone()]; 2].concat()),
            _ => copy.extend_from_slice(
                others
                    .get(other)
                    .map_or(b"x", |other| &donor[other.clone()]),
            ),
        }
    }
    copy.extend_from_slice(&text[done..]);
    Some(Planted {
        text: copy,
        edited,
        of,
    })
}

/// Moves sentences to random positions; the text between sentences stays.
fn move_sentences(text: &[u8], percent: u32, random: &mut SplitMix64) -> Option<Planted> {
    let sentences = sentences(text);
    let of = sentences.len();
    let edited = percent_of(of, percent)?.min(of);
    let chosen = random.sample(edited, of);
    let mut order: Vec<usize> = (0..of)
        .filter(|place| chosen.binary_search(place).is_err())
        .collect();
    for sentence in chosen {
        order.insert(random.index(order.len() + 1), sentence);
    }
    let mut copy = Vec::with_capacity(text.len());
    let mut done = 0;
    for (place, sentence) in sentences.iter().zip(order) {
        copy.extend_from_slice(&text[done..place.start]);
        copy.extend_from_slice(&text[sentences[sentence].clone()]);
        done = place.end;
    }
    copy.extend_from_slice(&text[done..]);
    Some(Planted {
        text: copy,
        edited,
        of,
    })
}

/// Inserts `count` consecutive words of the donor, from a random one on, between two sentences.
fn insert(text: &[u8], donor: &[u8], count: usize, random: &mut SplitMix64) -> Vec<u8> {
    let ends: Vec<usize> = sentences(text)
        .iter()
        .map(|sentence| sentence.end)
        .collect();
    let place = ends
        .get(random.index(ends.len().max(1)))
        .copied()
        .unwrap_or(text.len());
    let donor_words = words(donor).len();
    let passage = match donor_words {
        0 => (0..count)
            .flat_map(|_| [random_word(random, b""), b" ".to_vec()].concat())
            .collect(),
        _ => passage(donor, random.index(donor_words), count),
    };
    [&text[..place], b"\n", &passage, b"\n", &text[place..]].concat()
}

/// `count` words of a text with the text between them, from word `first` on, wrapping around.
fn passage(text: &[u8], first: usize, count: usize) -> Vec<u8> {
    let words = words(text);
    let (mut passage, mut first, mut left) = (Vec::new(), first, count);
    while left > 0 {
        let taken = left.min(words.len() - first);
        passage.extend_from_slice(&text[words[first].start..words[first + taken - 1].end]);
        (first, left) = (0, left - taken);
        if left > 0 {
            passage.push(b' ');
        }
    }
    passage
}

fn truncate(text: &[u8], count: usize) -> Option<Vec<u8>> {
    let words = words(text);
    let kept = words.len().checked_sub(count).filter(|&kept| kept > 0)?;
    Some(text[..words[kept].start].trim_ascii_end().to_vec())
}

/// Puts `count` words of boilerplate around the text: half before, half after it.
fn surround(text: &[u8], count: usize) -> Vec<u8> {
    let all = words(text);
    let single = |span: &std::ops::Range<usize>| {
        std::str::from_utf8(&text[span.clone()]).is_ok_and(|word| word.chars().all(is_single))
    };
    let is_chinese = 2 * all.iter().filter(|span| single(span)).count() > all.len();
    let site = if is_chinese { CHINESE } else { ENGLISH }.as_bytes();
    let (before, after) = (count.div_ceil(2), count / 2);
    let site_words = words(site).len();
    let top = passage(site, 0, before);
    if after == 0 {
        return [&top, &b"\n"[..], text].concat();
    }
    let bottom = passage(site, before % site_words, after);
    [&top, &b"\n"[..], text, b"\n", &bottom].concat()
}
