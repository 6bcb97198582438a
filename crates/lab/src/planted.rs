//! Ground truth by construction: edited copies of some documents, and pairs of documents that are
//! unrelated, or the nearest that are not copies.

use std::collections::{BTreeMap, BTreeSet};

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::hard::{COPIES, MAX_BYTES, MAX_DOCUMENTS, hard_pairs, median, unrelated};
use super::judge::{Aligner, Alignment, MAX_STEPS, alignment_steps};
use super::prepared::{Prepared, TEXTS, take_ids};
use crate::{Error, ErrorKind, Result};
use simtool_core::sketch::{Method, Needs};
use simtool_core::text::OcrSigns;
use simtool_engine::Workers;
use simtool_engine::collection::{Collection, Inputs, Member};
use simtool_engine::memory_account::MemoryAccount;
use simtool_engine::sketcher::{Sketched, Sketcher};
use simtool_engine::text_words::WordReader;
use simtool_evaluate::planted::{Kind, plant, random_pairs};
use simtool_evaluate::{Ids, Pair, Truth};

/// Documents are unrelated if the Jaccard similarity of their sets of shingles is at most one
/// divided by this number.
const RELATED: u64 = 5;
/// Words in these shingles.
const SHINGLE: usize = 5;
/// The labels of pairs that should not be found: random ones, and the nearest.
const UNRELATED: &str = "unrelated";
const HARD: &str = "hard";

/// Settings of planted copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planting {
    /// The maximum number of documents that are copied, and the most random pairs that are drawn.
    pub documents: usize,
    /// The seed of the choice and of the edits.
    pub seed: u64,
    /// The kinds of edits, with percentages.
    pub edits: Vec<(Kind, u32)>,
    /// What a copy has to have in common with its document; others are not planted.
    pub least: Option<Alignment>,
    /// Whether pairs that should not be found are drawn too.
    pub with_far: bool,
}

/// A copy, sketched by all methods.
struct Copy {
    label: String,
    text: Vec<u8>,
    sketched: Vec<Sketched>,
}

