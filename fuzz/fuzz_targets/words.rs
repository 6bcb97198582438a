//! Every instruction-set level finds the words of the definition, with keys in alphabetical order.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simtool::kernel::Level;
use simtool::kernel::words::{KEY_LETTERS, LONG};
use simtool::text::Windows;
use simtool::vocabulary::Term;

// The last byte repeats the text, so that small inputs reach beyond a window.
fuzz_target!(|input: (u8, &[u8])| {
    let text = input.1.repeat(1 + usize::from(input.0));
    let runs = text.split(|byte| !byte.is_ascii_alphabetic());
    let words: Vec<Vec<u8>> = runs
        .filter(|run| !run.is_empty())
        .map(<[u8]>::to_ascii_lowercase)
        .collect();
    for level in Level::available() {
        let mut expected = words.iter();
        Windows::new(level).for_each(&text, |window| {
            let mut long = window.long_words();
            for &key in window.keys() {
                let word = expected.next().expect("no more words");
                let term = Term::from_letters(word);
                if word.len() <= KEY_LETTERS {
                    assert_eq!(Some(key), term.key());
                    assert_eq!(term.letters().as_ref(), Some(word));
                } else {
                    assert_eq!(key, LONG);
                    let ordinal = long.next().expect("a long word that is not listed");
                    assert_eq!(window.long_word(ordinal).to_ascii_lowercase(), *word);
                    assert_eq!(
                        window.long_word(ordinal),
                        &text[window.long_word_range(ordinal)]
                    );
                }
            }
            assert_eq!(long.next(), None);
        });
        assert_eq!(expected.next(), None);
    }
    for pair in words
        .windows(2)
        .filter(|pair| pair.iter().all(|word| word.len() <= Term::LETTERS))
    {
        let terms = [&pair[0], &pair[1]].map(|word| Term::from_letters(word));
        assert_eq!(terms[0].cmp(&terms[1]), pair[0].cmp(&pair[1]));
    }
});
