//! A sample of inputs: measurements at several places of several inputs: contents, and costs of processing them.
//!
//! Each format and compression has its own places, spread evenly over the bytes of its files: few
//! bytes of compressed files may have many documents. Reading begins at a border of documents
//! or compressed members. A file without such borders is read from its start, and chunks at regular
//! distances are measured. Costs are processor time of this thread.

use std::collections::{BTreeMap, HashSet};
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use crate::Result;
use simtool_core::kernel::Level;
use simtool_core::text::{Choice, Tokenizer, WordHashes};
use simtool_corpus::{
    Chunk, ChunkReader, Compression, Format, Position, Reading, Source, border_behind,
};
use simtool_files::usage::thread_time;

#[cfg(feature = "parquet")]
use super::sampled_output::rows_of;
use super::sampled_output::{OutputForm, WrittenSample, length};

/// The most places, unless there are many formats, and the bytes that are read at each.
const MOST_PLACES: u64 = 48;
const PLACE_BYTES: u64 = 256 << 10;
/// About a quarter of a small input is read, but at least this number of places of each format and
/// compression.
const LEAST_PLACES: u64 = 4;
const SHARE: u64 = 4;
/// About this part of many small files is read, as opening one costs as much as reading some of its
/// bytes, but at most this number of them. Objects on servers take a request each, so fewer are read.
const FILES_SHARE: u64 = 16;
const MOST_FILES: u64 = 512;
/// Decompressed bytes that are read of all files without borders.
const FORWARD_BYTES: u64 = 48 << 20;
/// Every n-th chunk of these is measured.
const FORWARD_STEP: u64 = 4;
/// Every n-th place in tables is measured; this number of chunks is read there.
const TABLE_STEP: u64 = 4;
const TABLE_CHUNKS: u64 = 5;
/// Every n-th chunk is also written again.
const COSTLY_STEP: usize = 4;
/// After this time, only formats and compressions are read of which nothing was measured yet. Tests
/// read all, however slow the machine is.
const MOST_TIME: Duration = Duration::from_secs(if cfg!(debug_assertions) { 3600 } else { 1 });
/// The first bytes of most Han characters in UTF-8.
const HAN: RangeInclusive<u8> = 0xe4..=0xe9;
/// With more tables than this, rows are not counted in advance.
#[cfg(feature = "parquet")]
const MOST_FOOTERS: usize = 256;

/// Measures the processing of chunks.
pub trait Measure {
    /// Processes a chunk.
    ///
    /// # Errors
    /// Errors of reading.
    fn chunk(&mut self, chunk: &Chunk) -> Result<Measured>;
}

/// The measurements of a chunk.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    /// Documents.
    pub documents: u64,
    /// Bytes of their text.
    pub text_bytes: u64,
    /// Seconds of processing.
    pub seconds: f64,
}

/// An amount per byte of files.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rate {
    covered: f64,
    amount: f64,
}

impl Rate {
    fn add(&mut self, covered: f64, amount: f64) {
        self.covered += covered;
        self.amount += amount;
    }

    /// The amount for `bytes` bytes.
    pub fn over(self, bytes: u64) -> f64 {
        match self.covered > 0.0 {
            true => self.amount * bytes as f64 / self.covered,
            false => 0.0,
        }
    }
}

/// Measurements of the files of one format and compression, per byte.
#[derive(Clone, Debug, Default)]
pub struct KindRates {
    /// The number of its files, references included.
    pub files: u64,
    /// The bytes of all its files, references included.
    pub bytes: u64,
    /// The bytes of the files that are not compared with only.
    pub own_bytes: u64,
    /// Their number.
    pub own_files: u64,
    /// Whether its files are tables.
    pub is_table: bool,
    /// The bytes of the largest file that the sample reads from its start.
    pub largest_serial: u64,
    /// Documents of all its files, if they can be counted without reading: rows of tables, and
    /// files that are one document each.
    pub counted: Option<u64>,
    /// Documents.
    pub documents: Rate,
    /// Bytes of their text.
    pub text: Rate,
    /// Seconds to read and decompress.
    pub read: Rate,
    /// Seconds to process.
    pub process: Rate,
    /// Seconds to compress again, or to write tables again.
    pub write: Rate,
    /// Bytes of the output.
    pub written: Rate,
}

impl KindRates {
    fn is_measured(&self) -> bool {
        self.documents.covered > 0.0
    }
}

