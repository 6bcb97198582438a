//! The marks of documents in the annotated dump.

use std::ops::Range;

use crate::Result;

use crate::dedup::decision::Decision;
use crate::dedup::decisions::clusters::Clusters;
use crate::dedup::decisions::known::KnownIds;
use crate::table::by_number::ByNumber;
use crate::table::document_table::DocumentTable;
use crate::write::annotation::Mark;
use crate::write::edits::Marks;

/// What the marks are made from.
pub struct ClusterMarks<'a> {
    /// The decisions.
    pub decisions: ByNumber<Decision>,
    /// The clusters.
    pub clusters: &'a Clusters,
    /// All documents.
    pub table: &'a DocumentTable,
    /// Known documents, if the input was compared with an index.
    pub known: Option<&'a KnownIds>,
}

impl ClusterMarks<'_> {
    fn id(&self, document: u32) -> Result<Vec<u8>> {
        if let Some(id) = self.known.map_or(Ok(None), |known| known.get(document))? {
            return Ok(id);
        }
        let row = self.table.rows.get(document.into())?;
        Ok(self.table.label(&row)?.id)
    }

    /// The mark of a document that a decision is about.
    fn of_member(&self, decision: &Decision) -> Result<Mark> {
        let is_copy = self.clusters.copies.contains(decision.document);
        let [shared, shingles] = decision.verified;
        let is_compared = shingles > 0 && decision.kept != decision.document;
        Ok(Mark {
            duplicate_of: match is_copy {
                true => None,
                false => Some(self.id(decision.kept)?),
            },
            cluster: decision.kept,
            counts: self.clusters.counts(decision.kept)?,
            similarity: is_compared.then(|| f64::from(shared) / f64::from(shingles)),
        })
    }
}

impl Marks for ClusterMarks<'_> {
    fn of(&self, numbers: Range<u32>) -> Result<Vec<Option<Mark>>> {
        let mut marks: Vec<Option<Mark>> = numbers.clone().map(|_| None).collect();
        let place = |number: u32| (number - numbers.start) as usize;
        for cluster in self.clusters.records.range(numbers.clone())? {
            marks[place(cluster.kept)] = Some(Mark {
                duplicate_of: None,
                cluster: cluster.kept,
                counts: cluster.counts(),
                similarity: None,
            });
        }
        for decision in self.decisions.range(numbers.clone())? {
            marks[place(decision.document)] = Some(self.of_member(&decision)?);
        }
        Ok(marks)
    }
}
