//! The files of `OUT/` that say what was found.

use std::io::Write;
use std::path::Path;

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use rayon::slice::ParallelSlice;

use crate::corpus::Source;
use crate::io::{AtomicFile, Sorted, Sorter};
use crate::report::json_lines::{self, At, Nearness, Pair, Skipped};
use crate::run::Progress;
use crate::{Error, Result};

use super::bits::Bits;
use super::decision::Decision;
use super::gathered::Gathered;
use super::job::{EXACT, Job, NORMALIZED};
use super::known::KnownIds;
use super::pair_tables::PairTables;
use super::row::{Flags, Label, Row};
use super::sketching::source_of;
use super::work::Outputs;
use crate::run::room::Room;

/// Lines are made so many at a time, and a thread makes so many of them.
const BATCH: usize = 1 << 14;
const PIECE: usize = 512;

/// Makes the lines.
pub struct Reports<'a> {
    /// The job.
    pub job: &'a Job,
    /// All documents.
    pub gathered: &'a Gathered,
    /// Known documents, if the input was compared with such.
    pub known: Option<&'a KnownIds>,
    /// All sources.
    pub sources: &'a [Source],
    /// Whether the method measures distances.
    pub has_distances: bool,
    /// Where the files are recorded.
    pub outputs: &'a Outputs,
    /// Says whether to go on.
    pub progress: &'a Progress,
}

/// What the list of pairs amounts to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Documents that go.
    pub dropped: u64,
    /// Of these, with the same text as the one that stays.
    pub same_text: u64,
    /// With the same words.
    pub same_words: u64,
    /// Found by the method and verified.
    pub near: u64,
    /// Clusters of two and more.
    pub clusters: u64,
    /// Documents of the largest cluster.
    pub largest_cluster: u64,
}

/// A member and its cluster; sorts by cluster.
type Member = [u32; 2];

