//! The first reading: stores a row, a label and a sketch of every document.

use crate::Result;
use simtool_core::dedup::keep::{self, Policy};
use simtool_core::kernel::Level;
use simtool_core::sketch::digest;
use simtool_core::sketch::{Method, Needs, SketchList};
use simtool_corpus::web::relations::Relations;
use simtool_corpus::{Chunk, Document, Doubt, FieldValue, Format, Reason, Skip, Source};
use simtool_engine::Stage;
use simtool_engine::documents::DocumentReader;
use simtool_engine::naming::name;
use simtool_engine::pipeline::Event;
use simtool_engine::text_words::WordReader;
use simtool_engine::units::Unit;

use crate::dedup::groups::same_url::UrlReader;
use crate::dedup::settings::job::{DedupJob, EXACT};
use crate::scope::Grouper;
use crate::skeleton::context::RunContext;
use crate::table::columns;
use crate::table::numbering::too_many;
use crate::table::open_unit::OpenUnit;
use crate::table::row::{Flags, Label, Row};
use crate::table::segment::{ChunkEntry, Segment};
use crate::table::segment_store::SegmentStore;

/// The inputs, and which of them are the reference.
#[derive(Clone, Copy, Debug)]
pub struct RunInputs<'a> {
    /// All sources, those of the reference first.
    pub sources: &'a [Source],
    /// How many of the sources are the reference.
    pub references: u32,
}

/// Reads everything that no finished segment in `store` covers, and completes the store.
///
/// # Errors
/// Errors of reading and writing; [`ErrorKind::Interrupted`]. Finished segments are kept.
pub fn sketch(
    job: &DedupJob,
    method: Option<&dyn Method>,
    run: &RunContext<'_>,
    store: &mut SegmentStore<'_>,
) -> Result<()> {
    let inputs = RunInputs {
        sources: run.sources,
        references: run.references,
    };
    let pipeline = run.pipeline();
    run.progress.begin(Stage::Sketch, pipeline.bytes());
    let units = pipeline.units();
    let count = units.len();
    let open = units.into_iter().enumerate();
    let mut open: Vec<OpenUnit> = open
        .filter_map(|(number, unit)| OpenUnit::resume(number, unit, &pipeline, store))
        .collect();
    let rest: Vec<Unit> = open.iter().map(|unit| unit.rest.clone()).collect();
    let start = || RowSketcher::new(job, method, inputs, run.resources.level);
    pipeline.run(
        &rest,
        start,
        RowSketcher::sketch,
        |unit, event| match event {
            Event::Chunk {
                source,
                end,
                result,
            } => open[unit].append(result, (source, end), store).map(drop),
            Event::End => open[unit].finish(store),
        },
    )?;
    store.complete(count)?;
    run.progress.end(pipeline.bytes());
    Ok(())
}

/// A worker of the first reading.
pub struct RowSketcher<'a> {
    inputs: RunInputs<'a>,
    documents: DocumentReader<'a>,
    maker: RowMaker<'a>,
}

/// Makes rows from documents.
struct RowMaker<'a> {
    method: Option<&'a dyn Method>,
    grouper: Grouper,
    /// The policies whose keys are compared, each with the position of its field among the
    /// requested ones.
    policies: Vec<(&'a Policy, Option<usize>)>,
    /// Documents with fewer words are only compared for equality.
    least_words: usize,
    /// The number of words of the shingles that a policy counts, if any does.
    counted: Option<usize>,
    /// Reads URLs, if they are compared.
    urls: Option<UrlReader>,
    /// Whether only equal texts are copies.
    is_exact: bool,
    /// The digests of the texts of a chunk; zero for a document that could not be read.
    text_digests: Vec<u8>,
    words: WordReader,
}

