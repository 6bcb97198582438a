//! What the documents of a snapshot say about others: the answer to a query, and the ground for a
//! decision.

use std::borrow::Cow;

use crate::Result;
use crate::answer::Entry;
use crate::entries::{HashOf, in_pieces, keys_of, sort};
use crate::form::Form;
use crate::found::Oldest;
use crate::record::{Name, NearCopy};
use crate::segment::{SegmentScratch, key_hashes};
use crate::sketch::{Compare, Score, Verification, Verifier};
use crate::snapshot::{Location, Part, Snapshot};

/// The kinds of names that are looked up for each document.
const KINDS: usize = 3;

/// What the documents of a snapshot say about another one.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// The newest document with its id.
    pub same_id: Option<u64>,
    /// The newest with its id and its text, of the wanted dump.
    pub same_text: Option<u64>,
    /// The first document with its words.
    pub first: Option<u64>,
    /// Kept documents near it, the oldest first.
    pub near: Vec<NearCopy>,
}

/// How documents are searched for.
#[derive(Clone, Copy)]
pub struct Search<'a> {
    /// The method of the sketches.
    pub method: &'a dyn Compare,
    /// Their form.
    pub form: Form,
    /// The number of the dump in which a document has to be unchanged; any if there is none.
    pub dump: Option<u32>,
    /// The most near documents. Documents whose words are known are given none if it is one.
    pub limit: usize,
}

/// Compares sketches with one that is not empty.
pub struct Comparison<'a> {
    method: &'a dyn Compare,
    sketch: &'a [u8],
    /// Made for the first sketch with an accepted score.
    verifier: Option<Option<Verifier>>,
}

impl<'a> Comparison<'a> {
    /// Of `sketch` with others.
    pub fn new(method: &'a dyn Compare, sketch: &'a [u8]) -> Comparison<'a> {
        Comparison {
            method,
            sketch,
            verifier: None,
        }
    }

    /// The near copy that the sketch is of document `kept`, which has the sketch `other`; `None` if
    /// it is not near. `score` is that of the two, if it is known already.
    pub fn near(&mut self, kept: u64, other: &[u8], score: Option<Score>) -> Option<NearCopy> {
        let score = score.unwrap_or_else(|| self.method.score(self.sketch, other));
        if !self.method.accepts(&score) {
            return None;
        }
        let verifier = self
            .verifier
            .get_or_insert_with(|| self.method.verifier(self.sketch));
        let similarity = match verifier.as_mut().map(|verifier| verifier(other)) {
            None | Some(Verification::Unknown) => None,
            Some(Verification::Similar { shared, of }) => Some([shared, of]),
            Some(Verification::Different) => return None,
        };
        Some(NearCopy {
            kept,
            score,
            similarity,
        })
    }
}

/// Documents of a part that share a key with a query, ascending.
struct Hit<'s> {
    query: u32,
    part: u32,
    numbers: &'s [u32],
}

