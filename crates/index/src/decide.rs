//! The decisions about documents that are added: the one place where a document is kept, or becomes
//! a copy of an earlier one.
//!
//! The rule is that of `dedup` with `--keep first`. A document with the words of an earlier one
//! follows that. Another one is a copy of the oldest kept document whose sketch is near and whose
//! text, if the sketches tell, is similar. All others are kept. So a decision depends on earlier
//! documents only, and batches added one after another give what one addition of all gives.

use ahash::AHashMap;

use crate::Result;
use crate::answer::{Answer, Entry, Evidence, Limit, MatchList, SeenBefore, Verdict};
use crate::entries::{HashOf, NewEntries, sort};
use crate::form::{Form, Queries};
use crate::known::{Comparison, Known, Search};
use crate::recent::RecentFingerprints;
use crate::record::{NearCopy, Record, Standing};
use crate::sketch::{Compare, Score};
use crate::snapshot::{Snapshot, sketch_of};

/// Documents on top of a snapshot, which are decided but not stored yet.
pub struct Addition<'a> {
    snapshot: &'a Snapshot,
    search: Search<'a>,
    dump: u32,
    /// Their ordinals follow those of the snapshot.
    added: Vec<Record<'a>>,
    /// The newest of each id.
    ids: AHashMap<&'a [u8], u64>,
    /// The newest of each id and [text](Entry::text_key).
    texts: AHashMap<(&'a [u8], u64), u64>,
    /// The first documents of the digests of words.
    words: AHashMap<u128, u64>,
    /// The number of copies of a kept document among them, and the last one.
    copies: AHashMap<u64, (u64, u64)>,
    /// The same of the snapshot, of those that were counted.
    counted: AHashMap<u64, (u64, Option<u64>)>,
    kept: KeptSketches,
    /// The keys of all entries, and the places of those that are kept among the added.
    keys: Vec<HashOf>,
    places: AHashMap<u32, u32>,
}

/// A decision: that a document is in the index, with the standing that it has there, or what it is.
enum Decision {
    Unchanged(Standing),
    Added(Standing, Vec<NearCopy>),
}

