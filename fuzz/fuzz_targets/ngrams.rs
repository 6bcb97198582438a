//! The n-grams that the index of `decontaminate` finds are those of a set; what goes around them is
//! within the text and cuts through no character.
#![no_main]

use std::collections::HashSet;

use libfuzzer_sys::fuzz_target;
use simtool::jobs::passages::decontaminate::{Index, Item, Items, Widening, words_of_gram};

// Words are bytes; few different ones have many equal runs. A zero ends an item.
fuzz_target!(|input: (u8, u8, &[u8], &[u8])| {
    let (lengths, letters, reference, text) = input;
    let (least, least_item) = (1 + usize::from(lengths & 15), 1 + usize::from(lengths >> 4));
    let word = |byte: &u8| u64::from(byte % (1 + letters % 5)) << 60;
    let texts: Vec<Vec<u64>> = (reference.split(|byte| *byte == 0))
        .map(|item| item.iter().map(word).collect())
        .collect();
    let mut items = Items::default();
    for (words, document) in texts.iter().zip(0..) {
        items.items.push(Item {
            document,
            first: items.words.len() as u32,
            has_unspaced_scripts: false,
        });
        items.words.extend_from_slice(words);
        items.ranges.resize(items.words.len(), Default::default());
    }
    let mut grams: HashSet<&[u64]> = HashSet::new();
    for words in &texts {
        match words.len() {
            count if count >= least => grams.extend(words.windows(least)),
            count if count >= least_item && count > 0 => drop(grams.insert(words)),
            _ => {}
        }
    }
    let index = Index::new(items.into(), |items, item| {
        words_of_gram(items.words_of(item).len(), least, least_item)
    });
    assert_eq!(index.count(), grams.len());
    let text: Vec<u64> = text.iter().map(word).collect();
    let mut hits = Vec::new();
    index.find_all(&text, &mut hits);
    let lengths: HashSet<usize> = grams.iter().map(|gram| gram.len()).collect();
    let expected =
        (0..text.len()).flat_map(|first| lengths.iter().map(move |words| (first, *words)));
    let expected: HashSet<(usize, usize)> = expected
        .filter(|(first, words)| {
            let own = text.get(*first..first + words);
            own.is_some_and(|own| grams.contains(own))
        })
        .collect();
    let found: HashSet<(usize, usize)> = hits
        .iter()
        .map(|hit| (hit.first as usize, hit.words as usize))
        .collect();
    assert_eq!(found.len(), hits.len());
    assert_eq!(found, expected);
    widen(input.2, usize::from(input.0), usize::from(input.1));
});

fn widen(text: &[u8], around: usize, least_piece: usize) {
    let Ok(text) = str::from_utf8(text) else {
        return;
    };
    let borders: Vec<usize> = text.char_indices().map(|(place, _)| place).collect();
    let stretches: Vec<_> = (borders.chunks(7))
        .filter(|part| part.len() > 3)
        .map(|part| part[1]..part[2])
        .collect();
    let mut wide = Vec::new();
    let widening = Widening {
        around,
        least_piece,
    };
    widening.widen(text.as_bytes(), &stretches, &mut wide);
    let mut end = 0;
    for range in wide.iter().map(|wide| &wide.bytes) {
        assert!(end <= range.start && range.start <= range.end && range.end <= text.len());
        assert!(text.is_char_boundary(range.start) && text.is_char_boundary(range.end));
        end = range.end;
    }
}
