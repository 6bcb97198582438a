//! The rule of an index, once more: a list of documents, each of which is compared with all before
//! it.

#![allow(dead_code, clippy::unwrap_used)]

use simtool_core::Result;
use simtool_core::kernel::Level;
use simtool_core::sketch::{Compare, Score, Shape, Verification, Verifier, hashed};
use simtool_index::{
    Answer, Entry, Evidence, Index, NearCopy, Record, RemovedDump, Standing, Verdict,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// SimHash of `width` bits within `distance`.
pub fn simhash(width: u32, distance: u32) -> Arc<dyn Compare> {
    let settings = hashed::SimHashSettings {
        distance,
        ..hashed::SimHashSettings::default()
    };
    let method: Box<dyn Compare> = settings.method(width, Level::best()).unwrap();
    Arc::from(method)
}

/// MinHash, found by keys, and sketches of documents of words, some of which are exchanged.
pub fn min_hashes() -> (Arc<dyn Compare>, Vec<Vec<u8>>) {
    use simtool_core::sketch::{Method as _, SketchScratch, TokenizedDocument, minhash};
    let settings = minhash::MinHashSettings::for_similarity(0.5, 0.95).unwrap();
    let method = settings.method().unwrap();
    let mut scratch = SketchScratch::default();
    let sketch = |seed: u64| {
        let word = |i: u64| {
            let changed = (i + seed / 6).is_multiple_of(9);
            (i + if changed { seed * 1000 } else { 0 } + seed % 6 * 100_000)
                .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        };
        let words: Vec<u64> = (0..120).map(word).collect();
        let words = TokenizedDocument {
            short: &words,
            ..Default::default()
        };
        let mut sketch = Vec::new();
        assert!(method.sketch(words, &mut scratch, &mut sketch));
        sketch
    };
    let sketches = (0..64).map(sketch).collect();
    (Arc::new(method), sketches)
}

/// A method whose sketches verify: each ends in a byte, and these must not differ by more than two.
/// With 255, a sketch cannot tell.
pub struct Tagged(pub Arc<dyn Compare>);

fn plain(sketch: &[u8]) -> &[u8] {
    &sketch[..sketch.len() - 1]
}

impl Compare for Tagged {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        self.0.parameters()
    }

    fn shape(&self) -> Shape {
        self.0.shape()
    }

    fn sketch_bytes(&self) -> Option<usize> {
        self.0.sketch_bytes().map(|bytes| bytes + 1)
    }

    fn keys(&self, sketch: &[u8], emit: &mut dyn FnMut(u64)) {
        self.0.keys(plain(sketch), emit);
    }

    fn score(&self, a: &[u8], b: &[u8]) -> Score {
        self.0.score(plain(a), plain(b))
    }

    fn accepts(&self, score: &Score) -> bool {
        self.0.accepts(score)
    }

    fn verifier(&self, sketch: &[u8]) -> Option<Verifier> {
        let own = *sketch.last().unwrap();
        (own != 255).then(|| -> Verifier {
            Box::new(move |other| match *other.last().unwrap() {
                255 => Verification::Unknown,
                tag if tag.abs_diff(own) > 2 => Verification::Different,
                tag => Verification::Similar {
                    shared: 10 - u32::from(tag.abs_diff(own)),
                    of: 10,
                },
            })
        })
    }
}

/// What is added: an [`Entry`] of its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    pub id: Vec<u8>,
    pub words: Option<u128>,
    pub text: u64,
    pub sketch: Vec<u8>,
    pub payload: Vec<u8>,
    pub is_place: bool,
    pub source: u64,
    pub site: u64,
    pub keep: Vec<u8>,
}

impl Page {
    pub fn of(entry: &Entry<'_>) -> Page {
        Page {
            id: entry.id.to_vec(),
            words: entry.words,
            text: entry.text,
            sketch: entry.sketch.to_vec(),
            payload: entry.payload.to_vec(),
            is_place: entry.is_place,
            source: entry.source,
            site: entry.site,
            keep: entry.keep.to_vec(),
        }
    }

