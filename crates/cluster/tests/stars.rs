//! The steps of a job, driven as an engine drives them, against the comparison of all pairs.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, BinaryArray, BooleanArray, Int64Array, RecordBatch, StringArray};
use proptest::prelude::*;
use simtool_cluster::{Settings, Task};
use simtool_core::kernel::Level;
use simtool_core::sketch::{Needs, digest};
use simtool_engine::text_words::WordReader;

type Column = (&'static str, ArrayRef);

fn batch<const N: usize>(columns: [Column; N]) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true)))
        .unwrap()
}

fn longs(values: impl IntoIterator<Item = i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}

fn bytes<T: AsRef<[u8]>>(values: impl IntoIterator<Item = T>) -> ArrayRef {
    Arc::new(BinaryArray::from_iter_values(values))
}

fn numbers(batch: &RecordBatch, name: &str) -> Vec<i64> {
    let column = batch.column_by_name(name).unwrap();
    column.as_primitive::<Int64Type>().values().to_vec()
}

fn blobs(batch: &RecordBatch, name: &str) -> Vec<Option<Vec<u8>>> {
    let column = batch.column_by_name(name).unwrap().as_binary::<i32>();
    column.iter().map(|blob| blob.map(<[u8]>::to_vec)).collect()
}

/// A job with some settings.
struct Job(serde_json::Value);

impl Job {
    fn settings(&self, more: &serde_json::Value) -> String {
        let mut all = self.0.clone();
        let more = more.as_object().unwrap().clone();
        all.as_object_mut().unwrap().extend(more);
        all.to_string()
    }

    /// The result of a step on the rows of one task.
    fn step(
        &self,
        name: &str,
        rows: impl IntoIterator<Item = RecordBatch>,
        more: &serde_json::Value,
        extra: &[u8],
    ) -> Vec<RecordBatch> {
        let temporary = std::env::temp_dir();
        let mut task = Task::new(name, &self.settings(more), extra, &temporary).unwrap();
        let mut made = Vec::new();
        for rows in rows {
            task.push(&rows).unwrap();
            made.extend(std::iter::from_fn(|| task.take().unwrap()));
        }
        task.end().unwrap();
        made.extend(std::iter::from_fn(|| task.take().unwrap()));
        made
    }

    /// A step on records that travel in blobs: each part is a task.
    fn exchanged(
        &self,
        first: &str,
        second: &str,
        rows: RecordBatch,
        more: &serde_json::Value,
        extra: &[u8],
    ) -> Vec<RecordBatch> {
        let mut parts: BTreeMap<i32, Vec<Vec<u8>>> = BTreeMap::new();
        for batch in self.step(first, [rows], more, extra) {
            let of = batch.column_by_name("part").unwrap();
            let of = of.as_primitive::<arrow_array::types::Int32Type>();
            for (part, records) in of.values().iter().zip(blobs(&batch, "records")) {
                parts.entry(*part).or_default().push(records.unwrap());
            }
        }
        let tasks = parts.into_values();
        let results = tasks.map(|blobs| {
            let rows = batch([("records", bytes(blobs))]);
            self.step(second, [rows], more, &[])
        });
        results.flatten().collect()
    }

