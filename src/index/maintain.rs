//! Sealing recent documents into a segment, and merging segments into larger ones.
//!
//! Segments of about the same size are merged eight at a time, so that a document is copied about
//! log₈(n / 65 536) times. Only neighbours in age are merged: documents stay in the order in which
//! they were added.

use std::sync::Arc;

use super::database::{Change, Listed, RECENT};
use super::recent::Recent;
use super::segment::{Making, Segment, SegmentWriter};
use super::view::{Part, Place, View};
use super::{Entry, Index, Writer};
use crate::Result;

/// So many segments of a size become one.
const FAN_IN: usize = 8;
/// Records of recent documents beyond so many bytes are sealed, however few they are.
const SEAL_BYTES: usize = 64 << 20;
/// Recent documents beyond so many times the usual number are refused: sealing keeps failing.
const PATIENCE: u32 = 4;

impl Index {
    /// Seals recent documents and merges all segments into one without what was removed.
    ///
    /// Takes about as long as building; needs the space of a second index meanwhile. Questions go
    /// on.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write) if the disk is full, [`ErrorKind::Content`](crate::ErrorKind::Content) if a segment is damaged;
    /// the index is then as it was.
    pub fn compact(&self) -> Result<()> {
        let mut writer = self.ready()?;
        let (segments, clean) = {
            let view = self.view();
            (
                view.parts.len(),
                view.removed.is_empty() && view.recent.len() == 0,
            )
        };
        if segments <= 1 && clean {
            return Ok(());
        }
        self.replace(&mut writer, 0, true)
    }

    /// Seals and merges if it is time. Its failure is no failure of the addition before it: that
    /// is durable, and it is tried again next time.
    pub(super) fn keep_in_shape(&self, writer: &mut Writer) -> Result<()> {
        let (recent, bytes) = {
            let view = self.view();
            (view.recent.len(), view.recent.bytes())
        };
        if recent < self.options.seal_documents.max(1) && bytes < SEAL_BYTES {
            return Ok(());
        }
        let done = self.seal_and_merge(writer);
        writer.trouble = done.as_ref().err().map(ToString::to_string);
        let most = self.options.seal_documents.saturating_mul(PATIENCE);
        if recent > most && done.is_err() {
            done
        } else {
            Ok(())
        }
    }

    fn seal_and_merge(&self, writer: &mut Writer) -> Result<()> {
        let segments = self.view().parts.len();
        self.replace(writer, segments, true)?;
        while let Some(first) = self.to_be_merged() {
            self.replace(writer, first, false)?;
        }
        Ok(())
    }

    /// From which segment on the youngest are many of the same size.
    fn to_be_merged(&self) -> Option<usize> {
        let view = self.view();
        let tier = |part: &Part| {
            let sealed = self.options.seal_documents.max(1);
            (part.segment.documents() / sealed).max(1).ilog2() / 3
        };
        let last = tier(view.parts.last()?);
        let run = view
            .parts
            .iter()
            .rev()
            .take_while(|part| tier(part) <= last)
            .count();
        (run >= FAN_IN).then(|| view.parts.len() - run)
    }

    /// Replaces the segments from number `first` on, and the recent documents if so wished, by one
    /// segment of those of their documents that are live.
    fn replace(&self, writer: &mut Writer, first: usize, with_recent: bool) -> Result<()> {
        let number = writer.next;
        let segment = {
            let view = self.view();
            self.write_segment(&view, first, with_recent, number)?
        };
        let part = Part {
            number,
            segment: Arc::new(segment),
        };
        let (mut parts, mut replaced) = {
            let view = self.view();
            let replaced: Vec<u64> = view.parts[first..].iter().map(|part| part.number).collect();
            (view.parts[..first].to_vec(), replaced)
        };
        if part.segment.documents() > 0 {
            parts.push(part.clone());
        } else {
            part.segment.remove_when_unused(&self.options.faults);
        }
        if with_recent {
            replaced.push(RECENT);
        }
        let listed: Vec<Listed> = parts.iter().map(Part::listed).collect();
        let change = Change {
            segments: Some((&listed, number + 1)),
            replaced: replaced.clone(),
            ..Change::default()
        };
        self.commit(writer, &change)?;
        writer.next = number + 1;
        let mut view = self
            .view
            .write()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        for old in &view.parts[first..] {
            old.segment.remove_when_unused(&self.options.faults);
        }
        view.parts = parts;
        if with_recent {
            view.recent = Recent::new(self.form);
        }
        for number in replaced {
            view.removed.remove(&number);
        }
        Ok(())
    }

    fn write_segment(
        &self,
        view: &View,
        first: usize,
        with_recent: bool,
        number: u64,
    ) -> Result<Segment> {
        let parts = view.parts.len() as u32;
        let mut documents: Vec<(u32, u32)> = (first as u32..parts)
            .map(|part| (part, view.parts[part as usize].segment.documents()))
            .collect();
        if with_recent {
            documents.push((parts, view.recent.len()));
        }
        let expected: u64 = documents.iter().map(|(_, count)| u64::from(*count)).sum();
        let making = self.making(expected);
        let mut segment = SegmentWriter::create(&self.segment_path(number), making)?;
        for (part, count) in documents {
            for number in 0..count {
                let place = Place { part, number };
                if view.is_live(place) {
                    segment.push(&view.document(place)?, &*self.method)?;
                }
            }
            if let Some(part) = view.parts.get(part as usize) {
                part.segment.unchanged()?;
            }
        }
        segment.finish(|_| Ok(()))
    }

    pub(super) fn making(&self, expected: u64) -> Making {
        Making {
            form: self.form,
            layout: self.manifest.layout,
            seed: self.manifest.seed,
            expected,
            memory_bytes: self.options.memory_bytes,
            faults: self.options.faults.clone(),
        }
    }
}

impl Part {
    /// As the database lists it.
    pub fn listed(&self) -> Listed {
        Listed {
            number: self.number,
            identity: self.segment.identity(),
            documents: self.segment.documents(),
        }
    }
}

impl View {
    /// Calls `visit` with every document that was not removed, oldest first.
    pub fn for_each(&self, mut visit: impl FnMut(&Entry<'_>) -> Result<()>) -> Result<()> {
        for part in 0..=self.parts.len() as u32 {
            let segment = self.parts.get(part as usize).map(|part| &part.segment);
            let count = segment.map_or(self.recent.len(), |segment| segment.documents());
            for number in 0..count {
                let place = Place { part, number };
                if self.is_live(place) {
                    visit(&self.document(place)?)?;
                }
            }
            segment.map_or(Ok(()), |segment| segment.unchanged())?;
        }
        Ok(())
    }
}
