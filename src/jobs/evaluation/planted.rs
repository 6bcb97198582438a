//! Ground truth by construction: edited copies of some documents, and pairs of unrelated documents.

use std::collections::BTreeMap;

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::prepared::{Prepared, TEXTS, take_ids};
use crate::engine::Workers;
use crate::engine::collection::{Collection, Inputs, Member};
use crate::engine::memory_account::MemoryAccount;
use crate::engine::sketcher::{Sketched, Sketcher};
use crate::engine::text_words::WordReader;
use crate::evaluate::planted::{Kind, PERCENTS, plant, random_pairs};
use crate::evaluate::{Ids, Pair, Truth};
use crate::sketch::{Method, Needs};
use crate::text::shingles::jaccard;
use crate::{Error, ErrorKind, Result};

/// Documents are unrelated if the Jaccard similarity of their sets of shingles is at most one
/// divided by this number.
const RELATED: u64 = 5;
/// Words in these shingles.
const SHINGLE: usize = 5;
/// The label of pairs that should not be found.
const UNRELATED: &str = "unrelated";

/// Settings of planted copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planting {
    /// The most documents that are copied, and the most random pairs that are drawn.
    pub documents: usize,
    /// The seed of the choice and of the edits.
    pub seed: u64,
}

/// A copy, sketched by all methods.
struct Copy {
    label: String,
    text: Vec<u8>,
    sketched: Vec<Sketched>,
}

impl Planting {
    /// Reads and sketches the documents, plants copies of some, and draws random pairs, of
    /// which it uses the unrelated ones.
    ///
    /// # Errors
    /// Those of reading; [`ErrorKind::Content`] if no document can be copied;
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
        let chosen = self.choose(&collection);
        let drawn = random_pairs(documents, self.documents, self.seed);
        let texts = texts(&collection, inputs, &chosen, &drawn, account)?;
        let copies = workers.install(|| {
            let numbered = chosen.par_iter().enumerate();
            let copies = numbered.map_init(
                || Sketcher::new(methods, inputs.common()),
                |sketcher, (index, number)| {
                    let donor = chosen[(index + 1) % chosen.len()];
                    self.copies(&collection, [*number, donor], &texts, sketcher, account)
                },
            );
            copies.collect::<Result<Vec<Vec<Copy>>>>()
        })?;

