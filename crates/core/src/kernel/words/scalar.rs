//! The scalar definition, byte by byte.

use super::{KEY_LETTERS, LONG, Words};

pub(super) fn find(words: &mut Words, text: &[u8], stop: Option<u8>) -> usize {
    let end = words.copy(text, stop);
    (words.len, words.long_len) = (0, 0);
    let mut place = 0;
    while place < end {
        let run = &words.text[place..end];
        let letters = run
            .iter()
            .take_while(|byte| byte.is_ascii_alphabetic())
            .count();
        if letters > 0 {
            words.borders[words.len] = [place as u16, (place + letters) as u16];
            words.keys[words.len] = key(&run[..letters]);
            if letters > KEY_LETTERS {
                words.long[words.long_len] = words.len as u16;
                words.long_len += 1;
            }
            words.len += 1;
        }
        place += letters + 1;
    }
    end
}

fn key(letters: &[u8]) -> u64 {
    if letters.len() > KEY_LETTERS {
        return LONG;
    }
    let packed = letters
        .iter()
        .fold(0, |key, letter| key << 5 | u64::from(letter & 31));
    packed << (5 * (KEY_LETTERS - letters.len()))
}