impl Planting {
    /// Reads and sketches the documents, and plants copies of some. With `with_far`, draws random
    /// pairs, of which it uses the unrelated ones, and finds hard pairs.
    ///
    /// # Errors
    /// Errors of reading; [`ErrorKind::Content`] if no document can be copied;
    /// [`ErrorKind::Memory`].
    pub(super) fn prepare(
        &self,
        inputs: Inputs<'_>,
        methods: &[Box<dyn Method>],
        workers: &Workers,
        account: &MemoryAccount,
    ) -> Result<Prepared> {
        let mut collection = inputs.collect(methods, account)?;
        let documents = collection.members.len() as u32;
        let order = self.order(&collection);
        let mut chosen = self.chosen(&collection, &order);
        chosen.sort_unstable();
        let (drawn, compared) = match self.with_far {
            true => (
                random_pairs(documents, self.documents, self.seed),
                compared(&collection, &order),
            ),
            false => (Vec::new(), Vec::new()),
        };
        let (texts, sets) = read(&collection, inputs, &chosen, &drawn, &compared, account)?;
        let copies = workers.install(|| {
            let numbered = chosen.par_iter().enumerate();
            let copies = numbered.map_init(
                || {
                    let aligner = |alignment| Aligner::new(alignment, inputs.resources.level);
                    let sketcher = Sketcher::new(methods, inputs.common());
                    (sketcher, self.least.map(aligner))
                },
                |state, (index, number)| {
                    inputs.progress.check()?;
                    let donor = chosen[(index + 1) % chosen.len()];
                    self.copies(&collection, [*number, donor], &texts, state, account)
                },
            );
            copies.collect::<Result<Vec<(Vec<Copy>, usize)>>>()
        })?;

        let different: usize = copies.iter().map(|(_, different)| different).sum();
        let mut labelled: Vec<(Pair, String)> = Vec::new();
        let mut planted = BTreeMap::new();
        for (&number, (copies, _)) in chosen.iter().zip(copies) {
            inputs.progress.check()?;
            for copy in copies {
                let copied = collection.members.len() as u32;
                labelled.extend(Pair::new(number, copied).map(|pair| (pair, copy.label.clone())));
                // The id of the copy begins with that of the document, which may be long.
                let id_bytes = collection.members[number as usize].id.len();
                account.reserve(id_bytes, "ids of planted copies")?;
                append_copy(&mut collection, number, &copy);
                planted.insert(copied, copy.text);
            }
        }
        if labelled.is_empty() {
            let message = "no document is long enough to be copied with an edit";
            return Err(Error::new(ErrorKind::Content, message));
        }
        let mut facts = vec![
            ("planted copies".to_owned(), labelled.len().to_string()),
            ("documents copied".to_owned(), chosen.len().to_string()),
        ];
        if different > 0 {
            let name = "copies not planted, as too little is left of the document";
            facts.push((name.to_owned(), different.to_string()));
        }
        facts.extend(self.missing_noise(&texts));
        if self.with_far {
            let hard = || hard_pairs(&compared, chosen.len(), &sets, inputs.progress);
            let hard = workers.install(hard)?;
            let unrelated = unrelated(&drawn, &sets, RELATED);
            let related = drawn.len() - unrelated.len();
            let median = median(&hard).map_or_else(String::new, |share| format!("{share:.3}"));
            facts.extend([
                ("unrelated pairs drawn".to_owned(), drawn.len().to_string()),
                (
                    format!("of these left out, alike in more than 1/{RELATED} of their shingles"),
                    related.to_string(),
                ),
                (
                    format!(
                        "hard pairs: of a copied document and the nearest of {}, with a similarity \
                         below 0.{}",
                        compared.len(),
                        COPIES / 100
                    ),
                    hard.len().to_string(),
                ),
                ("their median similarity".to_owned(), median),
            ]);
            let random = unrelated
                .into_iter()
                .filter(|pair| !hard.contains_key(pair));
            labelled.extend(random.map(|pair| (pair, UNRELATED.to_owned())));
            labelled.extend(hard.keys().map(|pair| (*pair, HARD.to_owned())));
        }
        facts.push(("seed".to_owned(), self.seed.to_string()));
        let pairs = labelled.iter().map(|(pair, label)| (*pair, label.as_str()));
        let truth = Truth::with_far_class(pairs, Some(HARD))?;
        take_ids(&collection, account)?;
        let members = collection.members.iter();
        let ids = Ids::of_collection(members.map(|member| &member.id[..]))?;
        Ok(Prepared {
            collection,
            ids,
            truth,
            planted,
            facts,
        })
    }

    /// The share of words with wrong characters, as of OCR, if it is large and no copy has such.
    fn missing_noise(&self, texts: &BTreeMap<u32, Vec<u8>>) -> Option<(String, String)> {
        if self.edits.iter().any(|(kind, _)| *kind == Kind::Characters) {
            return None;
        }
        let mut signs = OcrSigns::default();
        texts.values().for_each(|text| signs.add(text));
        let share = format!(
            "{:.1} % (--noise plants copies with such)",
            100.0 * signs.share()?
        );
        Some(("words with wrong characters, as of OCR".to_owned(), share))
    }

    /// All documents, those with the smallest hashes of their ids first, so that the choice depends
    /// on ids and the seed, not on the order of the documents.
    fn order(&self, collection: &Collection) -> Vec<u32> {
        let hash = |number: &u32| {
            let id = &collection.members[*number as usize].id;
            (xxh3_64_with_seed(id, self.seed), *number)
        };
        let mut numbers: Vec<u32> = (0..collection.members.len() as u32).collect();
        numbers.sort_by_key(hash);
        numbers
    }

    /// The documents to copy: the first ones, as many as can be aligned with their copies in about a
    /// minute.
    fn chosen(&self, collection: &Collection, order: &[u32]) -> Vec<u32> {
        let mut steps = 0;
        let fits = |number: &&u32| {
            let length = collection.members[**number as usize].text_bytes;
            let is_first = steps == 0;
            steps += self.edits.len() as u64 * alignment_steps([length; 2]);
            is_first || self.least.is_none() || steps <= MAX_STEPS
        };
        let first = order.iter().take(self.documents);
        first.take_while(fits).copied().collect()
    }