        let mut labelled: Vec<(Pair, String)> = Vec::new();
        let mut planted = BTreeMap::new();
        for (&number, copies) in chosen.iter().zip(copies) {
            for copy in copies {
                let copied = collection.members.len() as u32;
                labelled.extend(Pair::new(number, copied).map(|pair| (pair, copy.label.clone())));
                collection.plant(number, &copy);
                planted.insert(copied, copy.text);
            }
        }
        if labelled.is_empty() {
            let message = "no document is long enough to be copied with an edit";
            return Err(Error::new(ErrorKind::Content, message));
        }
        let near = labelled.len();
        let unrelated = unrelated(&drawn, &texts, inputs);
        let related = drawn.len() - unrelated.len();
        labelled.extend(
            unrelated
                .into_iter()
                .map(|pair| (pair, UNRELATED.to_owned())),
        );
        let pairs = labelled.iter().map(|(pair, label)| (*pair, label.as_str()));
        let truth = Truth::labelled(pairs)?;
        take_ids(&collection, account)?;
        let members = collection.members.iter();
        let ids = Ids::of_collection(members.map(|member| &member.id[..]))?;
        let facts = vec![
            ("planted copies".to_owned(), near.to_string()),
            ("documents copied".to_owned(), chosen.len().to_string()),
            ("unrelated pairs drawn".to_owned(), drawn.len().to_string()),
            (
                format!("of these left out, alike in more than 1/{RELATED} of their shingles"),
                related.to_string(),
            ),
            ("seed".to_owned(), self.seed.to_string()),
        ];
        Ok(Prepared {
            collection,
            ids,
            truth,
            planted,
            facts,
        })
    }

    /// The documents to copy, ascending: those whose ids have the smallest hashes, so that the
    /// choice depends on ids and the seed, not on the order of the documents.
    fn choose(&self, collection: &Collection) -> Vec<u32> {
        let hash = |number: &u32| {
            let id = &collection.members[*number as usize].id;
            (xxh3_64_with_seed(id, self.seed), *number)
        };
        let mut numbers: Vec<u32> = (0..collection.members.len() as u32).collect();
        numbers.sort_by_key(hash);
        numbers.truncate(self.documents);
        numbers.sort_unstable();
        numbers
    }

    /// All edited copies of document `number`. Inserted and replacement words are those of the
    /// document `donor`.
    fn copies(
        &self,
        collection: &Collection,
        [number, donor]: [u32; 2],
        texts: &BTreeMap<u32, Vec<u8>>,
        sketcher: &mut Sketcher<'_>,
        account: &MemoryAccount,
    ) -> Result<Vec<Copy>> {
        let [text, donor] =
            [number, donor].map(|number| texts.get(&number).map_or(&[][..], |text| text));
        let id = &collection.members[number as usize].id;
        let mut copies = Vec::new();
        for kind in Kind::ALL {
            for percent in PERCENTS {
                let edit = (kind, percent);
                let Some(planted) = plant(text, donor, edit, self.seed, id) else {
                    continue;
                };
                let mut sketched = sketcher.nothing();
                sketcher.sketch(&planted.text, &mut sketched);
                // Sketches exist twice until they are part of the collection.
                let bytes: usize = sketched.iter().map(Sketched::bytes).sum();
                account.reserve(planted.text.len() + 2 * bytes, TEXTS)?;
                copies.push(Copy {
                    label: kind.label(percent),
                    text: planted.text,
                    sketched,
                });
            }
        }
        Ok(copies)
    }
}

impl Collection {
    /// Adds a copy of a document.
    fn plant(&mut self, number: u32, copy: &Copy) {
        let original = &self.members[number as usize];
        let mut id = original.id.clone();
        id.push(b'#');
        id.extend_from_slice(copy.label.as_bytes());
        self.members.push(Member {
            id,
            place: original.place,
            text_bytes: copy.text.len() as u64,
        });
        let pairs = self.sketched.iter_mut().zip(&copy.sketched);
        pairs.for_each(|(all, more)| all.append(more));
    }
}

/// The texts of the chosen and drawn documents.
fn texts(
    collection: &Collection,
    inputs: Inputs<'_>,
    chosen: &[u32],
    drawn: &[Pair],
    account: &MemoryAccount,
) -> Result<BTreeMap<u32, Vec<u8>>> {
    let drawn = drawn.iter().flat_map(|pair| pair.documents());
    let mut wanted: Vec<u32> = chosen.iter().copied().chain(drawn).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut texts = BTreeMap::new();
    inputs.texts(&collection.members, &wanted, |number, text| {
        account.reserve(text.len(), TEXTS)?;
        texts.insert(number, text);
        Ok(())
    })?;
    Ok(texts)
}

/// The drawn pairs whose documents are unrelated, as [`RELATED`] defines.
fn unrelated(drawn: &[Pair], texts: &BTreeMap<u32, Vec<u8>>, inputs: Inputs<'_>) -> Vec<Pair> {
    let common = inputs.common();
    let mut words = WordReader::new(common.tokenizer, Needs::HASHES, common.level);
    let mut set = |number: u32| {
        let text = texts.get(&number).map_or(&[][..], |text| text);
        words.read(text).shingle_set(SHINGLE).to_vec()
    };
    let far = |pair: &Pair| {
        let [a, b] = pair.documents().map(&mut set);
        let (shared, all) = jaccard(&a, &b);
        RELATED * shared <= all
    };
    drawn.iter().copied().filter(far).collect()
}