    /// The ranks of removed leaders, and the documents of all leaders.
    fn removed(&self, texts: &[String], first_candidates: usize) -> (BTreeSet<i64>, Vec<i64>) {
        let none = serde_json::json!({});
        let count = texts.len() as i64;
        let ids: ArrayRef = Arc::new(StringArray::from_iter_values(
            (0..count).map(|id| id.to_string()),
        ));
        let rows = batch([
            ("doc", longs(0..count)),
            ("id", ids),
            ("text", bytes(texts)),
        ]);
        let rows = self.step("sketch", [rows], &none, &[]).remove(0);
        let rows = sorted(&rows, &["digest", "sort"]);
        let mut leaders: Vec<(Vec<u8>, Vec<u8>, Vec<u8>)> = Vec::new();
        for batch in self.step("leaders", [rows], &none, &[]) {
            let [docs, of, sorts, sketches] =
                ["doc", "leader", "sort", "sketch"].map(|name| blobs(&batch, name));
            for row in 0..batch.num_rows() {
                if of[row].is_none() {
                    let some = |values: &[Option<Vec<u8>>]| values[row].clone().unwrap();
                    leaders.push((some(&sorts), some(&docs), some(&sketches)));
                }
            }
        }
        leaders.sort();
        let documents: Vec<i64> = leaders.iter().map(|(_, doc, _)| document(doc)).collect();
        let ranks = || longs(0..leaders.len() as i64);
        let sketches = || bytes(leaders.iter().map(|(.., sketch)| sketch));
        let more = serde_json::json!({"parts": 3, "leaders": leaders.len()});
        let keyed = batch([("rank", ranks()), ("sketch", sketches())]);
        let near = self.exchanged("keys", "near", keyed, &more, &[]);
        let texts = bytes(documents.iter().map(|document| &texts[*document as usize]));
        let rows = batch([("key", ranks()), ("text", texts)]);
        let sets = self.step("sets", [rows], &none, &[]).remove(0);
        let sets: Vec<Vec<u8>> = blobs(&sets, "set").into_iter().flatten().collect();

        let crowded: BTreeSet<i64> = near
            .iter()
            .flat_map(|batch| {
                numbers(batch, "rank")
                    .into_iter()
                    .zip(blobs(batch, "others"))
            })
            .filter_map(|(rank, others)| others.is_none().then_some(rank))
            .collect();
        // Shared elements are behind the others, so that a prefix finds a pair by its last ones.
        let rows = batch([("set", bytes(&sets))]);
        let more = serde_json::json!({"parts": 2, "least": 2});
        let counted = self.exchanged("elements", "frequent", rows, &more, &[]);
        let frequent = counted.iter().flat_map(|batch| {
            let elements = numbers(batch, "element");
            numbers(batch, "count").into_iter().zip(elements)
        });
        let frequent: BTreeSet<(i64, i64)> = frequent.collect();
        let frequent = frequent
            .into_iter()
            .flat_map(|(_, element)| element.to_le_bytes());
        let sets = (sets, frequent.collect());
        let all = BTreeMap::from_iter((0..leaders.len() as i64).map(|rank| (rank, -1)));
        let (mut pairs, mut cuts) = (BTreeSet::new(), BTreeMap::<i64, i64>::new());
        let (mut removed, mut frontier) = (BTreeSet::new(), all);
        for round in 0.. {
            let most = first_candidates << round;
            let found = self.proposed(&near, &crowded, &sets, &removed, &frontier, most);
            cuts.retain(|member, _| !frontier.contains_key(member));
            cuts.extend(
                found
                    .iter()
                    .filter(|pair| pair.2)
                    .map(|pair| (pair.0, pair.1)),
            );
            pairs.extend(self.verified(&found, &leaders, &sets.0));
            let settled = self.settled(&pairs, &cuts);
            removed = settled
                .iter()
                .filter(|row| row.1.is_none())
                .map(|row| row.0)
                .collect();
            frontier = settled
                .iter()
                .filter_map(|row| Some((row.0, row.1?)))
                .collect();
            if frontier.is_empty() {
                break;
            }
        }
        (removed, documents)
    }

    /// The candidates of the documents of a frontier, each once; `sets` with the frequent elements.
    fn proposed(
        &self,
        near: &[RecordBatch],
        crowded: &BTreeSet<i64>,
        sets: &(Vec<Vec<u8>>, Vec<u8>),
        removed: &BTreeSet<i64>,
        frontier: &BTreeMap<i64, i64>,
        most: usize,
    ) -> Vec<(i64, i64, bool)> {
        let none = serde_json::json!({});
        let mut pairs = Vec::new();
        for rows in near {
            let rows: Vec<(i64, Vec<u8>)> = numbers(rows, "rank")
                .into_iter()
                .zip(blobs(rows, "others"))
                .filter_map(|(rank, others)| Some((rank, others?)))
                .filter(|(rank, _)| frontier.contains_key(rank))
                .collect();
            let rows = batch([
                ("rank", longs(rows.iter().map(|row| row.0))),
                ("others", bytes(rows.iter().map(|row| &row.1))),
                ("frontier", longs(rows.iter().map(|row| frontier[&row.0]))),
            ]);
            pairs.extend(self.step("listed", [rows], &none, &[]));
        }
        let labels = crowded
            .iter()
            .map(|rank| removed.contains(rank).then_some(-1));
        let frontiers = crowded.iter().map(|rank| frontier.get(rank).copied());
        let rows = batch([
            ("rank", longs(crowded.iter().copied())),
            (
                "set",
                bytes(crowded.iter().map(|rank| &sets.0[*rank as usize])),
            ),
            ("label", Arc::new(labels.collect::<Int64Array>())),
            ("frontier", Arc::new(frontiers.collect::<Int64Array>())),
        ]);
        let more = serde_json::json!({"parts": 2, "most": most});
        pairs.extend(self.exchanged("prefix", "pairs", rows, &more, &sets.1));
        let mut found: Vec<(i64, i64, bool)> = pairs.iter().flat_map(pair_rows).collect();
        found.sort_unstable();
        let rows = pair_batch(&found);
        let first = self.step("first", [rows], &none, &[]);
        first.iter().flat_map(pair_rows).collect()
    }

