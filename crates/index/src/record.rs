//! The record of a document.
//!
//! | bytes | |
//! |---|---|
//! | 0 | the standing: 0 empty, 1 kept, 2 near, 3 same words, 4 same text, 5 removed; plus 16 with a digest of words, 32 with a similarity, 64 if the score is a distance, 128 with the sketch of the first document with these words |
//!
//! A removed document has no more. All others:
//!
//! | bytes | |
//! |---|---|
//! | 1..5 | length of the id, i |
//! | 5..9 | length of the sketch, s |
//! | 9..12 | number of the dump |
//! | 12 | length of the key by which the best copy is found, k |
//! | 13..21 | hash of the source |
//! | 21..29 | hash of the site |
//! | 29..37 | digest of the text |
//! | 37..53 | digest of the words |
//! | then 32 bytes, if near | ordinal of the kept document (8); score (8 and 8); similarity (4 and 4) |
//! | then 16 bytes, if of the same words or text | ordinal of the first document with these words, and of the kept one: the same, or that of which the first is a near copy |
//! | then k bytes | the key |
//! | then 8 bytes, if there is a key and the document is a copy | the ordinal of the best copy so far: itself, an earlier one, or the kept document |
//! | then i bytes | the id |
//! | then s bytes | the sketch; empty if there is none, or if it is that of the first document |
//! | the rest | the payload |

use super::answer::Entry;
use super::segment::lists;
use crate::sketch::Score;

/// What was decided about a document when it was added, given those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// It cannot be compared.
    #[default]
    Empty,
    /// No kept document is near it: it is kept, and later ones are compared with it.
    Kept,
    /// A near copy.
    Near(NearCopy),
    /// It has the words of an earlier document, which is kept or a near copy.
    Same {
        /// The ordinal of that document.
        first: u64,
        /// The ordinal of the kept document: the same, or that of which it is a near copy.
        kept: u64,
        /// Whether it has its text, too.
        text: bool,
    },
    /// It was removed from the index.
    Removed,
}

/// The evidence that a document is a near copy of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NearCopy {
    /// The ordinal of the kept document.
    pub kept: u64,
    /// The score of the sketches.
    pub score: Score,
    /// The similarity of the texts as a fraction, if the sketches tell.
    pub similarity: Option<[u32; 2]>,
}

/// A document of an index with what was decided about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record<'a> {
    /// The document.
    pub entry: Entry<'a>,
    /// The number of the dump that it belongs to.
    pub dump: u32,
    /// What was decided.
    pub standing: Standing,
    /// Whether it has the sketch of the first document with its words, and none of its own.
    pub shares_sketch: bool,
    /// See [`best`](Self::best); of no meaning for others.
    pub(super) best: u64,
}

/// A document of an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// Its id.
    pub id: Vec<u8>,
    /// Its sketch.
    pub sketch: Vec<u8>,
    /// The payload that was added with it.
    pub payload: Vec<u8>,
}

impl Document {
    pub(super) fn of(record: &Record<'_>, sketch: &[u8]) -> Document {
        Document {
            id: record.entry.id.to_vec(),
            sketch: sketch.to_vec(),
            payload: record.entry.payload.to_vec(),
        }
    }
}

const WITH_WORDS: u8 = 16;
const WITH_SIMILARITY: u8 = 32;
const DISTANCE: u8 = 64;
const SHARES_SKETCH: u8 = 128;
/// The record of a removed document.
pub const REMOVED: [u8; 1] = [5];

