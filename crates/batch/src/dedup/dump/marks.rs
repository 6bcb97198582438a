//! The marks of documents in the annotated dump.

use std::ops::Range;

use crate::Result;

use crate::dedup::decision::Decision;
use crate::dedup::settle::clusters::{ClusterSize, Clusters};
use crate::dedup::settle::known::KnownIds;
use crate::table::by_number::ByNumber;
use crate::table::document_table::DocumentTable;
use crate::write::annotation::Mark;

/// What the marks are made from.
pub struct Marks<'a> {
    /// The decisions.
    pub decisions: ByNumber<Decision>,
    /// The clusters.
    pub clusters: &'a Clusters,
    /// All documents.
    pub gathered: &'a DocumentTable,
    /// Known documents, if the input was compared with an index.
    pub known: Option<&'a KnownIds>,
}

/// The decisions and clusters of some documents.
pub struct SomeMarks<'a> {
    all: &'a Marks<'a>,
    decisions: Vec<Decision>,
    sizes: Vec<ClusterSize>,
}

impl Marks<'_> {
    /// The marks of the documents `numbers`.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn of(&self, numbers: Range<u32>) -> Result<SomeMarks<'_>> {
        Ok(SomeMarks {
            all: self,
            decisions: self.decisions.range(numbers.clone())?,
            sizes: self.clusters.sizes.range(numbers)?,
        })
    }

    fn id(&self, document: u32) -> Result<Vec<u8>> {
        if let Some(id) = self.known.map_or(Ok(None), |known| known.get(document))? {
            return Ok(id);
        }
        let row = self.gathered.rows.get(document.into())?;
        Ok(self.gathered.label(&row)?.id)
    }
}

impl SomeMarks<'_> {
    /// The mark of one of the documents; `None` if it is in no cluster.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn get(&self, document: u32) -> Result<Option<Mark>> {
        let decisions = &self.decisions;
        let place = decisions.partition_point(|decision| decision.document < document);
        if let Some(decision) = decisions
            .get(place)
            .filter(|found| found.document == document)
        {
            let is_copy = self.all.clusters.copies.contains(document);
            let [shared, shingles] = decision.verified;
            let is_compared = shingles > 0 && decision.kept != document;
            return Ok(Some(Mark {
                duplicate_of: match is_copy {
                    true => None,
                    false => Some(self.all.id(decision.kept)?),
                },
                cluster: decision.kept,
                cluster_size: self.all.clusters.size(decision.kept)?,
                similarity: is_compared.then(|| f64::from(shared) / f64::from(shingles)),
            }));
        }
        let place = self
            .sizes
            .partition_point(|cluster| cluster.kept < document);
        let own = self.sizes.get(place).filter(|found| found.kept == document);
        Ok(own.map(|cluster| Mark {
            duplicate_of: None,
            cluster: document,
            cluster_size: cluster.size,
            similarity: None,
        }))
    }
}
