//! The settings of an evaluation, and its run.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Error, Result};
use simtool_core::sketch::Score;
use simtool_core::sketch::registry::Spec;
use simtool_engine::Workers;
use simtool_engine::collection::{Collection, Inputs};
use simtool_engine::doubts::Doubts;
use simtool_engine::memory_account::MemoryAccount;
use simtool_evaluate::{
    Evaluation, EvaluationSettings, Found, Ids, Mistakes, Outcome, Truth, evaluate,
};
use simtool_report::evaluation::MistakeDocument;

use super::join;
use super::prepared::{Prepared, TEXTS, cost, scores};
use super::source::{NamedFile, TruthSource};

/// The settings of an evaluation.
#[derive(Clone, Debug)]
pub struct Job {
    /// The methods.
    pub methods: Vec<Spec>,
    /// The truth.
    pub truth: TruthSource,
    /// Whether pairs that are not listed count as far.
    pub closed_world: bool,
    /// Whether to search all pairs of the collection with each method, for clusters and for
    /// unlisted false hits.
    pub join: bool,
    /// The matches of other tools.
    pub matches: Vec<NamedFile>,
    /// Intervals, operating point, mistakes.
    pub settings: EvaluationSettings,
}

/// The results of an evaluation.
#[derive(Debug)]
pub struct Report {
    /// The truth.
    pub truth: Truth,
    /// The ids of all documents.
    pub ids: Ids,
    /// The scores and matches of each method.
    pub outcomes: Vec<Outcome>,
    /// The measures of quality.
    pub evaluation: Evaluation,
    /// The documents of the worst mistakes.
    pub mistaken: BTreeMap<u32, MistakeDocument>,
    /// The number of documents, including planted ones.
    pub documents: u64,
    /// The number of documents that could not be read.
    pub skipped: u64,
    /// Documents whose characters may be wrong.
    pub doubts: Doubts,
    /// Further facts, by name.
    pub facts: Vec<(String, String)>,
}

impl Job {
    /// Evaluates all methods in one pass over the documents. Further passes count corpus
    /// statistics, and read texts for planted copies and for the worst mistakes. Deterministic
    /// except for the costs.
    ///
    /// # Errors
    /// [`Content`](crate::ErrorKind::Content), with file and line, for a truth or matches that are
    /// malformed or name unknown documents; [`Memory`](crate::ErrorKind::Memory) if sketches or
    /// found pairs do not fit; those of building methods and of reading.
    pub fn run(&self, inputs: Inputs<'_>) -> Result<Report> {
        let methods = inputs.methods(&self.methods)?;
        let workers = Workers::new(inputs.resources.threads)?;
        let account = inputs.memory_account()?;
        let Prepared {
            mut collection,
            mut ids,
            truth,
            planted,
            facts,
        } = self
            .truth
            .prepare(self.closed_world, inputs, &methods, &workers, &account)?;
        let (mut outcomes, mut max_pairs) = (Vec::new(), 0);
        let all_sketched = std::mem::take(&mut collection.sketched);
        for (spec, (method, sketched)) in self.methods.iter().zip(methods.iter().zip(all_sketched))
        {
            let listed = truth.pairs().iter().map(|listed| listed.pair);
            let scores = scores(&**method, &sketched, listed, inputs.progress)?;
            let accepts = |score: &Option<Score>| score.is_some_and(|score| method.accepts(&score));
            let accepted = scores.iter().map(accepts).collect();
            let (cost, sketched_bytes) = (cost(&sketched), sketched.bytes());
            let join = || join::all_pairs(&**method, sketched, &inputs, &account);
            let found = match self.join {
                true => Some(workers.install(join)?),
                false => None,
            };
            account.release(sketched_bytes);
            let pairs = found.as_ref().map_or(0, |found| found.pairs().len());
            max_pairs = pairs.max(max_pairs);
            outcomes.push(Outcome {
                name: spec.name(),
                parameters: spec.list(),
                scores,
                accepted,
                found,
                cost,
            });
        }
        for matches in &self.matches {
            let named = |error: Error| error.in_file(&matches.path);
            let found = Found::parse(&matches.bytes, &mut ids).map_err(named)?;
            let name = matches.path.to_string_lossy().into_owned();
            outcomes.push(Outcome::of_matches(name, &truth, found));
        }
        account.reserve(
            join::MEASURED_BYTES * max_pairs,
            "the found pairs of a method",
        )?;
        let evaluation = evaluate(&truth, &outcomes, self.settings)?;
        account.release(join::MEASURED_BYTES * max_pairs);
        let mistaken = mistaken(&evaluation, &collection, planted, inputs, &account)?;
        Ok(Report {
            documents: collection.members.len() as u64,
            skipped: collection.skipped.len() as u64,
            doubts: collection.doubts,
            truth,
            ids,
            outcomes,
            evaluation,
            mistaken,
            facts,
        })
    }
}

/// Ids and texts of the documents of the worst mistakes.
fn mistaken(
    evaluation: &Evaluation,
    collection: &Collection,
    mut planted: BTreeMap<u32, Vec<u8>>,
    inputs: Inputs<'_>,
    account: &MemoryAccount,
) -> Result<BTreeMap<u32, MistakeDocument>> {
    let listed = |mistakes: &Mistakes| {
        let all = mistakes.false_hits.iter().chain(&mistakes.misses);
        all.flat_map(|mistake| mistake.pair.documents())
            .collect::<Vec<u32>>()
    };
    let wanted: BTreeSet<u32> = evaluation
        .methods
        .iter()
        .flat_map(|method| listed(&method.mistakes))
        .collect();
    let mut shown: BTreeMap<u32, MistakeDocument> = BTreeMap::new();
    let mut to_read = Vec::new();
    for &number in &wanted {
        let document = shown.entry(number).or_default();
        document.name = collection.members[number as usize].id.clone();
        match planted.remove(&number) {
            Some(text) => document.text = text,
            None => to_read.push(number),
        }
    }
    inputs.texts(&collection.members, &to_read, |number, text| {
        account.reserve(text.len(), TEXTS)?;
        if let Some(document) = shown.get_mut(&number) {
            document.text = text;
        }
        Ok(())
    })?;
    Ok(shown)
}
