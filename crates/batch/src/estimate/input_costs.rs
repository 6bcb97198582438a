//! The costs of reading and writing all inputs, from the rates of a sample.

use super::sampling::KindRates;
use simtool_corpus::Source;
use simtool_engine::Resources;
use simtool_engine::places::SKIPPED_BYTES;

/// The approximate fraction of a stage's time for which each of several threads works. For the
/// rest, it waits for files or for the last chunks. Measured with `lab/bench-plan`: 0.52 to
/// 0.83.
const BUSY: f64 = 0.75;
/// Seconds of writing and syncing a byte.
const WRITE_BYTE_SECONDS: f64 = 1.5e-9;
/// The bytes of a block of a disk, which no two files share.
const BLOCK_BYTES: f64 = 4096.0;
/// Seconds of making, syncing and renaming a file together with others. Depends on the disk: measured
/// 0.1 to 0.5 ms.
const WRITE_FILE_SECONDS: f64 = 0.25e-3;

/// Seconds to open a file, and to pass its chunks to the workers. Fitted to 10^5 files of one line with
/// two threads.
const READ_FILE_SECONDS: f64 = 8e-6;

/// Bytes of the description of an input in `summary.json` and `run.json` together, besides its name in
/// both; and of that of an output in `run.json`, besides its name.
const DESCRIBED_INPUT_BYTES: u64 = 415;
const DESCRIBED_OUTPUT_BYTES: u64 = 110;

/// The bytes of the descriptions of `sources`; with those of the outputs, if each input `has_a_file`.
pub fn described_bytes(sources: &[Source], has_a_file: bool) -> u64 {
    let (fixed, names) = match has_a_file {
        true => (DESCRIBED_INPUT_BYTES + DESCRIBED_OUTPUT_BYTES, 3),
        false => (DESCRIBED_INPUT_BYTES, 2),
    };
    let each = |source: &Source| fixed + names * source.path.as_os_str().len() as u64;
    sources.iter().map(each).sum()
}

/// The rates of all inputs.
pub struct InputCosts {
    /// The rates of each format and compression.
    pub kinds: Vec<KindRates>,
    /// The average number of threads that work at the same time.
    pub threads: f64,
}

impl InputCosts {
    /// The costs of inputs with these rates.
    pub fn new(kinds: Vec<KindRates>, resources: &Resources) -> InputCosts {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = match resources.threads.min(cores) {
            0 | 1 => 1.0,
            threads => threads as f64 * BUSY,
        };
        InputCosts { kinds, threads }
    }

    /// The number of documents.
    pub fn documents(&self) -> u64 {
        let of = |kind: &KindRates| {
            kind.counted
                .map_or(kind.documents.over(kind.bytes), |counted| counted as f64)
        };
        self.total(of).round() as u64
    }

    /// The sum of an amount over all formats and compressions.
    pub fn total(&self, of: impl Fn(&KindRates) -> f64) -> f64 {
        self.kinds.iter().map(of).sum()
    }

    /// Seconds to read everything while doing `work` seconds of work: at least the time to
    /// decompress the longest file that one thread reads alone.
    pub fn reading(&self, work: f64) -> f64 {
        self.reading_parts(work, |_| 1.0)
    }

    /// As [`reading`](Self::reading), if only a share of the documents is read, which are at random
    /// places: files without any of them are not opened, and long gaps between them are not read.
    pub fn reading_share(&self, work: f64, share: f64) -> f64 {
        self.reading_parts(work, |kind| {
            let parts = kind.files.max(kind.bytes / SKIPPED_BYTES).max(1) as f64;
            let each = kind.documents.over(kind.bytes) / parts;
            1.0 - (1.0 - share.clamp(0.0, 1.0)).powf(each)
        })
    }

    fn reading_parts(&self, work: f64, share: impl Fn(&KindRates) -> f64) -> f64 {
        let read = self.total(|kind| share(kind) * kind.read.over(kind.bytes));
        let alone = |kind: &KindRates| share(kind) * kind.read.over(kind.largest_serial);
        let longest = self.kinds.iter().map(alone).fold(0.0, f64::max);
        let files = self.total(|kind| share(kind) * kind.files as f64) * READ_FILE_SECONDS;
        (files + (read + work) / self.threads).max(longest)
    }

    /// The space of the written documents. A file takes whole blocks of the disk, half a block more than
    /// its bytes on average.
    pub fn written_bytes(&self, has_a_file: bool) -> f64 {
        self.total(|kind| {
            let bytes = kind.written.over(kind.own_bytes);
            let blocks = kind.own_files as f64 * BLOCK_BYTES;
            match has_a_file {
                true => blocks.max(bytes + blocks / 2.0),
                false => bytes,
            }
        })
    }

    /// Seconds to write the documents: tables (Parquet) one after another; other files in parallel,
    /// including the time to read them again. If each input `has_a_file`, their number counts, too.
    pub fn writing(&self, has_a_file: bool) -> f64 {
        let (mut together, mut tables) = (0.0, 0.0);
        let files = match has_a_file {
            true => self.total(|kind| kind.own_files as f64),
            false => 0.0,
        };
        for kind in &self.kinds {
            let bytes = kind.written.over(kind.own_bytes) * WRITE_BYTE_SECONDS;
            let write = kind.write.over(kind.own_bytes);
            match kind.is_table {
                true => tables += write + bytes,
                false => together += kind.read.over(kind.own_bytes) + write + bytes,
            }
        }
        together / self.threads + tables + files * WRITE_FILE_SECONDS
    }
}
