//! The source of the truth.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::planted::Planting;
use super::prepared::{Prepared, take_ids};
use crate::Result;
use simtool_core::sketch::Method;
use simtool_engine::Workers;
use simtool_engine::collection::Inputs;
use simtool_engine::memory_account::MemoryAccount;
use simtool_evaluate::{Ids, Truth};

/// A file with its contents.
#[derive(Clone, Debug)]
pub struct NamedFile {
    /// The path, for messages.
    pub path: PathBuf,
    /// The contents.
    pub bytes: Vec<u8>,
}

/// The source of the truth.
#[derive(Clone, Debug)]
pub enum TruthSource {
    /// Labelled pairs.
    Pairs(NamedFile),
    /// Clusters of documents.
    Clusters(NamedFile),
    /// Edited copies that are made of some documents.
    Planted(Planting),
}

impl TruthSource {
    /// Reads and sketches the documents and planted copies, and reads or makes the truth. In a
    /// `closed_world`, pairs that are not listed are far.
    ///
    /// # Errors
    /// Errors of reading; [`Content`](crate::ErrorKind::Content) for a malformed truth;
    /// [`Memory`](crate::ErrorKind::Memory).
    pub(super) fn prepare(
        &self,
        closed_world: bool,
        inputs: Inputs<'_>,
        methods: &[Box<dyn Method>],
        workers: &Workers,
        account: &MemoryAccount,
    ) -> Result<Prepared> {
        let file = match self {
            TruthSource::Planted(planting) => {
                return planting.prepare(inputs, methods, workers, account);
            }
            TruthSource::Pairs(file) | TruthSource::Clusters(file) => file,
        };
        let collection = inputs.collect(methods, account)?;
        take_ids(&collection, account)?;
        let members = collection.members.iter();
        let mut ids = Ids::of_collection(members.map(|member| &member.id[..]))?;
        let truth = match self {
            TruthSource::Clusters(_) => Truth::from_clusters(&file.bytes, &mut ids),
            _ => Truth::from_pairs(&file.bytes, &mut ids),
        };
        let truth = truth.map_err(|error| error.in_file(&file.path))?;
        let truth = match closed_world {
            true => truth.closed_world(collection.members.len()),
            false => truth,
        };
        Ok(Prepared {
            collection,
            ids,
            truth,
            planted: BTreeMap::new(),
            facts: Vec::new(),
        })
    }
}