    fn verified(
        &self,
        found: &[(i64, i64, bool)],
        leaders: &[(Vec<u8>, Vec<u8>, Vec<u8>)],
        sets: &[Vec<u8>],
    ) -> Vec<(i64, i64)> {
        let members: BTreeSet<i64> = found.iter().map(|pair| pair.0).collect();
        let own = members.into_iter().map(|member| (member, -1));
        let pairs = found.iter().map(|pair| (pair.0, pair.1));
        let rows: BTreeSet<(i64, i64)> = own.chain(pairs).collect();
        let other = |row: &(i64, i64)| if row.1 < 0 { row.0 } else { row.1 } as usize;
        let rows = batch([
            ("member", longs(rows.iter().map(|row| row.0))),
            ("earlier", longs(rows.iter().map(|row| row.1))),
            (
                "sketch",
                bytes(rows.iter().map(|row| &leaders[other(row)].2)),
            ),
            ("set", bytes(rows.iter().map(|row| &sets[other(row)]))),
        ]);
        let made = self.step("verify", [rows], &serde_json::json!({}), &[]);
        let pairs = made.iter().flat_map(|batch| {
            let earlier = numbers(batch, "earlier");
            numbers(batch, "member").into_iter().zip(earlier)
        });
        pairs.collect()
    }

    fn settled(
        &self,
        pairs: &BTreeSet<(i64, i64)>,
        cuts: &BTreeMap<i64, i64>,
    ) -> Vec<(i64, Option<i64>)> {
        let known = pairs.iter().map(|pair| (pair.0, pair.1, false));
        let cut = cuts
            .iter()
            .map(|(member, earlier)| (*member, *earlier, true));
        let mut rows: Vec<_> = known.chain(cut).collect();
        rows.sort_unstable();
        let made = self.step("settle", [pair_batch(&rows)], &serde_json::json!({}), &[]);
        let rows = made.iter().flat_map(|batch| {
            let frontiers = batch.column_by_name("frontier").unwrap();
            let frontiers: Vec<Option<i64>> =
                frontiers.as_primitive::<Int64Type>().iter().collect();
            numbers(batch, "member").into_iter().zip(frontiers)
        });
        rows.collect()
    }
}

fn pair_batch(pairs: &[(i64, i64, bool)]) -> RecordBatch {
    batch([
        ("member", longs(pairs.iter().map(|pair| pair.0))),
        ("earlier", longs(pairs.iter().map(|pair| pair.1))),
        (
            "cut",
            Arc::new(
                pairs
                    .iter()
                    .map(|pair| Some(pair.2))
                    .collect::<BooleanArray>(),
            ),
        ),
    ])
}

fn pair_rows(batch: &RecordBatch) -> Vec<(i64, i64, bool)> {
    let cuts = batch.column_by_name("cut").unwrap().as_boolean();
    let pairs = numbers(batch, "member")
        .into_iter()
        .zip(numbers(batch, "earlier"));
    let rows = pairs.enumerate();
    rows.map(|(row, (member, earlier))| (member, earlier, cuts.value(row)))
        .collect()
}

/// The number of a document: a byte for its collection, then a number with its sign inverted.
fn document(doc: &[u8]) -> i64 {
    let bits = u64::from_be_bytes(doc[1..].try_into().unwrap());
    (bits ^ 1 << 63).cast_signed()
}