impl Reports<'_> {
    /// Writes `duplicates.jsonl` and its other forms.
    ///
    /// # Errors
    /// Those of reading and writing; interruption.
    pub fn duplicates(
        &self,
        decisions: impl Iterator<Item = Result<Decision>>,
        path: &Path,
        room: &Room<'_>,
    ) -> Result<(Totals, Sorted<Member>)> {
        let mut file = self.outputs.create(path)?;
        let out = path.parent().unwrap_or(Path::new("."));
        let mut tables = PairTables::create(self.job.pairs, out, self.outputs)?;
        let mut members: Sorter<Member> = room.sorter(3);
        let mut totals = Totals::default();
        self.lines(decisions, &mut file, |decision| {
            if !tables.is_empty() {
                self.with_pair(decision, |pair| tables.add(pair))??;
            }
            totals.dropped += 1;
            match decision.evidence {
                Decision::SAME_TEXT => totals.same_text += 1,
                Decision::SAME_WORDS => totals.same_words += 1,
                _ => totals.near += 1,
            }
            members.push([decision.kept, decision.document])
        })?;
        file.publish()?;
        tables.publish()?;
        Ok((totals, members.finish()?))
    }

    /// Writes `refused.jsonl`: pairs that the method proposed and verification did not confirm.
    ///
    /// Returns how many are listed.
    ///
    /// # Errors
    /// Those of reading and writing; interruption.
    pub fn refused(
        &self,
        refused: impl Iterator<Item = Result<Decision>>,
        path: &Path,
    ) -> Result<u64> {
        let mut file = self.outputs.create(path)?;
        let mut listed = 0;
        self.lines(refused, &mut file, |_| {
            listed += 1;
            Ok(())
        })?;
        file.publish()?;
        Ok(listed)
    }

    /// Writes `clusters.jsonl`, by the number of the document that stays.
    ///
    /// # Errors
    /// Those of reading and writing; interruption.
    pub fn clusters(
        &self,
        members: Sorted<Member>,
        path: &Path,
        totals: &mut Totals,
    ) -> Result<()> {
        let mut file = self.outputs.create(path)?;
        let mut cluster: Vec<u32> = Vec::new();
        for member in members {
            let [kept, document] = member?;
            if cluster.first().is_some_and(|&first| first != kept) {
                self.cluster(&cluster, &mut file, totals)?;
                cluster.clear();
            }
            if cluster.is_empty() {
                cluster.push(kept);
            }
            if document != kept {
                cluster.push(document);
            }
        }
        if !cluster.is_empty() {
            self.cluster(&cluster, &mut file, totals)?;
        }
        file.publish()
    }

    /// Writes `skipped.jsonl`, in input order.
    ///
    /// # Errors
    /// Those of reading and writing.
    pub fn skipped(&self, path: &Path) -> Result<()> {
        let mut file = self.outputs.create(path)?;
        let mut line = Vec::new();
        self.gathered.rows.for_each_block(BATCH, |_, rows| {
            for row in rows.iter().filter(|row| row.flags.has(Flags::SKIPPED)) {
                let label = self.gathered.label(row)?;
                let name = self.file_name(row)?;
                let skipped = Skipped {
                    id: &label.id,
                    at: At::new(&name, row.place),
                    reason: &label.reason,
                    detail: &label.detail,
                };
                line.clear();
                json_lines::skipped(&skipped, &mut line);
                write(&mut file, &line)?;
            }
            Ok(())
        })?;
        file.publish()
    }

    /// Writes `kept.jsonl`: the ids of the documents that stay, in input order.
    ///
    /// # Errors
    /// Those of reading and writing; interruption.
    pub fn kept_ids(&self, dropped: &Bits, path: &Path) -> Result<()> {
        let mut file = self.outputs.create(path)?;
        self.gathered.rows.for_each_block(BATCH, |first, rows| {
            self.progress.check()?;
            let numbers: Vec<u32> = (first as u32..).take(rows.len()).collect();
            let stays = |number: u32, row: &Row| {
                let gone = row.flags.has(Flags::SKIPPED) || row.flags.has(Flags::REFERENCE);
                !gone && !dropped.contains(number)
            };
            let pieces: Vec<Result<Vec<u8>>> = rows
                .par_chunks(PIECE)
                .zip(numbers.par_chunks(PIECE))
                .map(|(rows, numbers)| {
                    let mut lines = Vec::new();
                    let kept = rows
                        .iter()
                        .zip(numbers)
                        .filter(|(row, number)| stays(**number, row));
                    for (row, _) in kept {
                        let label = self.gathered.label(row)?;
                        let name = self.file_name(row)?;
                        json_lines::id(&label.id, At::new(&name, row.place), &mut lines);
                    }
                    Ok(lines)
                })
                .collect();
            pieces
                .into_iter()
                .try_for_each(|piece| write(&mut file, &piece?))
        })?;
        file.publish()
    }

    fn lines(
        &self,
        mut decisions: impl Iterator<Item = Result<Decision>>,
        file: &mut AtomicFile,
        mut note: impl FnMut(&Decision) -> Result<()>,
    ) -> Result<()> {
        let mut batch: Vec<Decision> = Vec::new();
        // Who goes for several reasons is listed once.
        let mut last = None;
        loop {
            self.progress.check()?;
            batch.clear();
            let mut read = 0;
            for decision in decisions.by_ref().take(BATCH) {
                let decision = decision?;
                read += 1;
                if last != Some((decision.document, decision.kept)) {
                    last = Some((decision.document, decision.kept));
                    batch.push(decision);
                }
            }
            if read == 0 {
                return Ok(());
            }
            batch.iter().try_for_each(&mut note)?;
            let pieces: Vec<Result<Vec<u8>>> = batch
                .par_chunks(PIECE)
                .map(|piece| {
                    let mut lines = Vec::new();
                    piece.iter().try_for_each(|decision| {
                        self.with_pair(decision, |pair| json_lines::pair(pair, &mut lines))
                    })?;
                    Ok(lines)
                })
                .collect();
            pieces
                .into_iter()
                .try_for_each(|piece| write(file, &piece?))?;
        }
    }

    /// Hands the pair of a decision to `take`.
    fn with_pair<R>(&self, decision: &Decision, take: impl FnOnce(&Pair<'_>) -> R) -> Result<R> {
        let (row, label) = self.document(decision.document)?;
        let file = self.file_name(&row)?;
        let near = [Decision::NEAR, Decision::KNOWN].contains(&decision.evidence);
        let is_distance = match near {
            true => decision.score[1] == 0,
            false => self.has_distances,
        };
        let name = self.job.method.name();
        let (kept_id, kept) = match self.known_id(decision.kept)? {
            Some(id) => (id, None),
            None => {
                let (row, label) = self.document(decision.kept)?;
                (label.id, Some((self.file_name(&row)?, row.place)))
            }
        };
        let pair = Pair {
            id: &label.id,
            url: &label.url,
            kept: (decision.kept != decision.document).then_some(&kept_id),
            cluster: decision.kept.into(),
            method: match decision.evidence {
                Decision::SAME_TEXT => EXACT,
                Decision::SAME_WORDS => NORMALIZED,
                _ => &name,
            },
            nearness: match (is_distance, near) {
                (true, _) => Nearness::Distance(decision.score[0]),
                (false, true) => Nearness::Similarity(decision.score),
                (false, false) => Nearness::Similarity([1, 1]),
            },
            verified: kept.is_some().then_some(decision.verified),
            at: At::new(&file, row.place),
            kept_at: kept.as_ref().map(|(file, place)| At::new(file, *place)),
        };
        Ok(take(&pair))
    }

    fn cluster(&self, members: &[u32], file: &mut AtomicFile, totals: &mut Totals) -> Result<()> {
        self.progress.check()?;
        let size = members.len() as u64;
        totals.clusters += 1;
        totals.largest_cluster = totals.largest_cluster.max(size);
        let kept = self.id(members[0])?;
        let mut text = Vec::new();
        json_lines::begin_cluster(members[0].into(), &kept, size, &mut text);
        for batch in members.chunks(BATCH).enumerate() {
            let (number, batch) = batch;
            let ids: Vec<Result<Vec<u8>>> = batch
                .par_iter()
                .map(|&document| self.id(document))
                .collect();
            for (place, id) in ids.into_iter().enumerate() {
                json_lines::member(&id?, number == 0 && place == 0, &mut text);
            }
            write(file, &text)?;
            text.clear();
        }
        json_lines::end_cluster(&mut text);
        write(file, &text)
    }

    fn known_id(&self, number: u32) -> Result<Option<Vec<u8>>> {
        self.known.map_or(Ok(None), |known| known.get(number))
    }

    fn id(&self, number: u32) -> Result<Vec<u8>> {
        match self.known_id(number)? {
            Some(id) => Ok(id),
            None => Ok(self.document(number)?.1.id),
        }
    }

    fn document(&self, number: u32) -> Result<(Row, Label)> {
        let row = self.gathered.rows.get(number.into())?;
        let label = self.gathered.label(&row)?;
        Ok((row, label))
    }

    fn file_name(&self, row: &Row) -> Result<String> {
        let source = source_of(self.sources, row.place.source)?;
        Ok(source.path.to_string_lossy().into_owned())
    }
}

fn write(file: &mut AtomicFile, bytes: &[u8]) -> Result<()> {
    file.write_all(bytes)
        .map_err(|cause| -> Error { file.error(cause) })
}