impl Search<'_> {
    /// The keys of `asked`; none if sketches are not found by keys.
    pub fn keys(&self, asked: &[Entry<'_>], seed: u64) -> Vec<HashOf> {
        match self.form {
            Form::Keys => keys_of(asked, |entry| entry.sketch, self.method, seed),
            _ => Vec::new(),
        }
    }

    /// What `snapshot` says about each of `asked`, whose [keys](Self::keys) these are. Uses the current
    /// rayon pool if there are many.
    pub fn of_all(
        &self,
        snapshot: &Snapshot,
        asked: &[Entry<'_>],
        keys: &[HashOf],
    ) -> Result<Vec<Known>> {
        let known = in_pieces(asked, |_, piece| self.with_names(snapshot, piece))?;
        let mut known = known.concat();
        let is_searched = |(entry, known): (&Entry<'_>, &Known)| {
            !entry.sketch.is_empty() && (known.first.is_none() || self.limit > 1)
        };
        let searched: Vec<bool> = asked.iter().zip(&known).map(is_searched).collect();
        let wanted = asked.iter().zip(&searched).filter(|(_, is)| **is);
        let sketches: Vec<&[u8]> = wanted.map(|(entry, _)| entry.sketch).collect();
        let near = match self.form {
            Form::Keys => self.with_keys(snapshot, &sketches, &wanted_of(keys, &searched))?,
            _ => in_pieces(&sketches, |_, piece| {
                self.with_fingerprints(snapshot, piece)
            })?
            .concat(),
        };
        let known_of = known.iter_mut().zip(searched).filter(|(_, is)| *is);
        for ((known, _), near) in known_of.zip(near) {
            known.near = near.found().to_vec();
        }
        for part in &snapshot.parts {
            part.segment.unchanged()?;
        }
        Ok(known)
    }

    /// Finds the documents with the same id and words.
    fn with_names(&self, snapshot: &Snapshot, asked: &[Entry<'_>]) -> Result<Vec<Known>> {
        let mut known = vec![Known::default(); asked.len()];
        let mut names = Vec::new();
        let mut add = |name: Name<'_>, number| names.push((name.hash(snapshot.seed), number));
        for (number, entry) in (0..).step_by(KINDS).zip(asked) {
            if !entry.id.is_empty() {
                add(Name::Id(entry.id), number);
                add(Name::IdAndText(entry.id, entry.text_key()), number + 1);
            }
            if let Some(words) = entry.words {
                add(Name::Words(words), number + 2);
            }
        }
        names.sort_unstable();
        // Whether others with the name are wanted, too; the newest come first.
        let mut take = |query: u32, location: Location| -> Result<bool> {
            let number = query as usize / KINDS;
            let (entry, known) = (&asked[number], &mut known[number]);
            let found = [known.same_id, known.same_text, known.first];
            let kind = query as usize % KINDS;
            if found[kind].is_some() && kind < 2 {
                return Ok(false);
            }
            let Some(record) = snapshot.live(location)? else {
                return Ok(true);
            };
            let ordinal = snapshot.first_of(location.part) + u64::from(location.number);
            let has_id = record.entry.id == entry.id;
            let has_words = record.entry.words == entry.words && record.is_first();
            match kind {
                0 if has_id => known.same_id = Some(ordinal),
                1 if has_id
                    && record.entry.has_text_of(entry)
                    && self.dump.is_none_or(|dump| dump == record.dump) =>
                {
                    known.same_text = Some(ordinal);
                }
                2 if has_words && snapshot.is_followed(&record)? => known.first = Some(ordinal),
                _ => {}
            }
            Ok(true)
        };
        let part = snapshot.parts.len() as u32;
        for &(name, query) in &names {
            for number in snapshot.recent.with_name(name).rev() {
                if !take(query, Location { part, number })? {
                    break;
                }
            }
        }
        for (part, Part { segment, .. }) in snapshot.parts.iter().enumerate().rev() {
            let part = part as u32;
            segment.with_names(&names, |query, numbers| {
                for &number in numbers.iter().rev() {
                    if !take(query, Location { part, number })? {
                        break;
                    }
                }
                Ok(())
            })?;
        }
        Ok(known)
    }

    /// The kept documents near each of `sketches`, none of which is empty, by their keys, which ascend:
    /// lists are read in order, each part of them by one thread.
    fn with_keys(
        &self,
        snapshot: &Snapshot,
        sketches: &[&[u8]],
        keys: &[HashOf],
    ) -> Result<Vec<Oldest>> {
        let hits = in_pieces(keys, |_, keys| {
            let mut hits = Vec::new();
            for (part, Part { segment, .. }) in (0..).zip(&snapshot.parts) {
                segment.with_keys(keys, |query, numbers| {
                    hits.push(Hit {
                        query,
                        part,
                        numbers,
                    });
                    Ok(())
                })?;
            }
            Ok(hits)
        })?;
        let mut hits: Vec<Hit<'_>> = hits.into_iter().flatten().collect();
        sort(&mut hits, |hit| (hit.query, hit.part));
        let near = in_pieces(sketches, |first, piece| {
            let queries = (first as u32..).zip(piece);
            let near = queries.map(|(query, sketch)| {
                let first = hits.partition_point(|hit| hit.query < query);
                let own = hits[first..].chunk_by(|a, b| a.query == b.query).next();
                let own = own.filter(|own| own[0].query == query);
                let mut judge = Judge::new(self, snapshot, sketch);
                judge.judge_hits(own.unwrap_or_default())?;
                judge.judge_recent()?;
                Ok(judge.found)
            });
            near.collect::<Result<Vec<Oldest>>>()
        })?;
        Ok(near.concat())
    }

    /// The same by fingerprints.
    fn with_fingerprints(&self, snapshot: &Snapshot, sketches: &[&[u8]]) -> Result<Vec<Oldest>> {
        let Some(queries) = self.form.fingerprints(sketches) else {
            return Ok(vec![Oldest::new(self.limit); sketches.len()]);
        };
        let mut judges: Vec<Judge<'_>> = sketches
            .iter()
            .map(|sketch| Judge::new(self, snapshot, sketch))
            .collect();
        let mut scratch = SegmentScratch::default();
        for part in 0..=snapshot.parts.len() as u32 {
            let mut offer = |query: usize, number: u32, score: Score| {
                judges[query].judge(Location { part, number }, Some(score))
            };
            match snapshot.parts.get(part as usize) {
                Some(Part { segment, .. }) => segment.search(&queries, &mut scratch, &mut offer)?,
                None => snapshot.recent.search(&queries, &mut offer)?,
            }
        }
        Ok(judges.into_iter().map(|judge| judge.found).collect())
    }
}

/// Compares documents of a snapshot with one sketch.
struct Judge<'a> {
    snapshot: &'a Snapshot,
    comparison: Comparison<'a>,
    found: Oldest,
}

impl<'a> Judge<'a> {
    fn new(search: &Search<'a>, snapshot: &'a Snapshot, sketch: &'a [u8]) -> Judge<'a> {
        Judge {
            snapshot,
            comparison: Comparison::new(search.method, sketch),
            found: Oldest::new(search.limit),
        }
    }

    /// Adds a document if it is near; says whether younger ones of the part are wanted, too.
    fn judge(&mut self, location: Location, score: Option<Score>) -> Result<bool> {
        let kept = self.snapshot.first_of(location.part) + u64::from(location.number);
        if !self.found.wants(kept) {
            return Ok(false);
        }
        let Some(record) = self.snapshot.live(location)? else {
            return Ok(true);
        };
        if record.is_compared()
            && let Some(near) = self.comparison.near(kept, record.entry.sketch, score)
        {
            self.found.push(near);
        }
        Ok(true)
    }

    /// Judges the documents of segments, the oldest first.
    fn judge_hits(&mut self, hits: &[Hit<'_>]) -> Result<()> {
        for hits in hits.chunk_by(|a, b| a.part == b.part) {
            if self.found.is_full() {
                break;
            }
            let part = hits[0].part;
            let mut lists: Vec<&[u32]> = hits.iter().map(|hit| hit.numbers).collect();
            while let Some(number) = next_of(&mut lists) {
                if !self.judge(Location { part, number }, None)? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Judges the recent documents with a common key, the oldest first.
    fn judge_recent(&mut self) -> Result<()> {
        let recent = &self.snapshot.recent;
        if recent.len() == 0 || self.found.is_full() {
            return Ok(());
        }
        let (mut hashes, mut numbers) = (Vec::new(), Vec::new());
        let Comparison { method, sketch, .. } = self.comparison;
        key_hashes(method, sketch, self.snapshot.seed, &mut hashes);
        let keys = hashes.iter();
        keys.for_each(|key| recent.with_key(*key, &mut numbers));
        numbers.sort_unstable();
        numbers.dedup();
        let part = self.snapshot.parts.len() as u32;
        for number in numbers {
            if !self.judge(Location { part, number }, None)? {
                break;
            }
        }
        Ok(())
    }
}

/// The keys of the wanted ones, numbered anew.
fn wanted_of<'k>(keys: &'k [HashOf], is_wanted: &[bool]) -> Cow<'k, [HashOf]> {
    if is_wanted.iter().all(|is_wanted| *is_wanted) {
        return Cow::Borrowed(keys);
    }
    let mut next = 0;
    let numbers: Vec<u32> = is_wanted
        .iter()
        .map(|is_wanted| {
            next += u32::from(*is_wanted);
            next - u32::from(*is_wanted)
        })
        .collect();
    let wanted = keys
        .iter()
        .filter(|(_, number)| is_wanted[*number as usize]);
    let renumbered = wanted.map(|(hash, number)| (*hash, numbers[*number as usize]));
    Cow::Owned(renumbered.collect())
}

/// Takes the least number from ascending lists.
fn next_of(lists: &mut [&[u32]]) -> Option<u32> {
    let least = *lists.iter().filter_map(|numbers| numbers.first()).min()?;
    for numbers in lists {
        if numbers.first() == Some(&least) {
            *numbers = &numbers[1..];
        }
    }
    Some(least)
}
