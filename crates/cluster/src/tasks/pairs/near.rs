//! Documents that share a key.

use simtool_core::Result;
use simtool_core::sketch::Method;

use super::spread::KEYS;
use crate::candidates::{Alone, Keyed, LONGEST, PairFilter, WithPrint};
use crate::context::Context;
use crate::records::{Mark, Pair, home_of};
use crate::settings::has_fingerprints;
use crate::work::{Facts, Outbox, Stream};

/// The keys that several documents share, with these, in order: [`Alone`] or [`WithPrint`].
pub const BUCKETS: Stream = Stream(0);
/// [`Mark`], by the homes of the documents.
pub const MARKS: Stream = Stream(1);
/// The pairs of keys that few documents share: [`Pair`], by the homes of the members.
pub const PAIRS: Stream = Stream(2);

/// The maximum number of documents of a key whose pairs are all listed.
const FEW: usize = 4;

/// Finds the documents that share the keys of a part.
///
/// # Errors
/// Errors of reading and writing.
pub fn run(context: &Context<'_>, task: usize) -> Result<Facts> {
    let Some(method) = context.method()? else {
        let tasks = context.tasks();
        return Outbox::create(context.work, "near", task, &[1, tasks, tasks])?.finish();
    };
    match has_fingerprints(&*method) {
        true => groups::<WithPrint>(context, &*method, task),
        false => groups::<Alone>(context, &*method, task),
    }
}

fn groups<R: Keyed>(context: &Context<'_>, method: &dyn Method, task: usize) -> Result<Facts> {
    let tasks = context.tasks();
    let mut out = Outbox::create(context.work, "near", task, &[1, tasks, tasks])?;
    let spread = context.inbox("spread");
    if context.has_containment() {
        spread.records(KEYS, task, |record: R| write(&record, true, &mut out))?;
        return out.finish();
    }
    let mut sorter = context.sorter::<R>();
    spread.records(KEYS, task, |record: R| sorter.push(record))?;
    let wanted = PairFilter::new(context);
    let mut group: KeyGroup<R> = KeyGroup::default();
    for record in sorter.finish()? {
        let record = record?;
        if group.key.is_some_and(|key| key != record.place().0) {
            group.finish(&wanted, &mut out)?;
        }
        group.key = Some(record.place().0);
        group.add(method, &record, &mut out)?;
    }
    group.finish(&wanted, &mut out)?;
    out.finish()
}

/// The documents of a key.
struct KeyGroup<R> {
    key: Option<i64>,
    /// Without fingerprints: the documents, until they are more than a few. With fingerprints: all.
    members: Vec<R>,
    /// With fingerprints: whether a near one was found, for each of the members.
    is_near: Vec<bool>,
    /// With fingerprints: those without a near one so far.
    alone: Vec<usize>,
    /// Without fingerprints: whether there were more than a few, which are not held.
    is_large: bool,
}

impl<R> Default for KeyGroup<R> {
    fn default() -> KeyGroup<R> {
        KeyGroup {
            key: None,
            members: Vec::new(),
            is_near: Vec::new(),
            alone: Vec::new(),
            is_large: false,
        }
    }
}

impl<R: Keyed> KeyGroup<R> {
    fn add(&mut self, method: &dyn Method, record: &R, out: &mut Outbox) -> Result<()> {
        let Some(print) = record.print() else {
            if self.is_large {
                return write(record, true, out);
            }
            self.members.push(*record);
            if self.members.len() > FEW {
                self.is_large = true;
                let members = self.members.drain(..);
                return members
                    .as_slice()
                    .iter()
                    .try_for_each(|member| write(member, true, out));
            }
            return Ok(());
        };
        self.compare(method, &print);
        self.members.push(*record);
        Ok(())
    }

    /// Compares a fingerprint with those of the group until one is near.
    fn compare(&mut self, method: &dyn Method, print: &[u8; LONGEST]) {
        let width = method.sketch_bytes().unwrap_or_default().min(LONGEST);
        let scorer = method.scorer(&print[..width]);
        let is_close = |other: &R| {
            let other = other.print().unwrap_or_default();
            scorer(&other[..width]).is_some()
        };
        let mut found = false;
        let (members, is_near) = (&self.members, &mut self.is_near);
        self.alone.retain(|place| {
            is_near[*place] = is_close(&members[*place]);
            found |= is_near[*place];
            !is_near[*place]
        });
        if !found {
            let mut others = members.iter().zip(is_near.iter()).rev();
            found = others.any(|(other, has_near)| *has_near && is_close(other));
        }
        if !found {
            self.alone.push(self.members.len());
        }
        self.is_near.push(found);
    }

    fn finish(&mut self, wanted: &PairFilter, out: &mut Outbox) -> Result<()> {
        let mut is_near = std::mem::take(&mut self.is_near).into_iter();
        self.members.retain(|_| is_near.next().unwrap_or(true));
        let members = std::mem::take(&mut self.members);
        self.alone.clear();
        self.is_large = false;
        if members.len() < 2 {
            return Ok(());
        }
        let is_few = members.len() <= FEW;
        for (number, member) in members.iter().enumerate() {
            write(member, !is_few, out)?;
            let before = members[..number].iter().filter(|_| is_few);
            let (_, member) = member.place();
            for earlier in before.map(|earlier| earlier.place().1) {
                if wanted.has(member, earlier) {
                    let pair = Pair {
                        member,
                        earlier,
                        cut: 0,
                    };
                    out.record(PAIRS, home_of(member), &pair)?;
                }
            }
        }
        Ok(())
    }
}

/// Writes a document of a key that others share.
fn write<R: Keyed>(record: &R, is_crowded: bool, out: &mut Outbox) -> Result<()> {
    out.record(BUCKETS, 0, record)?;
    let (_, rank) = record.place();
    let mark = Mark {
        rank,
        crowded: u64::from(is_crowded),
    };
    out.record(MARKS, home_of(rank), &mark)
}