impl<'a> Record<'a> {
    /// Appends the bytes of the record to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let Record {
            entry,
            dump,
            standing,
            shares_sketch,
            best,
        } = self;
        let mut first = match standing {
            Standing::Empty => 0,
            Standing::Kept => 1,
            Standing::Near(_) => 2,
            Standing::Same { text: false, .. } => 3,
            Standing::Same { text: true, .. } => 4,
            Standing::Removed => return out.extend(REMOVED),
        };
        if entry.words.is_some() {
            first |= WITH_WORDS;
        }
        if *shares_sketch {
            first |= SHARES_SKETCH;
        }
        if let Standing::Near(near) = standing {
            first |= near.similarity.map_or(0, |_| WITH_SIMILARITY);
            first |= match near.score {
                Score::Distance(_) => DISTANCE,
                Score::Fraction(..) => 0,
            };
        }
        out.push(first);
        out.extend((entry.id.len() as u32).to_le_bytes());
        out.extend((entry.sketch.len() as u32).to_le_bytes());
        let [dump @ .., _] = dump.to_le_bytes();
        out.extend(dump);
        out.push(entry.keep.len() as u8);
        out.extend(entry.source.to_le_bytes());
        out.extend(entry.site.to_le_bytes());
        out.extend(entry.text.to_le_bytes());
        out.extend(entry.words.unwrap_or_default().to_le_bytes());
        match standing {
            Standing::Near(NearCopy {
                kept,
                score,
                similarity,
            }) => {
                let [part, whole] = match *score {
                    Score::Distance(bits) => [bits.into(), 0],
                    Score::Fraction(part, whole) => [part, whole],
                };
                out.extend(kept.to_le_bytes());
                out.extend(part.to_le_bytes());
                out.extend(whole.to_le_bytes());
                let [shared, of] = similarity.unwrap_or_default();
                out.extend(shared.to_le_bytes());
                out.extend(of.to_le_bytes());
            }
            Standing::Same { first, kept, .. } => {
                out.extend(first.to_le_bytes());
                out.extend(kept.to_le_bytes());
            }
            _ => {}
        }
        out.extend(entry.keep);
        if self.has_best() {
            out.extend(best.to_le_bytes());
        }
        out.extend(entry.id);
        out.extend(entry.sketch);
        out.extend(entry.payload);
    }

    /// The record with these bytes; `None` if they are none.
    pub fn decode(bytes: &'a [u8]) -> Option<Record<'a>> {
        if bytes == REMOVED {
            return Some(Record {
                standing: Standing::Removed,
                ..Record::default()
            });
        }
        let mut bytes = Bytes(bytes);
        let [first] = bytes.take()?;
        let [id, sketch] = [(); 2].map(|()| bytes.take().map(u32::from_le_bytes));
        let dump: [u8; 3] = bytes.take()?;
        let [keep] = bytes.take()?;
        let [source, site, text] = [(); 3].map(|()| bytes.take().map(u64::from_le_bytes));
        let words = u128::from_le_bytes(bytes.take()?);
        let standing = match first & 15 {
            0 => Standing::Empty,
            1 => Standing::Kept,
            2 => {
                let [kept, part, whole] = [(); 3].map(|()| bytes.take().map(u64::from_le_bytes));
                let [shared, of] = [(); 2].map(|()| bytes.take().map(u32::from_le_bytes));
                let (part, similarity) = (part?, [shared?, of?]);
                Standing::Near(NearCopy {
                    kept: kept?,
                    score: match first & DISTANCE {
                        0 => Score::Fraction(part, whole?),
                        _ => Score::Distance(u32::try_from(part).ok()?),
                    },
                    similarity: (first & WITH_SIMILARITY > 0).then_some(similarity),
                })
            }
            same @ 3..=4 => Standing::Same {
                first: u64::from_le_bytes(bytes.take()?),
                kept: u64::from_le_bytes(bytes.take()?),
                text: same == 4,
            },
            _ => return None,
        };
        let (keep, rest) = bytes.0.split_at_checked(keep.into())?;
        let is_copy = matches!(standing, Standing::Near(_) | Standing::Same { .. });
        let mut bytes = Bytes(rest);
        let best = match is_copy && !keep.is_empty() {
            true => u64::from_le_bytes(bytes.take()?),
            false => 0,
        };
        let (id, rest) = bytes.0.split_at_checked(id? as usize)?;
        let (sketch, payload) = rest.split_at_checked(sketch? as usize)?;
        let entry = Entry {
            id,
            words: (first & WITH_WORDS > 0).then_some(words),
            text: text?,
            sketch,
            payload,
            is_place: false,
            source: source?,
            site: site?,
            keep,
        };
        let [a, b, c] = dump;
        Some(Record {
            entry,
            dump: u32::from_le_bytes([a, b, c, 0]),
            standing,
            shares_sketch: first & SHARES_SKETCH > 0,
            best,
        })
    }

    /// Whether it is a copy with a key.
    fn has_best(&self) -> bool {
        self.kept().is_some() && !self.entry.keep.is_empty()
    }

    /// The ordinal of the best copy when it was added, if it is a copy with a key.
    pub fn best(&self) -> Option<u64> {
        self.has_best().then_some(self.best)
    }

    /// The ordinal of the kept document of which it was a copy when it was added.
    pub fn kept(&self) -> Option<u64> {
        match self.standing {
            Standing::Near(NearCopy { kept, .. }) | Standing::Same { kept, .. } => Some(kept),
            _ => None,
        }
    }

    /// Whether the document is the first with its words.
    pub fn is_first(&self) -> bool {
        self.entry.words.is_some() && matches!(self.standing, Standing::Kept | Standing::Near(_))
    }

    /// Whether others are compared with its sketch.
    pub fn is_compared(&self) -> bool {
        self.standing == Standing::Kept && !self.entry.sketch.is_empty()
    }

    /// The hashes by which it is found: of its id, alone and with its text, of its words if it is the
    /// first with them, and of the kept document that it is a copy of.
    pub fn names(&self, seed: u64) -> impl Iterator<Item = u64> {
        let is_removed = self.standing == Standing::Removed;
        let id = (!is_removed).then_some(Name::Id(self.entry.id));
        let words = self.entry.words.filter(|_| self.is_first());
        let of = self.kept();
        let text = id.map(|_| Name::IdAndText(self.entry.id, self.entry.text_key()));
        let names = [id, text, words.map(Name::Words), of.map(Name::CopyOf)];
        names.into_iter().flatten().map(move |name| name.hash(seed))
    }
}