impl<'a> Addition<'a> {
    /// Without documents.
    pub fn new(snapshot: &'a Snapshot, search: Search<'a>, dump: u32) -> Addition<'a> {
        Addition {
            snapshot,
            search,
            dump,
            added: Vec::new(),
            ids: AHashMap::new(),
            texts: AHashMap::new(),
            words: AHashMap::new(),
            copies: AHashMap::new(),
            counted: AHashMap::new(),
            kept: KeptSketches::Keys(SharedKeys::default()),
            keys: Vec::new(),
            places: AHashMap::new(),
        }
    }

    /// Decides about `entries` in order, each given all before it, and answers each as far as
    /// `limit` allows. Call it once.
    pub fn add(&mut self, entries: &[Entry<'a>], limit: &Limit) -> Result<Vec<Answer>> {
        self.keys = self.search.keys(entries, self.snapshot.seed);
        let known = self.search.of_all(self.snapshot, entries, &self.keys)?;
        self.kept = KeptSketches::new(self.search.form, &self.keys);
        let mut left = limit.all_id_bytes;
        let mut answers = Vec::with_capacity(entries.len());
        for ((number, entry), mut known) in (0..).zip(entries).zip(known) {
            let text = self.texts.get(&(entry.id, entry.text_key()));
            known.same_text = text.copied().or(known.same_text);
            known.same_id = self.ids.get(entry.id).copied().or(known.same_id);
            let same_id = known.same_id;
            let decision = self.decide(number, entry, known)?;
            let answer = self.answer(entry, same_id, &decision, (limit, &mut left))?;
            if let Decision::Added(standing, _) = decision {
                self.push(number, entry, standing)?;
            }
            answers.push(answer);
        }
        Ok(answers)
    }

    /// The documents that were added.
    pub fn added(&self) -> &[Record<'a>] {
        &self.added
    }

    /// Their entries in the lists of a segment.
    pub fn listed(&self) -> NewEntries {
        let place = |number| self.places.get(number).copied();
        let keys = self.keys.iter();
        let keys = keys.filter_map(|(hash, number)| Some((*hash, place(number)?)));
        NewEntries::new(&self.added, keys.collect(), self.snapshot.seed)
    }

    fn decide(&self, number: u32, entry: &Entry<'a>, known: Known) -> Result<Decision> {
        if let Some(same) = known.same_text
            && let Some(record) = self.get(same)?
            && record.entry.has_text_of(entry)
        {
            return Ok(Decision::Unchanged(record.standing));
        }
        let own = entry.words.and_then(|words| self.words.get(&words));
        let first = known.first.or(own.copied());
        let mut near = known.near;
        if near.len() < self.search.limit && (first.is_none() || self.search.limit > 1) {
            self.search_added(number, entry, &mut near)?;
        }
        Ok(Decision::Added(self.standing(entry, first, &near)?, near))
    }

    fn standing(
        &self,
        entry: &Entry<'_>,
        first: Option<u64>,
        near: &[NearCopy],
    ) -> Result<Standing> {
        if entry.is_empty() {
            return Ok(Standing::Empty);
        }
        if let Some(first) = first {
            let of = self.get(first)?.unwrap_or_default();
            return Ok(Standing::Same {
                first,
                kept: of.kept().unwrap_or(first),
                text: of.entry.text == entry.text,
            });
        }
        Ok(near
            .first()
            .map_or(Standing::Kept, |near| Standing::Near(*near)))
    }

    /// Adds the near ones among the documents that were added to `near`.
    fn search_added(&self, number: u32, entry: &Entry<'_>, near: &mut Vec<NearCopy>) -> Result<()> {
        if entry.sketch.is_empty() {
            return Ok(());
        }
        let Search {
            method,
            form,
            limit,
            ..
        } = self.search;
        let first = self.snapshot.next_ordinal();
        let mut comparison = Comparison::new(method, entry.sketch);
        let mut offer = |place: u32, score: Option<Score>| {
            let other = self.added[place as usize].entry.sketch;
            near.extend(comparison.near(first + u64::from(place), other, score));
            Ok(near.len() < limit)
        };
        match (&self.kept, form.fingerprints(&[entry.sketch])) {
            (KeptSketches::Keys(keys), _) => {
                let mut places = keys.candidates(number).into_iter();
                while let Some(place) = places.next()
                    && offer(place, None)?
                {}
                Ok(())
            }
            (KeptSketches::Narrow(of), Some(Queries::Narrow(own))) => {
                of.search(&own, form.bits(), 0, &mut |_, place, score| {
                    offer(place, Some(score))
                })
            }
            (KeptSketches::Wide(of), Some(Queries::Wide(own))) => {
                of.search(&own, form.bits(), 0, &mut |_, place, score| {
                    offer(place, Some(score))
                })
            }
            _ => Ok(()),
        }
    }

    fn push(&mut self, number: u32, entry: &Entry<'a>, standing: Standing) -> Result<()> {
        let place = self.added.len() as u32;
        let ordinal = self.snapshot.next_ordinal() + u64::from(place);
        let text = (entry.id, entry.text_key());
        let mut entry = *entry;
        entry.is_place = false;
        let mut shares_sketch = false;
        if let Standing::Same { first, .. } = standing {
            // The sketch of most methods depends on the words alone.
            let of_first = self.get(first)?.map_or(&[][..], |first| first.entry.sketch);
            shares_sketch = !entry.sketch.is_empty() && of_first == entry.sketch;
        }
        if shares_sketch {
            entry.sketch = &[];
        }
        let best = match self.best_before(&entry, standing)? {
            Some((best, key)) if key <= entry.keep => best,
            _ => ordinal,
        };
        let record = Record {
            entry,
            dump: self.dump,
            standing,
            shares_sketch,
            best,
        };
        self.ids.insert(entry.id, ordinal);
        self.texts.insert(text, ordinal);
        if let Some(words) = entry.words.filter(|_| record.is_first()) {
            self.words.insert(words, ordinal);
        }
        if record.is_compared() {
            self.kept
                .push(number, place, entry.sketch, self.search.form);
            self.places.insert(number, place);
        }
        if let Some(kept) = record.kept() {
            let (count, last) = self.copies.entry(kept).or_default();
            (*count, *last) = (*count + 1, ordinal);
        }
        self.added.push(record);
        Ok(())
    }

    /// The best copy so far of the kept document of which one with this standing is a copy, by ordinal
    /// and key: that document if the best was removed. `None` without keys, and if both were removed.
    fn best_before(
        &mut self,
        entry: &Entry<'_>,
        standing: Standing,
    ) -> Result<Option<(u64, &[u8])>> {
        let copy = Record {
            standing,
            ..Record::default()
        };
        let Some(kept) = copy.kept().filter(|_| !entry.keep.is_empty()) else {
            return Ok(None);
        };
        let (_, last) = self.copies_of(kept)?;
        let last = last.map_or(Ok(None), |last| self.get(last))?;
        let best = last.and_then(|last| last.best()).unwrap_or(kept);
        for ordinal in [best, kept] {
            if let Some(record) = self.get(ordinal)? {
                return Ok(Some((ordinal, record.entry.keep)));
            }
        }
        Ok(None)
    }

    /// The number of copies of a kept document so far, and the ordinal of the last.
    fn copies_of(&mut self, kept: u64) -> Result<(u64, Option<u64>)> {
        let (count, last) = match self.counted.get(&kept) {
            Some(counted) => *counted,
            None if kept < self.snapshot.next_ordinal() => {
                let counted = self.snapshot.copies(kept)?;
                self.counted.insert(kept, counted);
                counted
            }
            None => (0, None),
        };
        Ok(match self.copies.get(&kept) {
            Some((more, newest)) => (count + more, Some(*newest)),
            None => (count, last),
        })
    }

    /// The document with this ordinal; `None` if it was removed.
    fn get(&self, ordinal: u64) -> Result<Option<Record<'_>>> {
        match ordinal.checked_sub(self.snapshot.next_ordinal()) {
            Some(place) => Ok(self.added.get(place as usize).copied()),
            None => self.snapshot.get(ordinal),
        }
    }

    /// The answer to a query: the decision that its addition would get.
    pub fn answer_query(
        &mut self,
        entry: &Entry<'_>,
        known: Known,
        bounds: (&Limit, &mut usize),
    ) -> Result<Answer> {
        let same_text = known.same_text.map_or(Ok(None), |same| self.get(same))?;
        let decision = match same_text.map(|record| record.standing) {
            Some(standing) => Decision::Unchanged(standing),
            None => {
                let standing = self.standing(entry, known.first, &known.near)?;
                Decision::Added(standing, known.near)
            }
        };
        let answered = self.answer(entry, known.same_id, &decision, bounds)?;
        Ok(Answer {
            added: false,
            ..answered
        })
    }

    fn answer(
        &mut self,
        entry: &Entry<'_>,
        same_id: Option<u64>,
        decision: &Decision,
        (limit, left): (&Limit, &mut usize),
    ) -> Result<Answer> {
        let best = match decision {
            Decision::Added(standing, _) => self.best_before(entry, *standing)?,
            Decision::Unchanged(_) => None,
        };
        let replaced = best.filter(|(_, key)| entry.keep < *key);
        let replaced = replaced.map(|(ordinal, _)| ordinal);
        let get = |ordinal| self.get(ordinal);
        let replaced = replaced.map_or(Ok(None), get)?;
        let same_id = same_id.filter(|_| !entry.is_place);
        let same_id = same_id.map_or(Ok(None), get)?;
        let mut listed = MatchList::default();
        if let Some(replaced) = replaced {
            listed.replace(limit, left, replaced.entry.id);
        }
        let bounds = (limit, left, listed);
        let answered = answer(self.search.method, &get, entry, same_id, decision, bounds)?;
        let kept = answered.matches.first().map(|found| found.ordinal);
        Ok(Answer {
            before: kept.map_or(Ok(None), |kept| self.seen_before(kept))?,
            ..answered
        })
    }

    /// How often the kept document with this ordinal and its copies were seen.
    fn seen_before(&mut self, kept: u64) -> Result<Option<SeenBefore>> {
        let (count, last) = self.copies_of(kept)?;
        let Some(first) = self.get(kept)? else {
            return Ok(None);
        };
        let last = last.map_or(Ok(None), |last| self.get(last))?;
        Ok(Some(SeenBefore {
            times: 1 + count,
            first_dump: first.dump,
            last_dump: last.map_or(first.dump, |last| last.dump),
        }))
    }
}