    pub fn entry(&self) -> Entry<'_> {
        Entry {
            id: &self.id,
            words: self.words,
            text: self.text,
            sketch: &self.sketch,
            payload: &self.payload,
            is_place: self.is_place,
            source: self.source,
            site: self.site,
            keep: &self.keep,
        }
    }
}

pub fn entries(pages: &[Page]) -> Vec<Entry<'_>> {
    pages.iter().map(Page::entry).collect()
}

/// The [`Answer`] that an index must give.
#[derive(Debug)]
pub struct Expected {
    pub verdict: Verdict,
    pub kept: bool,
    pub matches: Vec<(Vec<u8>, u64, Evidence)>,
    pub added: bool,
    pub replaces: Option<Vec<u8>>,
}

impl PartialEq<Expected> for Answer {
    fn eq(&self, expected: &Expected) -> bool {
        let matches = self.matches.iter().cloned();
        let matches: Vec<_> = matches
            .map(|found| (found.id, found.ordinal, found.evidence))
            .collect();
        let Expected {
            verdict,
            kept,
            added,
            ..
        } = *expected;
        (self.verdict, self.kept, self.added) == (verdict, kept, added)
            && !self.truncated
            && matches == expected.matches
            && self.replaces == expected.replaces
    }
}

/// A document with what was decided.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    pub page: Page,
    pub dump: String,
    pub standing: Standing,
    /// Of a copy with a key.
    pub best: Option<u64>,
}

/// Documents, oldest first, with gaps where some were removed.
#[derive(Clone)]
pub struct Model {
    pub method: Arc<dyn Compare>,
    pub documents: Vec<Option<Held>>,
    /// The labels, in the order of their first additions.
    pub dumps: Vec<String>,
    /// Whether single documents were removed.
    has_removed: bool,
}

/// The kept document of which one with this standing is a copy.
fn kept_of(standing: Standing) -> Option<u64> {
    match standing {
        Standing::Near(near) => Some(near.kept),
        Standing::Same { kept, .. } => Some(kept),
        _ => None,
    }
}

impl Model {
    pub fn new(method: Arc<dyn Compare>) -> Model {
        Model {
            method,
            documents: Vec::new(),
            dumps: Vec::new(),
            has_removed: false,
        }
    }

    /// The best copy of the document that one with this standing is a copy of.
    fn best_before(&self, page: &Page, standing: Standing) -> Option<u64> {
        let kept = kept_of(standing).filter(|_| !page.keep.is_empty())?;
        let copies = || {
            let is_copy = move |held: &Held| kept_of(held.standing) == Some(kept);
            self.live().filter(move |(_, held)| is_copy(held))
        };
        let last = copies().next_back();
        let best = last.map_or(kept, |(_, held)| held.best.unwrap());
        if !self.has_removed {
            let all = self.live().filter(|(ordinal, _)| *ordinal == kept);
            let least = all
                .chain(copies())
                .min_by_key(|(ordinal, held)| (&held.page.keep, *ordinal));
            assert_eq!(least.unwrap().0, best);
        }
        let is_there = |ordinal: &u64| self.get(*ordinal).is_some();
        [best, kept].into_iter().find(is_there)
    }

    /// The documents that were not removed, with their ordinals.
    pub fn live(&self) -> impl DoubleEndedIterator<Item = (u64, &Held)> {
        let numbered = self.documents.iter().enumerate();
        numbered.filter_map(|(ordinal, held)| Some((ordinal as u64, held.as_ref()?)))
    }

    pub fn get(&self, ordinal: u64) -> Option<&Held> {
        self.documents.get(ordinal as usize)?.as_ref()
    }

