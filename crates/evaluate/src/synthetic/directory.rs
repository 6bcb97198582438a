//! The output directory of a synthetic corpus, with five files.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

use rayon::prelude::*;

use super::corpus::{Corpus, GeneratedPage};
use super::truth;
use crate::io::AtomicFile;
use crate::{Error, ErrorKind, Result};

/// The approximate number of bytes of pages generated before they are written.
const BATCH_BYTES: u64 = 16 << 20;
/// The separator of two pages of article.txt and of sample.txt.
const PAGE_BREAK: &[u8] = b"\x0c\n";
/// The file that identifies the directory of a synthetic corpus; it is published first.
const TRUTH: &str = "truth.tsv";

/// A summary of the files written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorpusSummary {
    /// The number of pages in article.txt.
    pub documents: u64,
    /// The size of article.txt.
    pub article_bytes: u64,
    /// The number of articles that are copies of an earlier one.
    pub duplicates: u64,
    /// The number of pages in sample.txt.
    pub samples: u64,
}

/// Writes article.txt, sample.txt, stopwords.txt, hashvalue.txt and truth.tsv to a directory, which
/// is created if necessary.
///
/// The files get their names when all are complete. The threads of the current rayon pool generate
/// pages, while the previous ones are written in order. The memory is about 64 MB, or the size of a
/// few pages if that is more, for any size of the corpus. A corpus generated there before is
/// replaced.
///
/// truth.tsv has the header `a⇥b⇥label⇥score`. `a` is a sample or article that is a copy of article
/// `b`. `label` is `exact`, `minor`, `edited`, `heavy` or `distant`, by the score (1 and equal texts,
/// from 0.95, 0.80, 0.50, 0). A second row, labelled `unrelated`, names an article generated
/// independently of `a`; a sample that is not a copy has only this row. `score` is the Jaccard
/// similarity of the two multisets of words (Σ min / Σ max of the counts; a word is a run of ASCII
/// letters, folded, or one Chinese character), with six decimals, rounded down.
///
/// # Errors
/// [`ErrorKind::Parameter`] for a directory with a file of one of these names but without a
/// truth.tsv that begins with this header, because that file was not generated; nothing is written then. [`ErrorKind::Write`] if
/// the directory or a file cannot be written; the temporary files are removed.
pub fn write_directory(corpus: &Corpus, directory: &Path) -> Result<CorpusSummary> {
    write_directory_while(corpus, directory, &|| Ok(()))
}

/// Like [`write_directory`]; calls `check` before every page and stops at its first error.
///
/// # Errors
/// Errors of [`write_directory`] and of `check`; the temporary files are removed.
pub fn write_directory_while(
    corpus: &Corpus,
    directory: &Path,
    check: &(dyn Fn() -> Result<()> + Sync),
) -> Result<CorpusSummary> {
    refuse_other_files(directory)?;
    fs::create_dir_all(directory).map_err(|cause| {
        let message = "directory cannot be created";
        Error::new(ErrorKind::Write, message)
            .in_file(directory)
            .caused_by(cause)
    })?;
    let mut truth = Output::new(directory, TRUTH)?;
    let mut articles = Output::new(directory, "article.txt")?;
    let mut samples = Output::new(directory, "sample.txt")?;
    let mut stop_words = Output::new(directory, "stopwords.txt")?;
    let mut hash_values = Output::new(directory, "hashvalue.txt")?;

    truth.write(truth::HEADER)?;
    let batch = (BATCH_BYTES / corpus.page_bytes().max(1)).max(1);
    let mut pages = |number: &mut u64, generated: GeneratedPage, output: &mut Output| {
        check()?;
        if *number > 0 {
            output.write(PAGE_BREAK)?;
        }
        *number += 1;
        output.write(&generated.page)?;
        truth.write(&generated.truth)
    };
    let mut number = 0;
    in_order(
        corpus.documents(),
        batch,
        |article| corpus.article(article),
        |generated| pages(&mut number, generated, &mut articles),
    )?;
    let mut number = 0;
    in_order(
        corpus.samples(),
        batch,
        |sample| corpus.sample(sample),
        |generated| pages(&mut number, generated, &mut samples),
    )?;
    stop_words.write(&corpus.stop_words())?;
    let settings = corpus.settings();
    let rows = (BATCH_BYTES / settings.columns).max(1);
    in_order(
        settings.rows,
        rows,
        |row| corpus.hash_row(row),
        |row| hash_values.write(&row),
    )?;

    let summary = CorpusSummary {
        documents: corpus.documents(),
        article_bytes: articles.bytes,
        duplicates: corpus.duplicates(),
        samples: corpus.samples(),
    };
    publish([truth, articles, samples, stop_words, hash_values])?;
    Ok(summary)
}

