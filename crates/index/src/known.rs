//! What the documents of a snapshot say about others: the answer to a query, and the ground for a
//! decision.

use rayon::iter::ParallelIterator;
use rayon::slice::ParallelSlice;

use crate::Result;
use crate::answer::Entry;
use crate::form::Form;
use crate::found::Oldest;
use crate::record::{Name, NearCopy};
use crate::segment::{SegmentScratch, key_hashes};
use crate::sketch::{Compare, Score, Verification, Verifier};
use crate::snapshot::{Location, Part, Snapshot};

/// The fewest documents that a thread searches for at a time, if there are more.
const LEAST_PIECE: usize = 512;
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

/// Whether and how a document with an accepted score is near.
pub fn verified(verification: Verification) -> Option<Option<[u32; 2]>> {
    match verification {
        Verification::Unknown => Some(None),
        Verification::Similar { shared, of } => Some(Some([shared, of])),
        Verification::Different => None,
    }
}

impl Search<'_> {
    /// What `snapshot` says about each of `asked`. Uses the current rayon pool if there are many.
    pub fn of_all(&self, snapshot: &Snapshot, asked: &[Entry<'_>]) -> Result<Vec<Known>> {
        if asked.len() <= LEAST_PIECE {
            return self.of_piece(snapshot, asked);
        }
        let piece = asked.len().div_ceil(rayon::current_num_threads());
        let pieces = asked.par_chunks(piece.max(LEAST_PIECE));
        let pieces: Result<Vec<Vec<Known>>> =
            pieces.map(|piece| self.of_piece(snapshot, piece)).collect();
        Ok(pieces?.concat())
    }

    fn of_piece(&self, snapshot: &Snapshot, asked: &[Entry<'_>]) -> Result<Vec<Known>> {
        let mut known = vec![Known::default(); asked.len()];
        self.find_names(snapshot, asked, &mut known)?;
        let is_searched = |(entry, known): &(&Entry<'_>, &mut Known)| {
            !entry.sketch.is_empty() && (known.first.is_none() || self.limit > 1)
        };
        let searched = asked.iter().zip(&mut known).filter(is_searched);
        let (sketches, known_of): (Vec<&[u8]>, Vec<&mut Known>) =
            searched.map(|(entry, known)| (entry.sketch, known)).unzip();
        let near = self.near(snapshot, &sketches)?;
        for (known, near) in known_of.into_iter().zip(near) {
            known.near = near.found().to_vec();
        }
        for part in &snapshot.parts {
            part.segment.unchanged()?;
        }
        Ok(known)
    }

    /// Finds the documents with the same id and words.
    fn find_names(
        &self,
        snapshot: &Snapshot,
        asked: &[Entry<'_>],
        known: &mut [Known],
    ) -> Result<()> {
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
        Ok(())
    }

    /// The kept documents near each of `sketches`, none of which is empty.
    fn near(&self, snapshot: &Snapshot, sketches: &[&[u8]]) -> Result<Vec<Oldest>> {
        let mut found = vec![Oldest::new(self.limit); sketches.len()];
        let mut verifiers: Vec<Option<Option<Verifier>>> = Vec::new();
        verifiers.resize_with(sketches.len(), || None);
        // Adds a document of a part if it is near; says whether younger ones are wanted, too.
        let mut judge =
            |found: &mut [Oldest], query: usize, location: Location, score: Option<Score>| {
                let ordinal = snapshot.first_of(location.part) + u64::from(location.number);
                if !found[query].wants(ordinal) {
                    return Ok(false);
                }
                let Some(record) = snapshot.live(location)? else {
                    return Ok(true);
                };
                let (sketch, other) = (sketches[query], record.entry.sketch);
                let score = score.unwrap_or_else(|| self.method.score(sketch, other));
                if !record.is_compared() || !self.method.accepts(&score) {
                    return Ok(true);
                }
                let verifier = verifiers[query].get_or_insert_with(|| self.method.verifier(sketch));
                let verification = match verifier {
                    Some(verifier) => verifier(other),
                    None => Verification::Unknown,
                };
                if let Some(similarity) = verified(verification) {
                    found[query].push(NearCopy {
                        kept: ordinal,
                        score,
                        similarity,
                    });
                }
                Ok(true)
            };
        let recent = snapshot.parts.len() as u32;
        if let Some(queries) = self.form.fingerprints(sketches) {
            let mut scratch = SegmentScratch::default();
            for part in 0..=recent {
                let mut offer = |query: usize, number: u32, score: Score| {
                    judge(&mut found, query, Location { part, number }, Some(score))
                };
                match snapshot.parts.get(part as usize) {
                    Some(Part { segment, .. }) => {
                        segment.search(&queries, &mut scratch, &mut offer)?;
                    }
                    None => snapshot.recent.search(&queries, &mut offer)?,
                }
            }
            return Ok(found);
        }
        let mut keys = Vec::new();
        let mut hashes = Vec::new();
        for (query, sketch) in (0..).zip(sketches) {
            hashes.clear();
            key_hashes(self.method, sketch, snapshot.seed, &mut hashes);
            keys.extend(hashes.iter().map(|hash| (*hash, query)));
        }
        keys.sort_unstable();
        let mut lists: Vec<(u32, &[u32])> = Vec::new();
        for part in 0..recent {
            lists.clear();
            let segment = &snapshot.parts[part as usize].segment;
            segment.with_keys(&keys, |query, numbers| {
                if !found[query as usize].is_full() {
                    lists.push((query, numbers));
                }
                Ok(())
            })?;
            lists.sort_unstable_by_key(|(query, _)| *query);
            for lists in lists.chunk_by_mut(|a, b| a.0 == b.0) {
                let query = lists[0].0 as usize;
                while let Some(number) = next_of(lists) {
                    if !judge(&mut found, query, Location { part, number }, None)? {
                        break;
                    }
                }
            }
        }
        if snapshot.recent.len() == 0 {
            return Ok(found);
        }
        let mut numbers = Vec::new();
        for (query, sketch) in sketches.iter().enumerate() {
            if found[query].is_full() {
                continue;
            }
            hashes.clear();
            numbers.clear();
            key_hashes(self.method, sketch, snapshot.seed, &mut hashes);
            let keys = hashes.iter();
            keys.for_each(|key| snapshot.recent.with_key(*key, &mut numbers));
            numbers.sort_unstable();
            numbers.dedup();
            for &number in &numbers {
                let location = Location {
                    part: recent,
                    number,
                };
                if !judge(&mut found, query, location, None)? {
                    break;
                }
            }
        }
        Ok(found)
    }
}

/// Takes the least number from ascending lists.
fn next_of(lists: &mut [(u32, &[u32])]) -> Option<u32> {
    let firsts = lists.iter().filter_map(|(_, numbers)| numbers.first());
    let least = *firsts.min()?;
    for (_, numbers) in lists {
        if numbers.first() == Some(&least) {
            *numbers = &numbers[1..];
        }
    }
    Some(least)
}