impl<'a> RowSketcher<'a> {
    /// A worker for the documents of some inputs.
    pub fn new(
        job: &'a DedupJob,
        method: Option<&'a dyn Method>,
        inputs: RunInputs<'a>,
        level: Level,
    ) -> RowSketcher<'a> {
        let needs = method.map_or(Needs::default(), |method| method.needs());
        let maker = RowMaker {
            method,
            grouper: Grouper::new(&job.within, &job.reading.fields),
            policies: job
                .keep
                .compared()
                .iter()
                .map(|policy| {
                    let mut requested = job.reading.fields.iter();
                    let field = policy.field();
                    let place = field.and_then(|name| requested.position(|field| field == name));
                    (policy, place)
                })
                .collect(),
            least_words: method.map_or(1, |method| job.least_words(method)),
            counted: (job.keep.compared().contains(&Policy::MostShingles))
                .then_some(job.verification.shingle),
            urls: job.columns().urls.then(UrlReader::default),
            is_exact: job.method.name() == EXACT,
            text_digests: Vec::new(),
            // The digest of the words needs their hashes.
            words: WordReader::new(job.tokenizer, needs.and(Needs::HASHES), level),
        };
        RowSketcher {
            inputs,
            documents: DocumentReader::new(inputs.sources, &job.reading),
            maker,
        }
    }

    /// Passes the texts of a chunk to `visit`.
    ///
    /// # Errors
    /// Errors of reading.
    pub(crate) fn texts(&mut self, chunk: &Chunk, mut visit: impl FnMut(&[u8])) -> Result<()> {
        self.documents.documents(chunk)?.for_each(|found| {
            if let Ok(document) = found {
                visit(document.text);
            }
            Ok(())
        })
    }

    /// The rows, labels and sketches of a chunk.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn sketch(&mut self, chunk: &Chunk) -> Result<Segment> {
        let documents = self.documents.documents(chunk)?;
        let source = documents.source;
        let is_reference = chunk.source < self.inputs.references;
        let mut made = self.maker.empty_segment();
        self.maker.text_digests.clear();
        documents.for_each(|found| {
            let row = match found {
                Ok(document) => self.maker.document(source, &document, &mut made),
                Err(skip) => self.maker.skipped(source, &skip, &mut made),
            };
            made.rows.push(row);
            Ok(())
        })?;
        for row in &mut made.rows {
            row.flags.set(Flags::REFERENCE, is_reference);
        }
        let documents = u32::try_from(made.rows.len()).map_err(|_| too_many())?;
        made.chunks
            .push(ChunkEntry::new(chunk, documents, &self.maker.text_digests));
        made.shrink_to_fit();
        Ok(made)
    }
}