/// Generates `count` items in parallel, `batch` at a time, and passes them to `write` in order while
/// the next batch is generated.
fn in_order<T: Send>(
    count: u64,
    batch: u64,
    make: impl Fn(u64) -> T + Sync,
    mut write: impl FnMut(T) -> Result<()> + Send,
) -> Result<()> {
    let mut generated: Vec<T> = Vec::new();
    let mut start = 0;
    while start < count || !generated.is_empty() {
        let end = count.min(start.saturating_add(batch));
        let ready = std::mem::take(&mut generated);
        let (next, written) = rayon::join(
            || (start..end).into_par_iter().map(&make).collect(),
            || ready.into_iter().try_for_each(&mut write),
        );
        written?;
        (generated, start) = (next, end);
    }
    Ok(())
}

/// A file of the corpus and its size so far.
struct Output {
    file: AtomicFile,
    bytes: u64,
}

impl Output {
    fn new(directory: &Path, name: &str) -> Result<Self> {
        let file = AtomicFile::create(&directory.join(name))?;
        Ok(Output { file, bytes: 0 })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.bytes += bytes.len() as u64;
        self.file
            .write_all(bytes)
            .map_err(|cause| self.file.error(cause))
    }
}

/// Publishes the files, after the last byte of each was written.
fn publish<const N: usize>(mut outputs: [Output; N]) -> Result<()> {
    for output in &mut outputs {
        output
            .file
            .flush()
            .map_err(|cause| output.file.error(cause))?;
    }
    outputs
        .into_iter()
        .try_for_each(|output| output.file.publish())
}

/// Refuses a directory with files of these names but without the truth.tsv of a generated corpus:
/// they were not generated, so they must not be replaced.
fn refuse_other_files(directory: &Path) -> Result<()> {
    let mut header = Vec::new();
    if let Ok(file) = File::open(directory.join(TRUTH)) {
        let length = truth::HEADER.len() as u64;
        // What cannot be read was not generated.
        let _ = file.take(length).read_to_end(&mut header);
    }
    if header == truth::HEADER {
        return Ok(());
    }
    for name in [
        TRUTH,
        "article.txt",
        "sample.txt",
        "stopwords.txt",
        "hashvalue.txt",
    ] {
        let path = directory.join(name);
        if path.exists() {
            let message = format!(
                "dir {}: {name} exists and was not generated (the directory has no {TRUTH} that \
                 was): expected a new or empty directory",
                directory.display()
            );
            return Err(Error::new(ErrorKind::Parameter, message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_in_order_for_any_batch_size() {
        for batch in [1, 2, 7, 100] {
            for count in [0, 1, 6, 7, 8, 50] {
                let mut seen = Vec::new();
                in_order(
                    count,
                    batch,
                    |number| number,
                    |number| {
                        seen.push(number);
                        Ok(())
                    },
                )
                .unwrap();
                assert_eq!(seen, (0..count).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_failed_write_ends_the_run() {
        let full = |number| match number {
            5 => Err(Error::new(ErrorKind::Write, "full")),
            _ => Ok(()),
        };
        let error = in_order(1 << 40, 4, |number| number, full).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Write);
    }
}