/// Words the decision about a document, given the one with the same id.
fn answer<'s>(
    method: &dyn Compare,
    get: &dyn Fn(u64) -> Result<Option<Record<'s>>>,
    entry: &Entry<'_>,
    same_id: Option<Record<'s>>,
    decision: &Decision,
    (limit, left, mut listed): (&Limit, &mut usize, MatchList),
) -> Result<Answer> {
    let none = Vec::new();
    let (standing, near) = match decision {
        Decision::Added(standing, near) => (*standing, near),
        Decision::Unchanged(standing) => (*standing, &none),
    };
    let deciding = evidence(get, standing)?;
    let others = near.iter().map(|near| (near.kept, near_evidence(near)));
    let others = others.filter(|(kept, _)| deciding.is_none_or(|(deciding, _)| deciding != *kept));
    for (ordinal, evidence) in deciding.into_iter().chain(others) {
        if let Some(record) = get(ordinal)? {
            listed.push(limit, left, (record.entry.id, ordinal, evidence));
        }
    }
    let verdict = match (decision, same_id) {
        (Decision::Unchanged(_), _) => Verdict::Unchanged,
        (_, Some(known)) if !known.entry.has_text_of(entry) => {
            let sketch = sketch_of(&known, get)?;
            let comparable = !sketch.is_empty() && !entry.sketch.is_empty();
            Verdict::Changed(comparable.then(|| method.score(sketch, entry.sketch)))
        }
        _ if standing == Standing::Empty => Verdict::Empty,
        _ if standing == Standing::Kept => Verdict::New,
        _ => Verdict::Duplicate,
    };
    Ok(Answer {
        verdict,
        kept: matches!(standing, Standing::Kept | Standing::Empty),
        matches: listed.matches,
        before: None,
        replaces: listed.replaces,
        added: matches!(decision, Decision::Added(..)),
        truncated: listed.truncated,
    })
}

