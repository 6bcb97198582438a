//! The documents of a home, as the task writes them that makes it.

use std::collections::HashMap;

use ahash::RandomState;
use simtool_batch::dedup::Flags;
use simtool_core::Result;

use crate::context::Context;
use crate::records::{HomeRow, LocalFollower, Words, rank_of};
use crate::work::{Facts, Outbox, Stream};

/// The documents: [`HomeRow`].
pub const ROWS: Stream = Stream(0);
/// Their sketches, with signatures if an index has them: messages.
pub const SKETCHES: Stream = Stream(1);
/// Their ids and keys: messages, see [`Name`](crate::name::Name).
pub const NAMES: Stream = Stream(2);
/// [`LocalFollower`].
pub const LOCAL: Stream = Stream(3);
/// [`Words`], by their digests.
pub const WORDS: Stream = Stream(4);
/// The tasks that can read the texts: `u32`; only if these are not the homes.
pub const ORIGINS: Stream = Stream(5);
/// Digests of URLs, and keys that are smaller for later dates: `[u64; 4]`; only if URLs are compared.
pub const PAGES: Stream = Stream(6);

/// The number of streams.
pub const STREAMS: usize = 7;

/// The number of parts of each stream.
pub fn parts(tasks: usize) -> [usize; STREAMS] {
    [1, 1, 1, 1, tasks, 1, 1]
}

/// A document.
pub struct HomeDocument<'d> {
    /// Its row.
    pub row: HomeRow,
    /// Of [`PAGES`], as bytes; empty if URLs are not compared.
    pub page: &'d [u8],
    /// Its sketch.
    pub sketch: &'d [u8],
    /// Its [name](crate::name::Name).
    pub name: &'d [u8],
}

/// Writes the documents of a home, in keep order.
pub struct HomeWriter {
    home: usize,
    row: usize,
    groups: WordGroups,
}

impl HomeWriter {
    /// The writer of a home.
    pub fn new(home: usize) -> HomeWriter {
        HomeWriter {
            home,
            row: 0,
            groups: WordGroups::default(),
        }
    }

    /// Adds a document.
    ///
    /// # Errors
    /// Errors of writing.
    pub fn push(
        &mut self,
        context: &Context<'_>,
        out: &mut Outbox,
        document: &HomeDocument<'_>,
    ) -> Result<()> {
        out.record(ROWS, 0, &document.row)?;
        out.message(SKETCHES, 0, &[document.sketch])?;
        out.message(NAMES, 0, &[document.name])?;
        out.push(PAGES, 0, document.page)?;
        let rank = rank_of(self.home, self.row);
        self.row += 1;
        // If URLs are compared, this decides which documents have words to compare.
        match context.has_urls() {
            true => Ok(()),
            false => self.groups.push(context, out, rank, &document.row),
        }
    }
}

/// The documents of a home with the same words. The streams are [`LOCAL`] and [`WORDS`].
#[derive(Default)]
pub struct WordGroups {
    leaders: HashMap<[u64; 2], i64, RandomState>,
}

impl WordGroups {
    /// Takes the next document.
    ///
    /// # Errors
    /// Errors of writing.
    pub fn push(
        &mut self,
        context: &Context<'_>,
        out: &mut Outbox,
        rank: i64,
        row: &HomeRow,
    ) -> Result<()> {
        if !takes_part(row) {
            return Ok(());
        }
        match self.leaders.entry(row.digest) {
            std::collections::hash_map::Entry::Occupied(leader) => {
                let leader = *leader.get();
                out.record(LOCAL, 0, &LocalFollower { rank, leader })
            }
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(rank);
                let words = Words {
                    digest: row.digest,
                    rank,
                    text: row.text_digest,
                };
                out.record(WORDS, context.part(row.digest[0]), &words)
            }
        }
    }
}

/// Whether a document may be equal to another one.
pub fn takes_part(row: &HomeRow) -> bool {
    let flags = Flags(row.flags);
    !flags.has(Flags::SKIPPED) && !flags.has(Flags::EMPTY)
}

/// Whether a document is long enough to be compared by a sketch.
pub fn has_sketch(flags: Flags) -> bool {
    let without = [Flags::SKIPPED, Flags::EMPTY, Flags::SHORT];
    !without.iter().any(|flag| flags.has(*flag))
}

/// Counts a document that was read.
pub fn count(facts: &mut Facts, flags: Flags, text_bytes: u64) {
    let is_reference = flags.has(Flags::REFERENCE);
    let is_skipped = flags.has(Flags::SKIPPED);
    let name = match (is_reference, is_skipped) {
        (true, false) => "against",
        (true, true) => "skipped_against",
        (false, _) => "seen",
    };
    facts.add(name, 1);
    if is_reference {
        return;
    }
    if is_skipped {
        facts.add("skipped", 1);
        return;
    }
    facts.add("empty", u64::from(flags.has(Flags::EMPTY)));
    facts.add("short", u64::from(flags.has(Flags::SHORT)));
    facts.add("text_bytes", text_bytes);
}
