//! Collections: ids and sketches of all documents of some inputs, made by several methods in one
//! pass and held in memory.

use std::collections::BTreeSet;

use ahash::AHashMap;

use super::counting::Counting;
use super::methods::{self, Common};
use super::sketcher::{Sketched, Sketcher};
use crate::memory::memory_account::MemoryAccount;
use crate::memory::spill_space::SpillSpace;
use crate::reading::documents::ChunkDocuments;
use crate::reading::doubts::Doubts;
use crate::reading::naming::name;
use crate::reading::pipeline::Pipeline;
use crate::{Error, ErrorKind, Result};
use crate::{Progress, Resources, Stage};
use simtool_core::sketch::Method;
use simtool_core::sketch::registry::{CountRequest, Spec};
use simtool_core::text::{Choice, WordSet};
use simtool_core::vocabulary::Frequencies;
use simtool_corpus::{Document, Place, Reading, Skip, Source};

/// How inputs are read and tokenized.
#[derive(Clone, Debug)]
pub struct InputSettings {
    /// How documents are read.
    pub reading: Reading,
    /// What a word is.
    pub tokenizer: Choice,
    /// The words that methods with stop words leave out.
    pub stop_words: WordSet,
}

/// Inputs with the settings and resources to read them.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// The sources.
    pub sources: &'a [Source],
    /// How they are read and tokenized.
    pub settings: &'a InputSettings,
    /// Threads, memory and temporary space.
    pub resources: &'a Resources,
    /// Notified of progress.
    pub progress: &'a Progress,
}

/// The overhead of an allocation.
const ALLOCATION_BYTES: usize = 16;
/// The least memory for counting, which sorts on disk if it needs more.
const MIN_COUNTING: usize = 1 << 20;
/// Documents between two updates of their accounted memory.
const DOCUMENTS: usize = 32;

/// A document of a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The id, or the place if it has none.
    pub id: Vec<u8>,
    /// The place in the inputs.
    pub place: Place,
    /// The length of the text.
    pub text_bytes: u64,
}

/// A document that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The id, or the place if it has none.
    pub id: Vec<u8>,
    /// Where it is, and why it was skipped.
    pub skip: Skip,
}

/// All documents of some inputs, in input order.
#[derive(Debug, Default)]
pub struct Collection {
    /// The documents.
    pub members: Vec<Member>,
    /// Their sketches by each method.
    pub sketched: Vec<Sketched>,
    /// Documents that could not be read.
    pub skipped: Vec<Skipped>,
    /// Documents whose characters may be wrong.
    pub doubts: Doubts,
}

/// The documents of a chunk.
type Part = Collection;

/// The corpus statistics of some inputs.
pub struct Counts(Vec<(CountRequest, Frequencies)>);

impl Counts {
    /// Builds a method, whose statistics must be among these.
    ///
    /// # Errors
    /// Errors of building.
    pub fn build(&self, spec: &Spec, common: Common<'_>) -> Result<Box<dyn Method>> {
        let frequencies = |count: &CountRequest| {
            let found = self.0.iter().find(|(counted, _)| counted == count);
            found.map_or(Frequencies::default(), |(_, counts)| counts.clone())
        };
        let frequencies: Vec<_> = spec.required_counts().iter().map(frequencies).collect();
        methods::build(spec, common, &frequencies)
    }
}

