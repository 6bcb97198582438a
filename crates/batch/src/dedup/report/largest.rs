//! The largest clusters, described for people.

use serde::{Deserialize, Serialize};

use crate::Result;
use simtool_engine::documents::source_of;

use super::beginnings::Beginnings;
use crate::dedup::decisions::clusters::{Clusters, LargeCluster};
use crate::dedup::decisions::known::KnownIds;
use crate::table::document_table::DocumentTable;

/// A cluster of very many documents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LargestCluster {
    /// The cluster, as the reports number it.
    pub cluster: u32,
    /// All documents, the kept one included.
    pub size: u64,
    /// Members with the same text as the kept document.
    pub same_text: u64,
    /// Members with another text, but the same words in the same order.
    pub same_words: u64,
    /// Members that a newer document with the same URL replaces.
    pub same_url: u64,
    /// Other members.
    pub near: u64,
    /// The least similarity of these to the kept document, with six decimals; `None` if none was
    /// compared with it.
    pub least_similarity: Option<f64>,
    /// The kept document.
    pub kept: ShownDocument,
    /// The last member in keep order.
    pub last: ShownDocument,
}

/// A document with the beginning of its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownDocument {
    /// Its id, or file and place.
    pub id: String,
    /// Its file; `None` if it is only known to an index.
    pub file: Option<String>,
    /// Where it starts in the file, as in the reports.
    pub start: Option<u64>,
    /// The member of a compressed file that this counts from.
    pub member: Option<u64>,
    /// The first 100 characters of its text; `None` if they could not be read again cheaply.
    pub beginning: Option<String>,
}

/// Describes documents.
pub(crate) struct Shown<'a> {
    /// All documents.
    pub table: &'a DocumentTable,
    /// Known documents, if the input was compared with an index.
    pub known: Option<&'a KnownIds>,
    /// Reads texts again.
    pub beginnings: Beginnings<'a>,
}

impl Shown<'_> {
    /// The largest clusters, by size.
    ///
    /// # Errors
    /// Errors of reading inputs and work files; interruption.
    pub fn largest(&self, clusters: &Clusters) -> Result<Vec<LargestCluster>> {
        let describe = |cluster: &LargeCluster| {
            let share = |[shared, shingles]: [u32; 2]| {
                // Rounded, so that the number that is parsed is the one that was written.
                (f64::from(shared) / f64::from(shingles) * 1e6).round() / 1e6
            };
            Ok(LargestCluster {
                cluster: cluster.kept,
                size: cluster.size,
                same_text: cluster.same_text,
                same_words: cluster.same_words,
                same_url: cluster.same_url,
                near: cluster.near,
                least_similarity: cluster.least.map(share),
                kept: self.document(cluster.kept)?,
                last: self.document(cluster.last)?,
            })
        };
        clusters.largest.iter().map(describe).collect()
    }

    /// A document.
    ///
    /// # Errors
    /// Errors of reading inputs and work files; interruption.
    pub fn document(&self, number: u32) -> Result<ShownDocument> {
        if let Some(id) = self.known.map_or(Ok(None), |known| known.get(number))? {
            return Ok(ShownDocument {
                id: String::from_utf8_lossy(&id).into_owned(),
                file: None,
                start: None,
                member: None,
                beginning: None,
            });
        }
        let row = self.table.rows.get(number.into())?;
        let source = source_of(self.beginnings.sources, row.place.source)?;
        let at = simtool_report::json_lines::At::new("", row.place);
        Ok(ShownDocument {
            id: String::from_utf8_lossy(&self.table.label(&row)?.id).into_owned(),
            file: Some(source.path.to_string_lossy().into_owned()),
            start: Some(at.start),
            member: at.member,
            beginning: self.beginnings.of(&row)?,
        })
    }
}