impl RowMaker<'_> {
    /// A segment without documents.
    fn empty_segment(&self) -> Segment {
        Segment {
            sketches: self
                .method
                .map(|method| SketchList::new(method))
                .unwrap_or_default(),
            ..Segment::default()
        }
    }

    fn document(&mut self, source: &Source, document: &Document<'_>, made: &mut Segment) -> Row {
        let mut words = self.words.read(document.text);
        let count = words.hashes().len();
        let shingles = self
            .counted
            .map_or(0, |width| words.shingle_set(width).len() as u64);
        let mut flags = Flags::default();
        let is_empty = count == 0 && (self.method.is_some() || document.text.is_empty());
        flags.set(Flags::EMPTY, is_empty);
        flags.set(Flags::BROKEN_TEXT, document.doubt == Doubt::Broken);
        flags.set(
            Flags::UNKNOWN_CHARSET,
            document.doubt == Doubt::UnknownCharset,
        );
        flags.set(Flags::NAMED_BY_PLACE, document.id.is_empty());
        flags.set(Flags::NO_URL, document.url.is_empty());
        flags.set(Flags::NO_DATE, document.date.is_empty());
        let url = self
            .urls
            .as_mut()
            .map(|urls| urls.read(document.url, document.date));
        if let Some((_, lacks)) = url {
            flags.set(lacks, true);
        }
        if let Some(method) = self.method {
            let has_any = made.sketches.push_with(|out| words.sketch(method, out));
            let is_short = count < self.least_words || !has_any;
            flags.set(Flags::SHORT, is_short && !is_empty);
        }
        let text_digest = digest::of_text(document.text);
        self.text_digests
            .extend_from_slice(&text_digest.to_le_bytes());
        let (facts, value) = keep_facts(document);
        let policies = self.policies.iter();
        let mut keys = policies.map(|(policy, field)| {
            policy.key(&keep::Facts {
                shingles,
                field: field.and_then(&value),
                ..facts
            })
        });
        let row = Row {
            digest: match self.is_exact {
                true => text_digest,
                false => digest::of_words(words.hashes()),
            },
            text_digest: text_digest as u64,
            keep_key: keys.next().unwrap_or_default(),
            place: document.place,
            label: made.labels.len() as u64,
            group: self.grouper.group(source, document),
            text_bytes: document.text.len() as u64,
            words: u32::try_from(count).unwrap_or(u32::MAX),
            flags,
            _reserved: 0,
        };
        made.columns.extend(keys.flat_map(columns::halves));
        made.columns
            .extend(url.iter().flat_map(|(numbers, _)| numbers));
        let label = Label {
            id: name(source, document.id, row.place),
            url: document.url.to_vec(),
            concurrent_to: concurrent_to(source, document.raw),
            ..Label::default()
        };
        label.write(&mut made.labels);
        row
    }

    fn skipped(&mut self, source: &Source, skip: &Skip, made: &mut Segment) -> Row {
        let length = self.method.and_then(|method| method.sketch_bytes());
        made.sketches
            .push_with(|out| out.resize(out.len() + length.unwrap_or(0), 0));
        self.text_digests.extend_from_slice(&[0; 16]);
        let mut flags = Flags::SKIPPED;
        flags.set(Flags::NAMED_BY_PLACE, skip.id.is_empty());
        flags.set(Flags::NO_TEXT, skip.reason == Reason::NoText);
        let row = Row {
            place: skip.place,
            label: made.labels.len() as u64,
            // Not compared. Where documents have no key either, it takes no space.
            keep_key: self.policies.first().map_or([0; 16], |_| keep::LAST),
            flags,
            ..bytemuck::Zeroable::zeroed()
        };
        let further = self.policies.iter().skip(1);
        made.columns.extend(further.flat_map(|_| [u64::MAX; 2]));
        let url = self.urls.iter().flat_map(|_| [0; columns::URL_NUMBERS]);
        made.columns.extend(url);
        let label = Label {
            id: name(source, &skip.id, row.place),
            url: Vec::new(),
            reason: skip.reason.name().into(),
            detail: skip.detail.clone().into_bytes(),
            concurrent_to: Vec::new(),
        };
        label.write(&mut made.labels);
        row
    }
}

/// The id of the record that a WARC record names as concurrent.
fn concurrent_to(source: &Source, record: &[u8]) -> Vec<u8> {
    match source.format {
        Format::Warc => Relations::of(record).concurrent_to.to_vec(),
        _ => Vec::new(),
    }
}

/// The properties that a keep policy uses, without shingles, and a function from the position of a
/// field to its value.
pub(crate) fn keep_facts<'d, 'a>(
    document: &'d Document<'a>,
) -> (
    keep::Facts<'a>,
    impl Fn(usize) -> Option<keep::Value<'a>> + use<'d, 'a>,
) {
    let facts = keep::Facts {
        text_bytes: document.text.len() as u64,
        date: document.date,
        url: document.url,
        ..keep::Facts::default()
    };
    let field = |place: usize| {
        let FieldValue { text, number } = document.fields[place]?;
        Some(match number {
            Some(number) => keep::Value::Number(number),
            None => keep::Value::Text(text),
        })
    };
    (facts, field)
}