/// Takes a sample.
pub struct Sampler<'a, M> {
    sources: &'a [Source],
    /// How many of them are only compared with.
    references: usize,
    reading: Reading,
    /// How the documents of the other ones are written, if they are.
    form: Option<OutputForm<'a>>,
    measure: M,
    kinds: BTreeMap<(&'static str, &'static str), KindRates>,
    /// The number of chunks that were measured.
    chunks: usize,
    /// That of an earlier chunk, as in a run.
    buffer: Vec<u8>,
    /// Whether the dictionary of Chinese was loaded, which takes longer than most chunks.
    has_dictionary: bool,
}

impl<'a, M: Measure> Sampler<'a, M> {
    /// Reads a sample of `sources`, and processes it with `measure`. The first ones, `references`
    /// in number, are compared with only.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn sample(
        sources: &'a [Source],
        references: usize,
        reading: &Reading,
        form: Option<OutputForm<'a>>,
        measure: M,
    ) -> Result<(M, Vec<KindRates>)> {
        let mut sampler = Sampler {
            sources,
            references,
            reading: Reading {
                chunk_bytes: PLACE_BYTES as usize,
                ..reading.clone()
            },
            form,
            measure,
            kinds: BTreeMap::new(),
            chunks: 0,
            buffer: Vec::new(),
            has_dictionary: false,
        };
        sampler.read()?;
        Ok((sampler.measure, sampler.kinds.into_values().collect()))
    }

    fn read(&mut self) -> Result<()> {
        let begin = Instant::now();
        for (number, source) in self.sources.iter().enumerate() {
            let bytes = source.bytes.unwrap_or(0);
            let kind = self.kind(source);
            kind.files += 1;
            kind.bytes += bytes;
            kind.is_table = source.format == Format::Parquet;
            if source.format.is_whole_file() {
                *kind.counted.get_or_insert(0) += 1;
            }
            if number >= self.references {
                let kind = self.kind(source);
                kind.own_bytes += bytes;
                kind.own_files += 1;
            }
        }
        self.count_rows()?;
        let places = places(self.sources);
        let mut forward: BTreeMap<usize, u64> = BTreeMap::new();
        let mut tables = 0u64;
        let mut known = HashSet::new();
        for &(number, offset) in &places {
            let source = &self.sources[number];
            if begin.elapsed() > MOST_TIME && self.kind(source).is_measured() {
                continue;
            }
            match self.border(source, offset)? {
                // Several places in a large member have the same border.
                Some(position) if !known.insert((number, position)) => {}
                Some(position) if source.format == Format::Parquet => {
                    if tables.is_multiple_of(TABLE_STEP) {
                        self.look_at_rows(number, position)?;
                    }
                    tables += 1;
                }
                Some(position) => self.look_at(number, position)?,
                None => *forward.entry(number).or_default() += 1,
            }
        }
        // A file that was measured at other places needs no reading from its start.
        forward.retain(|number, _| known.iter().all(|(measured, _)| measured != number));
        let each = FORWARD_BYTES / (forward.len() as u64).max(1);
        for (number, _) in forward {
            let is_measured = self.kind(&self.sources[number]).is_measured();
            if begin.elapsed() > MOST_TIME && is_measured {
                continue;
            }
            self.look_forward(number, each)?;
        }
        Ok(())
    }

    fn kind(&mut self, source: &Source) -> &mut KindRates {
        self.kinds.entry(kind_of(source)).or_default()
    }

    /// Counts the rows of all tables, unless there are more than [`MOST_FOOTERS`] tables.
    #[cfg(feature = "parquet")]
    fn count_rows(&mut self) -> Result<()> {
        let is_table = |source: &&Source| source.format == Format::Parquet && !source.is_stream();
        let tables = self.sources.iter().filter(is_table);
        if tables.clone().count() > MOST_FOOTERS {
            return Ok(());
        }
        for source in tables {
            let rows = rows_of(source, &self.reading)?;
            *self.kind(source).counted.get_or_insert(0) += rows;
        }
        Ok(())
    }

    #[cfg(not(feature = "parquet"))]
    fn count_rows(&mut self) -> Result<()> {
        Ok(())
    }

    /// The first border from `offset` on; `None` if none is found, or if the source is small.
    fn border(&self, source: &Source, offset: u64) -> Result<Option<Position>> {
        #[cfg(feature = "parquet")]
        if source.format == Format::Parquet {
            let rows = u128::from(rows_of(source, &self.reading)?);
            let bytes = u128::from(source.bytes.unwrap_or(1).max(1));
            let row = u128::from(offset) * rows / bytes;
            return Ok(Some(Position {
                chunk: 1,
                offset: u64::try_from(row).unwrap_or(0),
                ..Position::default()
            }));
        }
        match offset {
            // Small files are read from the start.
            _ if source
                .bytes
                .is_none_or(|bytes| bytes <= SHARE * PLACE_BYTES) =>
            {
                Ok(None)
            }
            // There are borders, even if a search misses them behind a long first record.
            0 if source.compression == Compression::None && source.format.separator().is_some() => {
                Ok(Some(Position::default()))
            }
            // The bytes after the start show whether there are any borders.
            0 => {
                let inner = border_behind(source, PLACE_BYTES)?;
                Ok(inner.map(|_| Position::default()))
            }
            _ => border_behind(source, offset),
        }
    }

    /// Measures the chunk at `position`.
    fn look_at(&mut self, number: usize, position: Position) -> Result<()> {
        let source = &self.sources[number];
        let mut reader = ChunkReader::open(source, number as u32, &self.reading, position)?;
        let begin = reader.file_offset();
        let before = thread_time();
        let Some(chunk) = reader.next(std::mem::take(&mut self.buffer))? else {
            return Ok(());
        };
        let seconds = since(before);
        let given = length(&chunk) as f64;
        let share = match given > 0.0 {
            true => given / (given + reader.bytes_ahead() as f64),
            false => 1.0,
        };
        let covered = (reader.file_offset() - begin) as f64 * share;
        self.kind(source).read.add(covered, seconds * share);
        self.measure(source, &chunk, covered)?;
        self.buffer = chunk.into_buffer();
        Ok(())
    }

    /// Measures consecutive chunks of a table. Reading the first one takes longer, as its pages and
    /// a dictionary are decompressed from their starts.
    fn look_at_rows(&mut self, number: usize, position: Position) -> Result<()> {
        let source = &self.sources[number];
        let mut reader = ChunkReader::open(source, number as u32, &self.reading, position)?;
        let mut begin = reader.file_offset();
        for ordinal in 0..TABLE_CHUNKS {
            let before = thread_time();
            let Some(chunk) = reader.next(Vec::new())? else {
                return Ok(());
            };
            let seconds = since(before);
            let covered = (reader.file_offset() - begin) as f64;
            begin = reader.file_offset();
            let is_whole = covered == source.bytes.unwrap_or(0) as f64;
            if ordinal > 0 || is_whole {
                self.kind(source).read.add(covered, seconds);
            }
            if ordinal.is_multiple_of(2) {
                self.measure(source, &chunk, covered)?;
            }
        }
        Ok(())
    }

    /// Reads `bytes` decompressed bytes from the start and measures chunks at regular distances.
    fn look_forward(&mut self, number: usize, bytes: u64) -> Result<()> {
        let source = &self.sources[number];
        let kind = self.kind(source);
        kind.largest_serial = kind.largest_serial.max(source.bytes.unwrap_or(0));
        let reading = self.reading.clone();
        let mut reader = ChunkReader::open(source, number as u32, &reading, Position::default())?;
        let (mut given, mut read, mut looked_at) = (0, 0.0, Vec::new());
        let mut ordinal = 0u64;
        while given < bytes {
            let before = thread_time();
            let Some(chunk) = reader.next(std::mem::take(&mut self.buffer))? else {
                break;
            };
            read += since(before);
            given += length(&chunk);
            match ordinal.is_multiple_of(FORWARD_STEP) {
                true => looked_at.push(chunk),
                false => self.buffer = chunk.into_buffer(),
            }
            ordinal += 1;
        }
        let all = given as f64 + reader.bytes_ahead() as f64;
        let covered = reader.file_offset() as f64 * given as f64 / all.max(1.0);
        self.kind(source).read.add(covered, read);
        for chunk in looked_at {
            let share = length(&chunk) as f64 / (given as f64).max(1.0);
            self.measure(source, &chunk, covered * share)?;
            self.buffer = chunk.into_buffer();
        }
        Ok(())
    }

    /// Processes a chunk that represents `covered` bytes of its file.
    fn measure(&mut self, source: &Source, chunk: &Chunk, covered: f64) -> Result<()> {
        let is_costly = !self.kind(source).is_measured() || self.chunks.is_multiple_of(COSTLY_STEP);
        self.chunks += 1;
        if !self.has_dictionary && chunk.bytes().iter().any(|byte| HAN.contains(byte)) {
            let mut tokenizer = Tokenizer::new(Choice::default(), Level::best());
            tokenizer.hash_words("中国".as_bytes(), false, &mut WordHashes::default());
            self.has_dictionary = true;
        }
        let measured = self.measure.chunk(chunk)?;
        let kind = self.kind(source);
        kind.process.add(covered, measured.seconds);
        kind.documents.add(covered, measured.documents as f64);
        kind.text.add(covered, measured.text_bytes as f64);
        if let (true, Some(form)) = (is_costly, self.form) {
            let sample = WrittenSample {
                sources: self.sources,
                reading: &self.reading,
                source,
                chunk,
                covered,
                #[cfg(feature = "parquet")]
                most_bytes: PLACE_BYTES * SHARE,
            };
            let wrote = sample.write(form)?;
            let kind = self.kind(source);
            kind.write.add(wrote.covered, wrote.seconds);
            kind.written.add(wrote.covered, wrote.bytes);
        }
        Ok(())
    }
}

