//! The stop words as terms, in bounded memory.

use ahash::AHashSet;

use crate::{Error, ErrorKind, Result};
use simtool_core::text::stop_words;
use simtool_core::vocabulary::Term;
use simtool_engine::{Budget, Reservation};

/// The most memory of an entry of a hash set: 17 bytes, in a table that is less than half full and
/// was copied from one of half the size.
const TERM_BYTES: u64 = 60;
/// The least memory for stop words.
const LEAST_BYTES: u64 = 4 << 20;

/// The words of `list` that can occur in a text, and their reserved memory.
///
/// # Errors
/// [`ErrorKind::Memory`] if they take more than 4 MiB, and more than a quarter of the free bytes of
/// `budget`.
pub(super) fn stop_terms<'a>(
    list: &[u8],
    budget: &'a Budget,
) -> Result<(AHashSet<Term>, Option<Reservation<'a>>)> {
    let most = (budget.free() / 4).max(LEAST_BYTES) / TERM_BYTES;
    let mut terms = AHashSet::new();
    for word in stop_words(list).filter(|word| word.iter().all(u8::is_ascii_alphabetic)) {
        terms.insert(Term::from_letters(word));
        if terms.len() as u64 > most {
            let message = format!(
                "more than {most} different stop words do not fit the memory bound (allow more \
                 memory, or list fewer)"
            );
            return Err(Error::new(ErrorKind::Memory, message));
        }
    }
    let memory = budget.reserve(terms.len() as u64 * TERM_BYTES, 0);
    Ok((terms, memory))
}
