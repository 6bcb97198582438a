//! A set of words, looked up window by window.

use ahash::AHashMap;

use super::Term;
use crate::kernel::Level;
use crate::kernel::probe::{KeyTable, LINE_KEYS, MAX_SLOTS, Probed};
use crate::text::Window;

/// A set of words with a *slot* each: most in a table that fits in the cache, long ones in a map.
///
/// Words may be members only to be dropped (stop words); those have no slot.
#[derive(Clone, Debug)]
pub struct Lexicon {
    table: KeyTable,
    /// Words without a key, and words whose line in the table is full.
    rest: AHashMap<Term, Option<u16>>,
    rest_has_keys: bool,
    slots: Vec<(Term, u16)>,
}

/// The result of [`Lexicon::look_up`] for one window. The lists are in no particular order.
#[derive(Default)]
pub struct Lookup {
    found: Probed,
    rest_slots: Vec<u16>,
    missed_terms: Vec<Term>,
}

impl Lexicon {
    /// A lexicon of exactly the given distinct words, each with a slot.
    ///
    /// # Panics
    /// If there are more than 10 000 words.
    pub fn complete(words: &[Term], level: Level) -> Lexicon {
        assert!(words.len() <= 10_000, "{} words", words.len());
        // Six slots per word make a full line rare. Every word must have a slot even if the table
        // takes none of them.
        let max_lines = (MAX_SLOTS - words.len()) / LINE_KEYS;
        let lines = (words.len() * 6).div_ceil(LINE_KEYS).clamp(16, max_lines);
        // A smaller table distributes words differently: probably one of these sizes overfills no
        // line.
        let attempt = |fewer| Lexicon::within(words, lines - fewer, level);
        let mut attempts = (0..8).map(attempt);
        let fitting = attempts.find(|lexicon| !lexicon.rest_has_keys);
        fitting.unwrap_or_else(|| attempt(0))
    }

    fn within(words: &[Term], lines: usize, level: Level) -> Lexicon {
        let mut lexicon = Lexicon::empty(lines, false, level);
        for &word in words {
            if !lexicon.insert(word, true) {
                lexicon.rest_has_keys = true;
                lexicon.insert_rest(word, true);
            }
        }
        lexicon
    }

    /// An empty lexicon in a table of about `table_bytes`, at least one line.
    pub fn likely(table_bytes: usize, level: Level) -> Lexicon {
        let lines = table_bytes.div_ceil(size_of::<[u64; LINE_KEYS]>());
        Lexicon::empty(lines.max(1), true, level)
    }

    fn empty(lines: usize, dropping: bool, level: Level) -> Lexicon {
        Lexicon {
            table: KeyTable::new(lines, dropping, level),
            rest: AHashMap::new(),
            rest_has_keys: false,
            slots: Vec::new(),
        }
    }

    /// Adds `word`, which must not be a member; returns `false` if there is no space. It gets a
    /// slot if `reported`.
    pub fn insert(&mut self, word: Term, reported: bool) -> bool {
        let Some(key) = word.key() else {
            return self.insert_rest(word, reported);
        };
        if !reported {
            return self.table.insert_dropped(key);
        }
        let slot = self.table.insert(key);
        self.slots.extend(slot.map(|slot| (word, slot)));
        slot.is_some()
    }

    fn insert_rest(&mut self, word: Term, reported: bool) -> bool {
        let slot = self.table.slots() + self.rest.len();
        if slot >= MAX_SLOTS {
            return false;
        }
        self.rest.insert(word, reported.then_some(slot as u16));
        if reported {
            self.slots.push((word, slot as u16));
        }
        true
    }

    /// The words that have a slot, and their slots.
    pub fn slots(&self) -> &[(Term, u16)] {
        &self.slots
    }

    /// A number above every slot.
    pub fn slot_bound(&self) -> usize {
        self.table.slots() + self.rest.len()
    }

    /// Looks up every word of `window`; replaces the contents of `lookup`.
    pub fn look_up(&self, window: Window<'_>, lookup: &mut Lookup) {
        self.probe(window.keys(), lookup);
        for ordinal in window.long_words() {
            self.look_up_rest(Term::from_letters(window.long_word(ordinal)), lookup);
        }
    }

    /// Looks up words that an earlier lexicon missed; replaces the contents of `lookup`.
    pub fn look_up_missed(&self, keys: &[u64], terms: &[Term], lookup: &mut Lookup) {
        self.probe(keys, lookup);
        for &term in terms {
            self.look_up_rest(term, lookup);
        }
    }

    fn look_up_rest(&self, term: Term, lookup: &mut Lookup) {
        match self.rest.get(&term) {
            Some(slot) => lookup.rest_slots.extend(slot),
            None => lookup.missed_terms.push(term),
        }
    }

    fn probe(&self, keys: &[u64], lookup: &mut Lookup) {
        lookup.rest_slots.clear();
        lookup.missed_terms.clear();
        self.table.probe(keys, &mut lookup.found);
        if self.rest_has_keys {
            let (rest, slots) = (&self.rest, &mut lookup.rest_slots);
            lookup
                .found
                .take_missed(|key| match rest.get(&Term::from_key(key)) {
                    Some(slot) => {
                        slots.extend(slot);
                        true
                    }
                    None => false,
                });
        }
    }
}

impl Lookup {
    /// The slots of members that have one, in two lists.
    pub fn slots(&self) -> [&[u16]; 2] {
        [self.found.slots(), &self.rest_slots]
    }

    /// The keys of words that are not members.
    pub fn missed_keys(&self) -> &[u64] {
        self.found.missed()
    }

    /// The words that are not members and have no key.
    pub fn missed_terms(&self) -> &[Term] {
        &self.missed_terms
    }
}