/// The processor seconds of this thread since `before`.
pub fn since(before: Duration) -> f64 {
    thread_time().saturating_sub(before).as_secs_f64()
}

/// The format and the compression of a source.
fn kind_of(source: &Source) -> (&'static str, &'static str) {
    (source.format.name(), source.compression.name())
}

/// Places spread evenly over the bytes of the sources of each format and compression: numbers of
/// sources and offsets in them. Their order is also spread, so that the first few represent all.
fn places(sources: &[Source]) -> Vec<(usize, u64)> {
    let bytes = |source: &Source| source.bytes.unwrap_or(0);
    let total: u64 = sources.iter().map(bytes).sum();
    let mut kinds: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (number, source) in sources.iter().enumerate() {
        kinds.entry(kind_of(source)).or_default().push(number);
    }
    let mut found = Vec::new();
    for numbers in kinds.values() {
        let own: u64 = numbers.iter().map(|&number| bytes(&sources[number])).sum();
        let of_all =
            |most: u64| (u128::from(most) * u128::from(own) / u128::from(total.max(1))) as u64;
        let by_bytes = (own / SHARE / PLACE_BYTES).min(of_all(MOST_PLACES));
        let files = numbers.len() as u64;
        let is_remote = |&number: &usize| sources[number].object.is_some();
        let by_files = match own / files < PLACE_BYTES && !numbers.iter().any(is_remote) {
            true => (files / FILES_SHARE).min(of_all(MOST_FILES)),
            false => 0,
        };
        let count = by_bytes.max(by_files).max(LEAST_PLACES);
        let (mut numbers, mut before) = (numbers.iter(), 0u64);
        let mut next = numbers.next();
        for place in 0..count {
            let wanted = (u128::from(own) * u128::from(place) / u128::from(count)) as u64;
            while let Some(&number) = next {
                let behind = before + bytes(&sources[number]);
                if wanted < behind {
                    found.push((number, wanted - before));
                    break;
                }
                before = behind;
                next = numbers.next();
            }
        }
    }
    // A step without a common divisor visits every place.
    let step = (0..)
        .map(|more| found.len() * 61 / 100 + more)
        .find(|&step| coprime(step, found.len()));
    let step = step.unwrap_or(1);
    (0..found.len())
        .map(|place| found[place * step % found.len()])
        .collect()
}

