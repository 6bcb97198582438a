//! The edits that turn a page into a planted near-duplicate.

use super::compose::{Composer, Punctuation, Token};
use super::millionths::Millionths;
use crate::random::SplitMix64;

/// A copy of a page with a proportion `share` of its words edited, rounded up to whole words.
///
/// On average, of four edits two replace a word by a random one, one deletes a word, and one inserts
/// a word before it. For every eight edits, two sentences are swapped in addition. Words that end
/// sentences are never deleted, so sentences keep their ends. A share of 0 gives the page itself.
pub(super) fn edit(
    origin: &[Token],
    share: Millionths,
    composer: &Composer,
    mut random: SplitMix64,
) -> Vec<Token> {
    let edits = (origin.len() as u64 * u64::from(share.0)).div_ceil(1_000_000);
    let moves = edits / 8;
    let mut copy = edit_words(origin, edits, composer, &mut random);
    if moves > 0 {
        copy = move_sentences(&copy, moves, &mut random);
    }
    copy
}

/// Edits exactly `edits` words; each set of words is equally likely (Knuth's algorithm S).
fn edit_words(
    origin: &[Token],
    edits: u64,
    composer: &Composer,
    random: &mut SplitMix64,
) -> Vec<Token> {
    let mut copy = Vec::with_capacity(origin.len() + edits as usize);
    let mut edits_left = edits;
    for (index, &token) in origin.iter().enumerate() {
        let words_left = (origin.len() - index) as u64;
        if random.below(words_left) >= edits_left {
            copy.push(token);
            continue;
        }
        edits_left -= 1;
        let new = composer.token(token.script, random);
        match random.below(4) {
            0 if token.punctuation < Punctuation::Stop => {}
            1 => copy.extend([new, token]),
            _ => copy.push(Token {
                punctuation: token.punctuation,
                ..new
            }),
        }
    }
    copy
}

/// Swaps two random sentences, `moves` times.
fn move_sentences(page: &[Token], moves: u64, random: &mut SplitMix64) -> Vec<Token> {
    let mut sentences: Vec<&[Token]> = page
        .split_inclusive(|token| token.punctuation >= Punctuation::Stop)
        .collect();
    let count = sentences.len() as u64;
    for _ in 0..moves.min(count) {
        let (left, right) = (random.below(count), random.below(count));
        sentences.swap(left as usize, right as usize);
    }
    sentences.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::random::{StreamPurpose, stream};
    use crate::synthetic::settings::CorpusSettings;
    use crate::synthetic::truth::similarity;

    fn page(composer: &Composer) -> Vec<Token> {
        composer.compose(stream(9, StreamPurpose::Article, 1))
    }

    #[test]
    fn shares_of_zero_and_one_are_exact() {
        let composer = Composer::new(&CorpusSettings::default());
        let origin = page(&composer);
        let stream = SplitMix64::new(4);
        assert_eq!(
            edit(&origin, Millionths(0), &composer, stream.clone()),
            origin
        );
        let other = edit(&origin, Millionths::ONE, &composer, stream);
        let (shared, all) = similarity(&origin, &other);
        assert!(shared * 100 < all * 60, "{shared} of {all}");
    }

    #[test]
    fn the_number_of_edits_is_exact() {
        let composer = Composer::new(&CorpusSettings::default());
        let origin = page(&composer);
        for edits in [1, 2, 7, 20] {
            // A replaced word is one shared word fewer, and counts twice in the union.
            let copy = edit_words(&origin, edits, &composer, &mut SplitMix64::new(edits));
            let (shared, all) = similarity(&origin, &copy);
            assert!(
                all - shared <= 2 * edits && all > shared,
                "{edits}: {shared} of {all}"
            );
        }
    }

    #[test]
    fn moved_sentences_are_the_same_words() {
        let composer = Composer::new(&CorpusSettings::default());
        let origin = page(&composer);
        let moved = move_sentences(&origin, 5, &mut SplitMix64::new(2));
        assert_ne!(moved, origin);
        let (shared, all) = similarity(&origin, &moved);
        assert_eq!(shared, all);
    }
}