/// What documents are found by, besides their sketches.
#[derive(Clone, Copy, Debug)]
pub enum Name<'a> {
    /// The id.
    Id(&'a [u8]),
    /// The id and the [text](Entry::text_key).
    IdAndText(&'a [u8], u64),
    /// The digest of the words, for the first document that has them.
    Words(u128),
    /// The ordinal of the kept document that they are copies of.
    CopyOf(u64),
}

impl Name<'_> {
    /// The hash under which documents are listed.
    pub fn hash(self, seed: u64) -> u64 {
        match self {
            Name::Id(id) => lists::hash(id, seed),
            Name::IdAndText(id, text) => lists::hash(id, seed.wrapping_add(text | 2)),
            Name::Words(words) => lists::hash(&words.to_le_bytes(), !seed),
            Name::CopyOf(ordinal) => lists::hash(&ordinal.to_le_bytes(), seed ^ 1),
        }
    }
}

/// Bytes from which numbers are taken.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn standing() -> impl Strategy<Value = Standing> {
        let score = prop_oneof![
            any::<u32>().prop_map(Score::Distance),
            any::<(u64, u64)>().prop_map(|(part, whole)| Score::Fraction(part, whole)),
        ];
        let near = (any::<u64>(), score, any::<Option<[u32; 2]>>());
        prop_oneof![
            Just(Standing::Empty),
            Just(Standing::Kept),
            near.prop_map(|(kept, score, similarity)| Standing::Near(NearCopy {
                kept,
                score,
                similarity,
            })),
            any::<(u64, u64, bool)>().prop_map(|(first, kept, text)| Standing::Same {
                first,
                kept,
                text,
            }),
        ]
    }

    proptest! {
        #[test]
        fn records_are_read_back_and_cut_ones_refused(
            [id, sketch, payload] in [(); 3].map(|()| prop::collection::vec(any::<u8>(), 0..9)),
            words: Option<u128>,
            (text, source, site, best) in any::<(u64, u64, u64, u64)>(),
            (dump, keep) in (0..1u32 << 24, prop::collection::vec(any::<u8>(), 0..4)),
            shares_sketch: bool,
            standing in standing(),
            other in prop::collection::vec(any::<u8>(), 0..99),
        ) {
            let (id, sketch, payload) = (&id[..], &sketch[..], &payload[..]);
            let entry = Entry {
                id, words, text, sketch, payload, is_place: false, source, site, keep: &keep,
            };
            let record = Record { entry, dump, standing, shares_sketch, best };
            let record = Record { best: if record.has_best() { best } else { 0 }, ..record };
            let mut bytes = Vec::new();
            record.encode(&mut bytes);
            prop_assert_eq!(Record::decode(&bytes), Some(record));
            for length in 0..bytes.len() - payload.len() {
                prop_assert_eq!(Record::decode(&bytes[..length]), None);
            }
            let _ = Record::decode(&other);
        }
    }

    #[test]
    fn removed_documents_have_one_byte() {
        let removed = Record::decode(&REMOVED).unwrap();
        assert_eq!(removed.standing, Standing::Removed);
        let mut bytes = Vec::new();
        removed.encode(&mut bytes);
        assert_eq!(bytes, REMOVED);
        assert_eq!(removed.names(1).count(), 0);
    }
}