fn coprime(a: usize, b: usize) -> bool {
    let (mut a, mut b) = (a, b);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a <= 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(bytes: u64) -> Source {
        Source {
            path: "x".into(),
            bytes: Some(bytes),
            format: Format::Jsonl,
            compression: Compression::None,
            copy: None,
            object: None,
        }
    }

    #[test]
    fn places_are_spread_over_all_sources() {
        let sources = [1u64, 500, 0, 300, 200].map(|size| source(size << 20));
        let found = places(&sources);
        assert_eq!(found.len(), MOST_PLACES as usize);
        let in_source = |number| found.iter().filter(|place| place.0 == number).count();
        assert_eq!([0, 1, 2, 3, 4].map(in_source), [1, 24, 0, 14, 9]);
        let mut sorted = found.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), found.len());
        // The first few represent all.
        let early = found[..8].iter().filter(|place| place.0 == 1).count();
        assert!((3..=5).contains(&early), "{found:?}");
    }

    #[test]
    fn each_compression_has_places() {
        let mut sources = [1u64, 500 << 10, 1].map(|size| source(size << 10));
        sources[2].compression = Compression::Gzip;
        let found = places(&sources);
        let of_gzip = found.iter().filter(|place| place.0 == 2).count();
        assert_eq!(of_gzip, LEAST_PLACES as usize);
    }

    #[test]
    fn small_inputs_have_few_places() {
        assert_eq!(places(&[source(10)]).len(), 4);
        assert!(places(&[source(0)]).is_empty());
        assert!(places(&[]).is_empty());
    }
}