    /// The newest document of an id.
    pub fn find(&self, id: &[u8]) -> Option<&Held> {
        let mut own = self.live().filter(|(_, held)| held.page.id == id);
        own.next_back().map(|(_, held)| held)
    }

    /// Whether the two share a key; fingerprints need none.
    fn shares_a_key(&self, a: &[u8], b: &[u8]) -> bool {
        if matches!(self.method.shape(), Shape::Bits { .. }) {
            return true;
        }
        let keys = |sketch: &[u8]| {
            let mut keys = Vec::new();
            self.method.keys(sketch, &mut |key| keys.push(key));
            keys
        };
        let of_b = keys(b);
        keys(a).iter().any(|key| of_b.contains(key))
    }

    /// All kept documents near a sketch, oldest first.
    fn near(&self, sketch: &[u8]) -> Vec<NearCopy> {
        let mut near = Vec::new();
        for (kept, held) in self.live() {
            let other = &held.page.sketch;
            if held.standing != Standing::Kept || other.is_empty() || sketch.is_empty() {
                continue;
            }
            let score = self.method.score(sketch, other);
            if !self.method.accepts(&score) || !self.shares_a_key(sketch, other) {
                continue;
            }
            let verifier = self.method.verifier(sketch);
            let similarity = match verifier.map(|verifier| verifier(other)) {
                Some(Verification::Different) => continue,
                Some(Verification::Similar { shared, of }) => Some([shared, of]),
                Some(Verification::Unknown) | None => None,
            };
            near.push(NearCopy {
                kept,
                score,
                similarity,
            });
        }
        near
    }

    fn standing(&self, page: &Page) -> Standing {
        if page.words.is_none() && page.sketch.is_empty() {
            return Standing::Empty;
        }
        let is_first = |held: &Held| match held.standing {
            Standing::Kept => true,
            Standing::Near(near) => self.get(near.kept).is_some(),
            _ => false,
        };
        let mut same = self.live().filter(|(_, held)| {
            page.words.is_some() && held.page.words == page.words && is_first(held)
        });
        if let Some((first, held)) = same.next() {
            let text = held.page.text == page.text;
            let kept = match held.standing {
                Standing::Near(near) => near.kept,
                _ => first,
            };
            return Standing::Same { first, kept, text };
        }
        match self.near(&page.sketch).first() {
            Some(near) => Standing::Near(*near),
            None => Standing::Kept,
        }
    }

    /// The document of which one with this standing is a copy, if it is still there.
    fn copied(&self, standing: Standing) -> Option<(u64, Evidence)> {
        let evidence = |near: NearCopy| Evidence::Near {
            score: near.score,
            similarity: near.similarity,
        };
        let (ordinal, evidence) = match standing {
            Standing::Near(near) => (near.kept, evidence(near)),
            Standing::Same { first, text, .. } => match self.get(first)?.standing {
                Standing::Near(near) => (near.kept, evidence(near)),
                _ if text => (first, Evidence::Text),
                _ => (first, Evidence::Words),
            },
            _ => return None,
        };
        self.get(ordinal).map(|_| (ordinal, evidence))
    }

