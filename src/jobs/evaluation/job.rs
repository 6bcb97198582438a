//! The settings of an evaluation, and its run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::engine::Workers;
use crate::engine::collection::{Collection, Inputs};
use crate::engine::doubts::Doubts;
use crate::engine::memory_account::MemoryAccount;
use crate::engine::sketcher::Sketched;
use crate::evaluate::{
    Cost, Evaluation, EvaluationSettings, Found, Ids, LabelledPair, Mistakes, Outcome, Truth,
    evaluate,
};
use crate::report::evaluation::ShownDocument;
use crate::sketch::Method;
use crate::sketch::registry::Spec;
use crate::{Error, Result};

use super::bit_means::BitMeans;
use super::join;
use super::planted::Planting;
use super::prepared::{Prepared, TEXTS, take_ids};

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
    /// The shares of set bits in the fingerprints of each method.
    pub bits: Vec<BitMeans>,
    /// The documents of the worst mistakes.
    pub mistaken: BTreeMap<u32, ShownDocument>,
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
        let prepared = self.prepare(inputs, &methods, &workers, &account)?;
        let Prepared {
            mut collection,
            mut ids,
            truth,
            planted,
            facts,
        } = prepared;
        let (mut outcomes, mut bits, mut most_pairs) = (Vec::new(), Vec::new(), 0);
        let all_sketched = std::mem::take(&mut collection.sketched);
        for (spec, (method, sketched)) in self.methods.iter().zip(methods.iter().zip(all_sketched))
        {
            let sketches = sketched.sketches.all(&**method).iter();
            let usable = sketches
                .zip(&sketched.usable)
                .filter(|(_, usable)| **usable);
            let usable = usable.map(|(sketch, _)| sketch);
            bits.push(BitMeans::of(method.shape(), usable));
            let scored = Scored::new(&**method, &sketched, &truth);
            let (cost, sketched_bytes) = (cost(&sketched), sketched.bytes());
            let join = || join::all_pairs(&**method, sketched, &inputs, &account);
            let found = match self.join {
                true => Some(workers.install(join)?),
                false => None,
            };
            account.release(sketched_bytes);
            let pairs = found.as_ref().map_or(0, |found| found.pairs().len());
            most_pairs = pairs.max(most_pairs);
            outcomes.push(Outcome {
                name: spec.name(),
                parameters: spec.list(),
                scores: scored.scores,
                accepted: scored.accepted,
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
            join::MEASURED_BYTES * most_pairs,
            "the found pairs of a method",
        )?;
        let evaluation = evaluate(&truth, &outcomes, self.settings)?;
        account.release(join::MEASURED_BYTES * most_pairs);
        let mistaken = mistaken(&evaluation, &collection, planted, inputs, &account)?;
        Ok(Report {
            documents: collection.members.len() as u64,
            skipped: collection.skipped.len() as u64,
            doubts: collection.doubts,
            truth,
            ids,
            outcomes,
            evaluation,
            bits,
            mistaken,
            facts,
        })
    }

    fn prepare(
        &self,
        inputs: Inputs<'_>,
        methods: &[Box<dyn Method>],
        workers: &Workers,
        account: &MemoryAccount,
    ) -> Result<Prepared> {
        if let TruthSource::Planted(planting) = &self.truth {
            return planting.prepare(inputs, methods, workers, account);
        }
        let collection = inputs.collect(methods, account)?;
        take_ids(&collection, account)?;
        let members = collection.members.iter();
        let mut ids = Ids::of_collection(members.map(|member| &member.id[..]))?;
        let truth = match &self.truth {
            TruthSource::Pairs(file) => Truth::from_pairs(&file.bytes, &mut ids)
                .map_err(|error| error.in_file(&file.path))?,
            TruthSource::Clusters(file) => Truth::from_clusters(&file.bytes, &mut ids)
                .map_err(|error| error.in_file(&file.path))?,
            TruthSource::Planted(_) => Truth::labelled([])?,
        };
        let truth = match self.closed_world {
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

/// A method's scores of the listed pairs.
struct Scored {
    scores: Vec<Option<crate::sketch::Score>>,
    accepted: Vec<bool>,
}

impl Scored {
    fn new(method: &dyn Method, sketched: &Sketched, truth: &Truth) -> Scored {
        let sketches = sketched.sketches.all(method);
        let score = |listed: &LabelledPair| {
            let documents = listed.pair.documents().map(|number| number as usize);
            let usable = documents.iter().all(|&number| sketched.usable[number]);
            let [a, b] = documents.map(|number| sketches.get(number));
            usable.then(|| method.score(a, b))
        };
        let scores: Vec<_> = truth.pairs().iter().map(score).collect();
        let accepted = scores
            .iter()
            .map(|score| score.is_some_and(|score| method.accepts(&score)));
        Scored {
            accepted: accepted.collect(),
            scores,
        }
    }
}

fn cost(sketched: &Sketched) -> Cost {
    let count = sketched.usable.len().max(1) as f64;
    Cost {
        seconds_per_document: Some(sketched.time.as_secs_f64() / count),
        bytes_per_document: Some(sketched.sketches.bytes.len() as f64 / count),
    }
}

/// Ids and texts of the documents of the worst mistakes.
fn mistaken(
    evaluation: &Evaluation,
    collection: &Collection,
    mut planted: BTreeMap<u32, Vec<u8>>,
    inputs: Inputs<'_>,
    account: &MemoryAccount,
) -> Result<BTreeMap<u32, ShownDocument>> {
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
    let mut shown: BTreeMap<u32, ShownDocument> = BTreeMap::new();
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