/// The rows sorted by binary columns.
fn sorted(rows: &RecordBatch, by: &[&str]) -> RecordBatch {
    let keys: Vec<_> = by.iter().map(|name| blobs(rows, name)).collect();
    let mut order: Vec<usize> = (0..rows.num_rows()).collect();
    order.sort_by_key(|row| keys.iter().map(|key| key[*row].clone()).collect::<Vec<_>>());
    let slices = order.iter().map(|row| rows.slice(*row, 1));
    let states = slices.filter(|row| {
        let state = row.column_by_name("state").unwrap();
        state
            .as_primitive::<arrow_array::types::Int32Type>()
            .value(0)
            <= 1
    });
    let slices: Vec<RecordBatch> = states.collect();
    let schema = rows.schema();
    arrow_select::concat::concat_batches(&schema, &slices).unwrap()
}

/// The documents that stay of those without an earlier one of the same words, all pairs compared.
fn naive(settings: &Settings, texts: &[String]) -> (BTreeSet<i64>, Vec<i64>) {
    let method = settings.build().unwrap();
    let verification = settings.verification().unwrap();
    let mut words = WordReader::new(
        settings.tokenizer().unwrap(),
        method.needs().and(Needs::HASHES),
        Level::best(),
    );
    let mut seen = HashSet::new();
    let mut leaders: Vec<(Vec<u8>, HashSet<u64>, Vec<u64>)> = Vec::new();
    let mut documents = Vec::new();
    for (document, text) in (0..).zip(texts) {
        let mut words = words.read(text.as_bytes());
        let count = words.hashes().len();
        let is_new = seen.insert(digest::of_words(words.hashes()));
        let mut sketch = Vec::new();
        if words.sketch(&*method, &mut sketch) && count >= method.least_words() && is_new {
            let mut keys = HashSet::new();
            method.keys(&sketch, &mut |key| keys.extend([key]));
            let set = words.shingle_set(verification.shingle).to_vec();
            leaders.push((sketch, keys, set));
            documents.push(document);
        }
    }
    let mut removed: HashMap<usize, bool> = HashMap::new();
    for later in 0..leaders.len() {
        let is_removed = (0..later).any(|earlier| {
            let (a, b) = (&leaders[earlier], &leaders[later]);
            !removed[&earlier]
                && !a.1.is_disjoint(&b.1)
                && method.accepts(&method.score(&a.0, &b.0))
                && verification.least.reached(&a.2, &b.2).is_some()
        });
        removed.insert(later, is_removed);
    }
    let removed = removed.into_iter().filter(|(_, is_removed)| *is_removed);
    (removed.map(|(rank, _)| rank as i64).collect(), documents)
}

/// Texts of a few words, of which many are near each other.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let edits = prop::collection::vec((0..30_usize, 0..9_u8), 0..6);
    let text = (0..3_u8, edits).prop_map(|(template, edits)| {
        let mut words: Vec<String> = (0..30).map(|word| format!("w{template}x{word}")).collect();
        for (place, word) in edits {
            words[place] = format!("e{word}");
        }
        words.join(" ")
    });
    prop::collection::vec(text, 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn steps_remove_what_all_pairs_remove(
        texts in texts(), most in 1..4_usize, tenths in 2..8_u8, with_shingles: bool,
    ) {
        let mut settings = serde_json::json!({"similarity": f64::from(tenths) / 10.0, "shingle": 2});
        if with_shingles {
            settings["method"] = "shingles".into();
        }
        let expected = naive(&Settings::parse(&settings.to_string()).unwrap(), &texts);
        prop_assert_eq!(Job(settings).removed(&texts, most), expected);
    }
}

#[test]
fn unknown_steps_and_settings_are_refused() {
    let temporary = std::env::temp_dir();
    let refused = |name, settings| {
        let made = Task::new(name, settings, &[], &temporary);
        made.map(drop).unwrap_err().to_string()
    };
    assert_eq!(refused("fold", "{}"), "there is no step fold");
    assert!(refused("keys", "{\"metod\": 1}").contains("metod"));
    assert!(refused("keys", "{\"similarity\": 2}").contains("similarity 2"));
}