/// The document of which one with this standing is a copy, and why; `None` if it is none, or if that
/// document was removed since.
pub fn evidence<'s>(
    get: &dyn Fn(u64) -> Result<Option<Record<'s>>>,
    standing: Standing,
) -> Result<Option<(u64, Evidence)>> {
    let (first, text) = match standing {
        Standing::Near(near) => return Ok(Some((near.kept, near_evidence(&near)))),
        Standing::Same { first, text, .. } => (first, text),
        _ => return Ok(None),
    };
    Ok(match get(first)?.map(|first| first.standing) {
        None => None,
        Some(Standing::Near(near)) => Some((near.kept, near_evidence(&near))),
        Some(_) if text => Some((first, Evidence::Text)),
        Some(_) => Some((first, Evidence::Words)),
    })
}

fn near_evidence(near: &NearCopy) -> Evidence {
    let NearCopy {
        score, similarity, ..
    } = *near;
    Evidence::Near { score, similarity }
}

/// The sketches of the documents that were added and kept, by their place among the added.
enum KeptSketches {
    Keys(SharedKeys),
    Narrow(RecentFingerprints<u64>),
    Wide(RecentFingerprints<u128>),
}

impl KeptSketches {
    /// Of none of the entries with these keys.
    fn new(form: Form, keys: &[HashOf]) -> KeptSketches {
        match form {
            Form::Narrow { .. } => KeptSketches::Narrow(RecentFingerprints::default()),
            Form::Wide { .. } => KeptSketches::Wide(RecentFingerprints::default()),
            Form::Keys => KeptSketches::Keys(SharedKeys::among(keys)),
        }
    }

    /// Adds the sketch of entry `number`, which is document `place` of the added.
    fn push(&mut self, number: u32, place: u32, sketch: &[u8], form: Form) {
        let (width, _) = form.bits();
        match self {
            KeptSketches::Keys(keys) => keys.push(number, place),
            KeptSketches::Narrow(of) => of.push(sketch, width, place),
            KeptSketches::Wide(of) => of.push(sketch, width, place),
        }
    }
}

/// The keys that several of some documents have.
#[derive(Default)]
struct SharedKeys {
    /// Document and number of a shared key, ascending.
    shared: Vec<(u32, u32)>,
    /// The kept documents with each shared key, by their places.
    kept: Vec<Vec<u32>>,
}

impl SharedKeys {
    fn among(keys: &[HashOf]) -> SharedKeys {
        let mut shared = Vec::new();
        let mut count = 0;
        for with_key in keys.chunk_by(|a, b| a.0 == b.0) {
            if with_key.len() > 1 {
                shared.extend(with_key.iter().map(|(_, number)| (*number, count)));
                count += 1;
            }
        }
        sort(&mut shared, |entry| *entry);
        SharedKeys {
            shared,
            kept: vec![Vec::new(); count as usize],
        }
    }

    fn keys_of(&self, number: u32) -> impl Iterator<Item = usize> {
        let first = self.shared.partition_point(|(of, _)| *of < number);
        let of_number = self.shared[first..].iter();
        of_number
            .take_while(move |(of, _)| *of == number)
            .map(|(_, key)| *key as usize)
    }

    /// The places of kept documents that share a key with document `number`, ascending.
    fn candidates(&self, number: u32) -> Vec<u32> {
        let mut places = Vec::new();
        for key in self.keys_of(number) {
            places.extend(&self.kept[key]);
        }
        places.sort_unstable();
        places.dedup();
        places
    }

    fn push(&mut self, number: u32, place: u32) {
        let keys: Vec<usize> = self.keys_of(number).collect();
        for key in keys {
            self.kept[key].push(place);
        }
    }
}