impl<'a> Inputs<'a> {
    /// The pipeline that reads them.
    pub fn pipeline(&self) -> Pipeline<'a> {
        Pipeline {
            sources: self.sources,
            reading: &self.settings.reading,
            workers: self.resources.threads,
            readers: self.resources.threads,
            progress: self.progress,
        }
    }

    /// The settings that all methods share.
    pub fn common(&self) -> Common<'a> {
        Common {
            tokenizer: self.settings.tokenizer,
            stop_words: &self.settings.stop_words,
            level: self.resources.level,
        }
    }

    /// Bytes of all inputs whose size is known.
    pub fn bytes(&self) -> u64 {
        self.pipeline().bytes()
    }

    /// The accounted memory for data of these inputs.
    ///
    /// # Errors
    /// Errors of [`MemoryAccount::new`].
    pub fn memory_account(&self) -> Result<MemoryAccount> {
        MemoryAccount::new(self.resources, self.settings.reading.max_document_bytes)
    }

    /// Builds the methods. Corpus statistics that several methods need are counted once.
    ///
    /// # Errors
    /// Errors of building, of reading and of temporary files.
    pub fn methods(&self, specs: &[Spec]) -> Result<Vec<Box<dyn Method>>> {
        let counts = self.counts(specs)?;
        let build = |spec: &Spec| counts.build(spec, self.common());
        specs.iter().map(build).collect()
    }

    /// The corpus statistics that `specs` need, each counted once.
    ///
    /// # Errors
    /// Errors of reading and of temporary files.
    pub fn counts(&self, specs: &[Spec]) -> Result<Counts> {
        let mut known: Vec<(CountRequest, Frequencies)> = Vec::new();
        for count in specs.iter().flat_map(Spec::required_counts) {
            if known.iter().all(|(counted, _)| *counted != count) {
                known.push((count, self.count(count)?));
            }
        }
        Ok(Counts(known))
    }

    /// Counts what a method asks for.
    ///
    /// # Errors
    /// Errors of reading and of temporary files.
    pub fn count(&self, count: CountRequest) -> Result<Frequencies> {
        self.progress.begin(Stage::Count, self.bytes());
        let common = self.common();
        let half = self.resources.memory_bytes as usize / 2;
        let counting = Counting {
            count,
            tokenizer: common.tokenizer,
            stop_words: common.stop_words,
            pipeline: self.pipeline(),
            space: SpillSpace {
                directory: &self.resources.temporary,
                memory_bytes: self.memory_account().map_or(half, |account| {
                    half.min(account.free() as usize).max(MIN_COUNTING)
                }),
            },
            level: common.level,
        };
        let counted = counting.run()?;
        self.progress.end(self.bytes());
        Ok(counted)
    }

    /// Reads all documents and sketches them by all methods. Memory of ids and sketches is reserved
    /// from `account`.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`] if sketches and ids exceed the free bytes of `account`; those of reading.
    pub fn collect(
        &self,
        methods: &[Box<dyn Method>],
        account: &MemoryAccount,
    ) -> Result<Collection> {
        self.progress.begin(Stage::Sketch, self.bytes());
        let units = self.pipeline().units();
        let mut parts: Vec<Part> = Vec::new();
        parts.resize_with(units.len(), Part::default);
        let start = || Sketcher::new(methods, self.common());
        let work = |sketcher: &mut Sketcher<'_>, documents: ChunkDocuments<'_>| {
            self.part(documents, sketcher, account)
        };
        self.pipeline()
            .run_documents(&units, start, work, |unit, part| {
                parts[unit].append(part);
                Ok(())
            })?;
        let mut parts = parts.into_iter();
        let mut all = parts.next().unwrap_or_default();
        if all.sketched.is_empty() {
            all.sketched = Sketcher::new(methods, self.common()).nothing();
        }
        for part in parts {
            // One list at a time exists twice.
            let copied = part.largest_list();
            account.reserve(copied, COLLECTION)?;
            all.append(part);
            account.release(copied);
        }
        self.progress.end(self.bytes());
        Ok(all)
    }

    /// The documents of a chunk; their [`bytes`](Collection::bytes) are reserved from `account`.
    pub fn part(
        &self,
        documents: ChunkDocuments<'_>,
        sketcher: &mut Sketcher<'_>,
        account: &MemoryAccount,
    ) -> Result<Part> {
        let source = documents.source;
        let mut part = Part {
            sketched: sketcher.nothing(),
            ..Part::default()
        };
        let (mut members, mut taken) = (0, 0);
        let mut take = |members: usize, part: &Part| {
            let bytes = members + part.sketched.iter().map(Sketched::bytes).sum::<usize>();
            let more = bytes - taken;
            taken = bytes;
            account.reserve(more, COLLECTION)
        };
        documents.for_each(|found| {
            match found {
                Ok(document) => {
                    sketcher.sketch(document.text, &mut part.sketched);
                    part.doubts.note(document.doubt, document.place);
                    let member = Member::new(source, &document);
                    members += member.bytes();
                    part.members.push(member);
                    if part.members.len().is_multiple_of(DOCUMENTS) {
                        self.progress.check()?;
                        return take(members, &part);
                    }
                }
                Err(skip) => {
                    let skipped = Skipped {
                        id: name(source, &skip.id, skip.place),
                        skip,
                    };
                    members += skipped.bytes();
                    part.skipped.push(skipped);
                }
            }
            Ok(())
        })?;
        take(members, &part)?;
        Ok(part)
    }

    /// Passes the text of each document of `wanted` with its number to `take`, in any order.
    ///
    /// # Errors
    /// Errors of reading and of `take`; [`ErrorKind::Changed`] if a document is not found at its
    /// place.
    pub fn texts(
        &self,
        members: &[Member],
        wanted: &[u32],
        mut take: impl FnMut(u32, Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let place = |&number: &u32| (members[number as usize].place, number);
        let places: AHashMap<Place, u32> = wanted.iter().map(place).collect();
        let sources: BTreeSet<u32> = places.keys().map(|place| place.source).collect();
        let mut units = self.pipeline().units();
        units.retain(|unit| sources.range(unit.sources.clone()).next().is_some());
        let mut found = 0;
        let work = |(): &mut (), documents: ChunkDocuments<'_>| {
            let mut texts: Vec<(u32, Vec<u8>)> = Vec::new();
            documents.for_each(|found| {
                if let Ok(document) = found {
                    let number = places.get(&document.place);
                    texts.extend(number.map(|&number| (number, document.text.to_vec())));
                }
                Ok(())
            })?;
            Ok(texts)
        };
        self.pipeline().run_documents(
            &units,
            || (),
            work,
            |_, texts| {
                found += texts.len();
                texts
                    .into_iter()
                    .try_for_each(|(number, text)| take(number, text))
            },
        )?;
        if found != wanted.len() {
            let message = "an input changed while it was read: run the command again";
            return Err(Error::new(ErrorKind::Changed, message));
        }
        Ok(())
    }
}

