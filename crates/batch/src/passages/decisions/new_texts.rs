//! Documents with passages cut or masked.

use std::ops::Range;

use super::decided::{PassageDecisions, misplaced};
use super::ranges::{RangesOfDocuments, RemovedRange};
use crate::Result;
use crate::passages::search::PassageSearch;
use crate::passages::settings::action::Action;
use crate::write::edits::{DocumentTexts, SomeTexts};
use simtool_core::text::units::{cut, mask};
use simtool_corpus::Source;

/// The documents without the passages of a search.
pub struct NewTexts<'a, S> {
    /// The search.
    pub search: &'a S,
    /// The decisions.
    pub decided: &'a PassageDecisions,
}

impl<S: PassageSearch> DocumentTexts for NewTexts<'_, S> {
    fn has_any_of(&self, numbers: Range<u32>) -> Result<bool> {
        self.decided.has_any_of(numbers)
    }

    fn of(&self, numbers: Range<u32>) -> Result<Box<dyn SomeTexts + '_>> {
        let ranges = RangesOfDocuments::read(&self.decided.ranges, numbers)?;
        let search = self.search;
        Ok(Box::new(TextsOfDocuments { search, ranges }))
    }
}

/// The texts of some documents.
struct TextsOfDocuments<'a, S> {
    search: &'a S,
    ranges: RangesOfDocuments<RemovedRange>,
}

impl<S: PassageSearch> SomeTexts for TextsOfDocuments<'_, S> {
    fn has(&self, number: u32) -> bool {
        !self.ranges.of(number).is_empty()
    }

    fn of(&self, number: u32, source: &Source, text: &[u8]) -> Result<Vec<u8>> {
        let removed: Vec<Range<usize>> = self.ranges.bytes_of(number).collect();
        if removed.last().is_some_and(|range| range.end > text.len()) {
            return Err(misplaced(&source.path));
        }
        Ok(match self.search.common().action {
            Action::Cut => cut(text, &removed, self.search.removes_blank_lines()),
            Action::Mask => mask(text, &removed),
            Action::Mark | Action::DropDocument(_) => text.to_vec(),
        })
    }
}