    /// The answer, and the standing that the document gets if it is added. Without a dump, the texts
    /// of all dumps count.
    fn answer(&self, page: &Page, dump: Option<&str>, limit: usize) -> (Expected, Standing) {
        let own: Vec<&Held> = self
            .live()
            .map(|(_, held)| held)
            .filter(|held| !page.id.is_empty() && held.page.id == page.id)
            .collect();
        let has_text = |held: &Held| {
            (held.page.text, held.page.words) == (page.text, page.words)
                && (page.words.is_some() || held.page.sketch == page.sketch)
        };
        let is_same = |held: &&&Held| dump.is_none_or(|dump| held.dump == dump) && has_text(held);
        let is_kept = |standing| matches!(standing, Standing::Kept | Standing::Empty);
        let matches = |found: Vec<(u64, Evidence)>| {
            let found = found.into_iter().take(limit);
            let id = |ordinal| self.get(ordinal).unwrap().page.id.clone();
            found
                .map(|(ordinal, evidence)| (id(ordinal), ordinal, evidence))
                .collect()
        };
        if let Some(same) = own.iter().rev().find(is_same) {
            let matches = matches(self.copied(same.standing).into_iter().collect());
            let expected = Expected {
                verdict: Verdict::Unchanged,
                kept: is_kept(same.standing),
                matches,
                added: false,
                replaces: None,
            };
            return (expected, same.standing);
        }
        let standing = self.standing(page);
        let mut found: Vec<(u64, Evidence)> = self.copied(standing).into_iter().collect();
        for near in self.near(&page.sketch) {
            if found.first().is_none_or(|(first, _)| *first != near.kept) {
                let NearCopy {
                    kept,
                    score,
                    similarity,
                } = near;
                found.push((kept, Evidence::Near { score, similarity }));
            }
        }
        let verdict = match own.last().filter(|old| !page.is_place && !has_text(old)) {
            Some(old) if old.page.sketch.is_empty() || page.sketch.is_empty() => {
                Verdict::Changed(None)
            }
            Some(old) => Verdict::Changed(Some(self.method.score(&old.page.sketch, &page.sketch))),
            None => match standing {
                Standing::Empty => Verdict::Empty,
                Standing::Kept => Verdict::New,
                _ => Verdict::Duplicate,
            },
        };
        let expected = Expected {
            verdict,
            kept: is_kept(standing),
            matches: matches(found),
            added: true,
            replaces: {
                let best = self
                    .best_before(page, standing)
                    .and_then(|best| self.get(best));
                let best = best.filter(|best| page.keep < best.page.keep);
                best.map(|best| best.page.id.clone())
            },
        };
        (expected, standing)
    }

    pub fn seen(&self, query: &Entry<'_>, limit: usize) -> Expected {
        Expected {
            added: false,
            ..self.answer(&Page::of(query), None, limit).0
        }
    }

    pub fn add(&mut self, entry: &Entry<'_>, dump: &str, limit: usize) -> Expected {
        let mut page = Page::of(entry);
        let (expected, standing) = self.answer(&page, Some(dump), limit);
        page.is_place = false;
        if expected.added {
            if !self.dumps.iter().any(|known| known == dump) {
                self.dumps.push(dump.to_owned());
            }
            let dump = dump.to_owned();
            let own = self.documents.len() as u64;
            let best = match self.best_before(&page, standing) {
                Some(best) if page.keep >= self.get(best).unwrap().page.keep => best,
                _ => own,
            };
            let is_copy = kept_of(standing).is_some() && !page.keep.is_empty();
            self.documents.push(Some(Held {
                page,
                dump,
                standing,
                best: is_copy.then_some(best),
            }));
        }
        expected
    }

    pub fn add_all(&mut self, pages: &[Page], dump: &str, limit: usize) -> Vec<Expected> {
        let pages = pages.iter();
        pages
            .map(|page| self.add(&page.entry(), dump, limit))
            .collect()
    }

    pub fn remove(&mut self, id: &[u8]) -> bool {
        let ordinals = 0..self.documents.len() as u64;
        let own = |ordinal: &u64| self.get(*ordinal).is_some_and(|held| held.page.id == id);
        let own: Vec<u64> = ordinals.filter(own).collect();
        for &ordinal in &own {
            let gone = self.documents[ordinal as usize].take().unwrap();
            self.has_removed = true;
            // A sketch that several share is lost with the first document that has it.
            for held in self.documents.iter_mut().flatten() {
                let is_shared = held.page.sketch == gone.page.sketch;
                if is_shared
                    && matches!(held.standing, Standing::Same { first, .. } if first == ordinal)
                {
                    held.page.sketch.clear();
                }
            }
        }
        !own.is_empty()
    }

