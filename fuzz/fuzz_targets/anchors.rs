//! Equal stretches of a text have equal anchors at the same place, and periodic ones are repeated;
//! ranges that shrink never cut through a character.
//!
//! Promise (Repeated stretches of text): Each stretch has the anchor of the definition, or is …
#![no_main]

use std::collections::HashMap;

use libfuzzer_sys::fuzz_target;
use simtool::kernel::Level;
use simtool::text::anchors::{AnchorReader, Found, Lengths};
use simtool::text::units::Snap;
use simtool::text::{Choice, Tokenizer};

// The first byte is the least length. Few different bytes have many equal stretches.
fuzz_target!(|input: (u8, u8, &[u8])| {
    let (window, letters, text) = input;
    let window = 1 + usize::from(window % 40);
    check(text, window);
    let few: Vec<u8> = text.iter().map(|byte| byte % (1 + letters % 4)).collect();
    check(&few, window);
    let words: Vec<u64> = few.iter().map(|byte| u64::from(*byte) << 60).collect();
    check(&words, window);
    shrink(text, usize::from(letters));
});

fn check<U: simtool::text::anchors::Unit + Eq + std::hash::Hash>(units: &[U], window: usize) {
    let mut anchors: HashMap<&[U], (u64, usize)> = HashMap::new();
    let mut next = 0;
    AnchorReader::new(Lengths::new(window)).for_each(units, |found| match found {
        Found::Anchor(anchor) => {
            assert_eq!(anchor.first, next);
            for start in next..next + anchor.windows {
                let of = (anchor.id, anchor.at - start);
                let own = *anchors.entry(&units[start..start + window]).or_insert(of);
                assert_eq!(own, of);
            }
            next += anchor.windows;
        }
        Found::Periodic {
            first,
            windows,
            distance,
        } => {
            assert_eq!(first, next);
            for start in first..first + windows {
                let before = start - distance;
                assert!(units[start..start + window] == units[before..before + window]);
            }
            next += windows;
        }
    });
    assert_eq!(next, (units.len() + 1).saturating_sub(window));
}

fn shrink(text: &[u8], from: usize) {
    for choice in Choice::ALL {
        let mut ranges = Vec::new();
        let mut words = 0;
        let mut tokenizer = Tokenizer::new(choice, Level::best());
        tokenizer.word_ranges(text, &mut ranges);
        tokenizer.for_each_word(text, &mut |_| words += 1);
        assert_eq!(ranges.len(), words);
        for range in ranges {
            assert!(str::from_utf8(&text[range.start as usize..range.end as usize]).is_ok());
        }
    }
    for snap in Snap::ALL {
        let range = from.min(text.len())..text.len();
        let mut ranges = [range.clone()];
        snap.shrink(text, &mut ranges);
        let [shrunk] = ranges;
        assert!(shrunk.start <= shrunk.end && shrunk.end <= range.end.max(shrunk.start));
        if let Ok(text) = str::from_utf8(text)
            && !shrunk.is_empty()
        {
            assert!(text.is_char_boundary(shrunk.start) && text.is_char_boundary(shrunk.end));
            assert!(shrunk.start >= range.start);
        }
    }
}