    /// All edited copies of document `number`, and the number of those with too little in common
    /// with it. Inserted and replacement words are those of the document `donor`.
    fn copies(
        &self,
        collection: &Collection,
        [number, donor]: [u32; 2],
        texts: &BTreeMap<u32, Vec<u8>>,
        (sketcher, aligner): &mut (Sketcher<'_>, Option<Aligner>),
        account: &MemoryAccount,
    ) -> Result<(Vec<Copy>, usize)> {
        let [text, donor] =
            [number, donor].map(|number| texts.get(&number).map_or(&[][..], |text| text));
        let id = &collection.members[number as usize].id;
        let (mut copies, mut different) = (Vec::new(), 0);
        for &edit in &self.edits {
            let Some(planted) = plant(text, donor, edit, self.seed, id) else {
                continue;
            };
            if let Some(aligner) = aligner
                && !aligner.is_right([text, &planted.text])
            {
                different += 1;
                continue;
            }
            let mut sketched = sketcher.nothing();
            sketcher.sketch(&planted.text, &mut sketched);
            // Sketches exist twice until they are part of the collection.
            let bytes: usize = sketched.iter().map(Sketched::bytes).sum();
            account.reserve(planted.text.len() + 2 * bytes, TEXTS)?;
            copies.push(Copy {
                label: edit.0.label(edit.1),
                text: planted.text,
                sketched,
            });
        }
        Ok((copies, different))
    }
}

/// Adds a copy of a document.
fn append_copy(collection: &mut Collection, number: u32, copy: &Copy) {
    let original = &collection.members[number as usize];
    let id = [&original.id[..], b"#", copy.label.as_bytes()].concat();
    collection.members.push(Member {
        id,
        place: original.place,
        text_bytes: copy.text.len() as u64,
    });
    let pairs = collection.sketched.iter_mut().zip(&copy.sketched);
    pairs.for_each(|(all, more)| all.append(more));
}

/// The documents among which the nearest are searched: those to be copied first.
fn compared(collection: &Collection, order: &[u32]) -> Vec<u32> {
    let mut bytes = 0;
    let fits = |number: &&u32| {
        bytes += collection.members[**number as usize].text_bytes;
        bytes <= MAX_BYTES
    };
    let first = order.iter().take(MAX_DOCUMENTS);
    first.take_while(fits).copied().collect()
}

/// Texts of documents, and sets of their shingles, by number.
type Read = (BTreeMap<u32, Vec<u8>>, BTreeMap<u32, Vec<u64>>);

/// The texts of the chosen documents, and the shingles of drawn and compared ones.
fn read(
    collection: &Collection,
    inputs: Inputs<'_>,
    chosen: &[u32],
    drawn: &[Pair],
    compared: &[u32],
    account: &MemoryAccount,
) -> Result<Read> {
    let drawn = drawn.iter().flat_map(|pair| pair.documents());
    let with_sets: BTreeSet<u32> = drawn.chain(compared.iter().copied()).collect();
    let wanted: BTreeSet<u32> = with_sets.iter().chain(chosen).copied().collect();
    let wanted: Vec<u32> = wanted.into_iter().collect();
    let common = inputs.common();
    let mut words = WordReader::new(common.tokenizer, Needs::HASHES, common.level);
    let (mut texts, mut sets) = (BTreeMap::new(), BTreeMap::new());
    inputs.texts(&collection.members, &wanted, |number, text| {
        if with_sets.contains(&number) {
            let set = words.read(&text).shingle_set(SHINGLE).to_vec();
            account.reserve(size_of_val(&set[..]), TEXTS)?;
            sets.insert(number, set);
        }
        if chosen.binary_search(&number).is_ok() {
            account.reserve(text.len(), TEXTS)?;
            texts.insert(number, text);
        }
        Ok(())
    })?;
    Ok((texts, sets))
}