    /// Removes a dump: all from its first document on is decided again. If that was removed before,
    /// all from the first document of a later dump on.
    pub fn remove_dump(&mut self, label: &str) -> Option<RemovedDump> {
        let number = self.dumps.iter().position(|dump| dump == label)?;
        let later = self.dumps.split_off(number);
        let is_behind = |held: &Option<Held>| {
            let is_later = |held: &Held| later.contains(&held.dump);
            held.as_ref().is_some_and(is_later)
        };
        let border = self.documents.iter().position(is_behind);
        let behind = self
            .documents
            .split_off(border.unwrap_or(self.documents.len()));
        self.dumps.extend(later.into_iter().skip(1));
        let mut removed = RemovedDump::default();
        for held in behind.into_iter().flatten() {
            if held.dump == label {
                removed.documents += 1;
                continue;
            }
            assert!(self.add(&held.page.entry(), &held.dump, 1).added);
            let now = self.documents.last().unwrap().as_ref().unwrap();
            if now.standing == Standing::Kept && held.standing != Standing::Kept {
                removed.kept_now += 1;
            }
        }
        Some(removed)
    }

    /// The model to which the documents that are there were added anew.
    pub fn replayed(&self) -> Model {
        let mut model = Model::new(self.method.clone());
        for (_, held) in self.live() {
            assert!(model.add(&held.page.entry(), &held.dump, 1).added);
        }
        model
    }

    /// Whether `index` holds the same documents and decisions.
    pub fn is_same(&self, index: &Index) -> bool {
        let expected: Vec<_> = self
            .live()
            .map(|(ordinal, held)| (ordinal, held.clone()))
            .collect();
        held(index).is_ok_and(|found| found == expected)
    }

    /// Fails unless `index` holds the same documents and decisions in the same order, and finds them.
    pub fn assert_same(&self, index: &Index) {
        let found = held(index).unwrap();
        let count = self.live().count();
        for (found, expected) in found.iter().zip(self.live()) {
            assert_eq!((found.0, &found.1), expected);
        }
        assert_eq!(found.len(), count);
        let info = index.info();
        assert_eq!(info.documents, count as u64);
        assert_eq!(info.removed, (self.documents.len() - count) as u64);
        assert_eq!(info.dumps, self.dumps);
        let newest: BTreeMap<&[u8], &Held> = self
            .live()
            .map(|(_, held)| (&held.page.id[..], held))
            .collect();
        for (id, held) in newest.into_iter().take(60) {
            let found = index.document(id).unwrap().unwrap();
            assert_eq!(found.id, id);
            assert_eq!(found.sketch, held.page.sketch);
            assert_eq!(found.payload, held.page.payload);
        }
        let check = index.check().unwrap();
        assert_eq!(check.problems, []);
        assert_eq!(check.documents, count as u64);
    }
}

/// The documents of an index with their ordinals, and with the sketches that they share.
pub fn held(index: &Index) -> Result<Vec<(u64, Held)>> {
    let dumps = index.info().dumps;
    let mut found: BTreeMap<u64, (Held, bool)> = BTreeMap::new();
    let visit = |ordinal, record: &Record<'_>| {
        let held = Held {
            page: Page::of(&record.entry),
            dump: dumps[record.dump as usize].clone(),
            standing: record.standing,
            best: record.best(),
        };
        found.insert(ordinal, (held, record.shares_sketch));
        Ok(())
    };
    index.for_each(visit)?;
    let sketch_of = |ordinal| {
        found
            .get(&ordinal)
            .map(|(held, _)| held.page.sketch.clone())
    };
    let resolved = found.iter().map(|(ordinal, (held, shares_sketch))| {
        let mut held = held.clone();
        if let (Standing::Same { first, .. }, true) = (held.standing, shares_sketch) {
            held.page.sketch = sketch_of(first).unwrap_or_default();
        }
        (*ordinal, held)
    });
    Ok(resolved.collect())
}
