//! Documents with the same URL are captures of one page. Only the newest one is kept.
//!
//! Each home finds the newest of its own captures of a URL, and only this one is compared with those of
//! other homes. The rules are those of the command: documents of the other collection come first, and of
//! equally new documents, the last one in the input.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use ahash::RandomState;
use bytemuck::{Pod, Zeroable};
use simtool_batch::dedup::{Flags, UrlRule};
use simtool_core::Result;

use super::home::{self, NAMES, PAGES, ROWS, WordGroups, takes_part};
use super::sort::input_order;
use crate::context::Context;
use crate::name::Name;
use crate::records::{Ask, HomeRow, LocalFollower, home_of, rank_of};
use crate::work::{Facts, Outbox, Stream};

/// The newest captures of a home, by their URLs: messages of [`Capture`] and its place in the order of the
/// input.
const NEWEST: Stream = Stream(0);
/// The other captures of a home, each with the newest one: [`LocalFollower`].
const OLDER: Stream = Stream(1);
/// The newest captures of homes for which another home has a newer one, and that one: [`LocalFollower`],
/// by homes.
const NEWER: Stream = Stream(0);
/// The captures of a home that are dropped, each with the newest one: [`LocalFollower`].
const CAPTURES: Stream = Stream(home::STREAMS);
/// [`Ask`] for what becomes of the newest captures, by their homes.
pub const ASKS: Stream = Stream(home::STREAMS + 1);

/// A capture of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct Capture {
    url: [u64; 2],
    /// What the group of the document adds to digests.
    mask: u64,
    /// Zero for documents of the other collection.
    class: u64,
    /// Smaller for a later date.
    newest: [u64; 2],
    rank: i64,
}

/// A capture, and its place in the order of the input.
type Placed = (Capture, Vec<u8>);

impl Capture {
    fn page(&self) -> ([u64; 2], u64) {
        (self.url, self.mask)
    }
}

/// Sorts captures by pages, the newest one of each page first.
fn sort(captures: &mut [Placed]) {
    captures.sort_unstable_by(|(a, place_of_a), (b, place_of_b)| {
        let order = |capture: &Capture| (capture.page(), capture.class, capture.newest);
        let latest = Reverse(place_of_a).cmp(&Reverse(place_of_b));
        order(a).cmp(&order(b)).then(latest)
    });
}

/// Compares the captures of a home with each other.
///
/// # Errors
/// Errors of reading and writing.
pub fn pages(context: &Context<'_>, task: usize) -> Result<Facts> {
    let mut out = Outbox::create(context.work, "pages", task, &[context.tasks(), 1])?;
    let home = context.inbox(context.homes()).file(task)?;
    let mut captures: Vec<Placed> = Vec::new();
    let mut rows: Vec<(HomeRow, [u64; 4])> = Vec::new();
    home.records(ROWS, 0, |row| {
        rows.push((row, [0; 4]));
        Ok(())
    })?;
    let mut at = 0;
    home.records(PAGES, 0, |page| {
        rows[at].1 = page;
        at += 1;
        Ok(())
    })?;
    at = 0;
    home.messages(NAMES, 0, |name| {
        let (row, [a, b, c, d]) = &rows[at];
        let flags = Flags(row.flags);
        if takes_part(row) && !flags.has(Flags::NO_PAGE) {
            let capture = Capture {
                url: [*a, *b],
                mask: row.mask,
                class: u64::from(!flags.has(Flags::REFERENCE)),
                newest: [*c, *d],
                rank: rank_of(task, at),
            };
            captures.push((capture, input_order(&row.place(), Name::read(name).key)));
        }
        at += 1;
        Ok(())
    })?;
    sort(&mut captures);
    for of_page in captures.chunk_by(|(a, _), (b, _)| a.page() == b.page()) {
        let [(newest, place), older @ ..] = of_page else {
            continue;
        };
        let pieces = [bytemuck::bytes_of(newest), place];
        out.message(NEWEST, context.part(newest.url[0]), &pieces)?;
        for (capture, _) in older {
            out.record(OLDER, 0, &follower(capture, newest))?;
        }
    }
    out.finish()
}

fn follower(capture: &Capture, newest: &Capture) -> LocalFollower {
    LocalFollower {
        rank: capture.rank,
        leader: newest.rank,
    }
}

/// Compares the newest captures of homes, for the URLs of a part.
///
/// # Errors
/// Errors of reading and writing.
pub fn newest(context: &Context<'_>, task: usize) -> Result<Facts> {
    let mut out = Outbox::create(context.work, "newest", task, &[context.tasks()])?;
    let mut captures: Vec<Placed> = Vec::new();
    context
        .inbox("pages")
        .headed(NEWEST, task, |capture: Capture, place| {
            captures.push((capture, place.to_vec()));
            Ok(())
        })?;
    sort(&mut captures);
    for of_page in captures.chunk_by(|(a, _), (b, _)| a.page() == b.page()) {
        for (capture, _) in &of_page[1..] {
            let found = follower(capture, &of_page[0].0);
            out.record(NEWER, home_of(capture.rank), &found)?;
        }
    }
    out.finish()
}

/// Finds the captures of a home that are dropped, and the words of its other documents.
///
/// # Errors
/// Errors of reading and writing.
pub fn words(context: &Context<'_>, task: usize) -> Result<Facts> {
    let mut parts = home::parts(context.tasks()).to_vec();
    parts.extend([1, context.tasks()]);
    let mut out = Outbox::create(context.work, "words", task, &parts)?;
    let newer: Vec<LocalFollower> = context.inbox("newest").all(NEWER, task)?;
    let newest_of: HashMap<i64, i64, RandomState> =
        newer.iter().map(|of| (of.rank, of.leader)).collect();
    let mut older = newer;
    let pages = context.inbox("pages").file(task)?;
    pages.records(OLDER, 0, |found: LocalFollower| {
        let leader = newest_of.get(&found.leader).copied();
        older.push(LocalFollower {
            leader: leader.unwrap_or(found.leader),
            ..found
        });
        Ok(())
    })?;
    let references = context.references();
    older.retain(|found| {
        found.rank >= references && (!context.job.against_only || found.leader < references)
    });
    let mut asked: Vec<i64> = Vec::new();
    let mut dropped: HashSet<i64, RandomState> = HashSet::default();
    for found in &older {
        out.record(CAPTURES, 0, found)?;
        dropped.insert(found.rank);
        asked.push(found.leader);
    }
    asked.sort_unstable();
    asked.dedup();
    for rank in asked {
        let home = task as u64;
        out.record(ASKS, home_of(rank), &Ask { rank, home })?;
    }
    if context.job.url == UrlRule::Only {
        return out.finish();
    }
    let (mut groups, mut row) = (WordGroups::default(), 0);
    let home = context.inbox(context.homes()).file(task)?;
    home.records(ROWS, 0, |found: HomeRow| {
        let rank = rank_of(task, row);
        row += 1;
        match dropped.contains(&rank) {
            true => Ok(()),
            false => groups.push(context, &mut out, rank, &found),
        }
    })?;
    out.finish()
}

/// The captures of a home that are dropped, each with the newest one.
///
/// # Errors
/// Errors of reading.
pub fn dropped_captures(context: &Context<'_>, home: usize) -> Result<Vec<LocalFollower>> {
    let mut found = Vec::new();
    if context.has_urls() {
        let words = context.inbox("words").file(home)?;
        words.records(CAPTURES, 0, |follower| {
            found.push(follower);
            Ok(())
        })?;
    }
    Ok(found)
}
