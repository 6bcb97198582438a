//! Every instruction-set level finds the same words, which match the definition of each tokenizer.
//!
//! Promise (Deduplication): Every parser accepts any bytes; memory …
#![no_main]

use libfuzzer_sys::fuzz_target;
use simtool::kernel::Level;
use simtool::text::{Choice, Tokenizer, WordHashes};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

// The first byte repeats the text, so that small inputs reach beyond a window.
fuzz_target!(|input: (u8, &[u8])| {
    let text = input.1.repeat(1 + usize::from(input.0));
    for choice in Choice::ALL {
        let mut words: Option<Vec<Vec<u8>>> = None;
        for level in Level::available() {
            let mut found = Vec::new();
            let mut tokenizer = Tokenizer::new(choice, level);
            tokenizer.for_each_word(&text, &mut |word| found.push(word.to_vec()));
            let mut hashes = WordHashes::default();
            for wide in [true, false] {
                tokenizer.hash_words(&text, wide, &mut hashes);
                let short = found.iter().map(|word| xxh3_64(word));
                assert!(short.eq(hashes.short.iter().copied()), "{choice} {level}");
                let long = found.iter().filter(|_| wide).map(|word| xxh3_128(word));
                assert!(long.eq(hashes.long.iter().copied()), "{choice} {level}");
            }
            assert_eq!(
                *words.get_or_insert(found.clone()),
                found,
                "{choice} {level}"
            );
        }
        check(choice, &text, &words.expect("there is a level"));
    }
});

fn check(choice: Choice, text: &[u8], words: &[Vec<u8>]) {
    let runs = |is_part: fn(&u8) -> bool| {
        let runs = text
            .split(move |byte| !is_part(byte))
            .filter(|run| !run.is_empty());
        runs.map(<[u8]>::to_ascii_lowercase)
    };
    for word in words {
        let word = str::from_utf8(word).expect("bytes that are no UTF-8 are in no word");
        assert!(!word.is_empty() && !word.contains(|letter: char| letter.is_ascii_uppercase()));
    }
    match choice {
        Choice::Ascii => assert!(runs(u8::is_ascii_alphabetic).eq(words.iter().cloned())),
        Choice::Auto if text.is_ascii() && !text.contains(&b'-') => {
            assert!(runs(u8::is_ascii_alphanumeric).eq(words.iter().cloned()));
        }
        _ => {}
    }
}