/// The name of a collection in messages.
const COLLECTION: &str = "ids and sketches";

impl Member {
    fn new(source: &Source, document: &Document<'_>) -> Member {
        Member {
            id: name(source, document.id, document.place),
            place: document.place,
            text_bytes: document.text.len() as u64,
        }
    }

    fn bytes(&self) -> usize {
        size_of::<Member>() + self.id.len() + ALLOCATION_BYTES
    }
}

impl Skipped {
    fn bytes(&self) -> usize {
        let texts = self.id.len() + self.skip.id.len() + self.skip.detail.len();
        size_of::<Skipped>() + texts + 3 * ALLOCATION_BYTES
    }
}

impl Collection {
    fn append(&mut self, next: Collection) {
        self.members.extend(next.members);
        self.skipped.extend(next.skipped);
        self.doubts.add(&next.doubts);
        if self.sketched.is_empty() {
            self.sketched = next.sketched;
        } else {
            let pairs = self.sketched.iter_mut().zip(next.sketched);
            pairs.for_each(|(all, more)| all.append(&more));
        }
    }

    /// Bytes of its largest contiguous part.
    fn largest_list(&self) -> usize {
        let members = self.members.len() * size_of::<Member>();
        let sketched = self.sketched.iter().map(Sketched::bytes);
        sketched.fold(members, usize::max)
    }

    /// Bytes of memory of the collection.
    pub fn bytes(&self) -> usize {
        let members = self.members.iter().map(Member::bytes);
        let skipped = self.skipped.iter().map(Skipped::bytes);
        let sketched = self.sketched.iter().map(Sketched::bytes);
        members.chain(skipped).chain(sketched).sum()
    }
}
