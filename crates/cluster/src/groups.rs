//! Groups of documents that are compared only with each other.
//!
//! Each group has a mask. Digests, keys and shingles are combined with it, so documents of two groups
//! have none in common, and no further step knows of groups.

use std::path::Path;

use arrow_array::RecordBatch;
use simtool_batch::dedup::Scope;
use simtool_core::Result;

use crate::columns::Texts;
use crate::numbers::mixed;
use crate::settings::Settings;

/// The groups of a scope.
pub struct Groups(Scope);

/// The columns of a batch that say to which groups its documents belong.
pub struct GroupColumns {
    urls: Option<Texts>,
    values: Vec<Texts>,
}

impl Groups {
    /// The groups of a job; `None` if all documents are compared.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](simtool_core::ErrorKind::Parameter).
    pub fn new(settings: &Settings) -> Result<Option<Groups>> {
        let scope = settings.within()?;
        Ok((scope != Scope::Global).then_some(Groups(scope)))
    }

    /// The columns `url`, and `g0`, `g1`, … for the fields of the scope.
    pub fn columns(&self, batch: &RecordBatch) -> GroupColumns {
        let named = |name: &str| batch.column_by_name(name).and_then(Texts::of);
        let fields = 0..self.0.fields().len();
        GroupColumns {
            urls: named("url"),
            values: fields
                .filter_map(|number| named(&format!("g{number}")))
                .collect(),
        }
    }

    /// The mask of the group of a row with this text.
    pub fn mask(&self, columns: &GroupColumns, row: usize, text: &[u8]) -> u64 {
        let url = columns.urls.as_ref().and_then(|urls| urls.get(row));
        let values = columns.values.iter().filter_map(|values| values.get(row));
        let values = values.filter(|value| !value.is_empty());
        let url = url.unwrap_or_default();
        let group = self.0.group_of(Path::new(""), url, values, text);
        mixed(group.unwrap_or_default())
    }
}
