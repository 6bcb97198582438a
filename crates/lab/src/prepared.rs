//! The data of an evaluation before it scores pairs.

use std::collections::BTreeMap;

use crate::Result;
use simtool_core::sketch::{Method, Score};
use simtool_engine::Progress;
use simtool_engine::collection::Collection;
use simtool_engine::memory_account::MemoryAccount;
use simtool_engine::sketcher::Sketched;
use simtool_evaluate::{Cost, Ids, Pair, Truth};

/// Bytes of an id in the table of ids besides its own.
const ID_BYTES: usize = 96;
/// The name of texts in messages.
pub const TEXTS: &str = "texts of documents";

/// Documents, sketches and truth before scoring.
pub struct Prepared {
    /// The documents and their sketches.
    pub collection: Collection,
    /// The ids of all documents.
    pub ids: Ids,
    /// The truth.
    pub truth: Truth,
    /// The texts of planted copies, by number.
    pub planted: BTreeMap<u32, Vec<u8>>,
    /// Further facts, by name.
    pub facts: Vec<(String, String)>,
}

/// Reserves the memory of the table of ids.
///
/// # Errors
/// [`Memory`](crate::ErrorKind::Memory) if it does not fit.
pub fn take_ids(collection: &Collection, account: &MemoryAccount) -> Result<()> {
    let ids = collection.members.iter().map(|member| member.id.len());
    account.reserve(ids.map(|id| id + ID_BYTES).sum(), "ids")
}

/// The measured cost of a method.
pub fn cost(sketched: &Sketched) -> Cost {
    let count = sketched.usable.len().max(1) as f64;
    Cost {
        seconds_per_document: Some(sketched.time.as_secs_f64() / count),
        bytes_per_document: Some(sketched.sketches.bytes.len() as f64 / count),
    }
}

/// A method's scores of pairs; `None` if a document has no features.
///
/// # Errors
/// Interruption.
pub fn scores(
    method: &dyn Method,
    sketched: &Sketched,
    pairs: impl Iterator<Item = Pair>,
    progress: &Progress,
) -> Result<Vec<Option<Score>>> {
    let sketches = sketched.sketches.all(method);
    let score = |pair: Pair| {
        let documents = pair.documents().map(|number| number as usize);
        let usable = documents.iter().all(|&number| sketched.usable[number]);
        let [a, b] = documents.map(|number| sketches.get(number));
        progress.check()?;
        Ok(usable.then(|| method.score(a, b)))
    };
    pairs.map(score).collect()
}
