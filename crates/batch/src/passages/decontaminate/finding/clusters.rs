//! Clusters: n-grams of one item that are near each other in a document.
//!
//! A place of a document has an item if an n-gram of the item begins there. A cluster of an item is a
//! largest set of places that have it, with at most a number of other places between neighbours. Its
//! share is that of the weights of the item's different n-grams that are in it. An n-gram of df of N
//! items weighs ln(1 + N / df), so that what many items have in common counts little.
//!
//! A document may have common n-grams of all items. Clusters are followed for the items of which it
//! also has a rare n-gram, and for those whose common n-grams suffice for a cluster. Of the latter,
//! items with the same common n-grams have the same clusters, so one of them is followed for all.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use ahash::AHashMap;
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use crate::passages::decontaminate::index::{COMMON_PLACES, Index, NgramHit};
use crate::passages::decontaminate::items::Items;

/// Weights are multiples of this part of 1, so that sums are exact.
const UNIT: f64 = 65_536.0;

/// Which clusters count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NgramClusterRule {
    /// The most places without the item between neighbours.
    pub most_gap: usize,
    /// The least share of the weights of an item's n-grams, in thousandths.
    pub thousandths: u32,
    /// How many words before and after a cluster the answer of the item may be, if it has one.
    pub answer_within: usize,
}

/// A cluster that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// The item.
    pub item: usize,
    /// The words of the document.
    pub words: Range<usize>,
    /// The number of different n-grams of the item.
    pub grams: u32,
}

/// The weights of n-grams and items.
pub struct Weights {
    grams: Vec<u32>,
    items: Vec<u64>,
    /// The items whose common n-grams suffice for a cluster, by group: those with the same ones.
    groups: Vec<Vec<u32>>,
    /// The groups with a common n-gram, by its class.
    groups_of: AHashMap<u32, Vec<u32>>,
}

impl Weights {
    /// The bytes for each item and for each word of the items.
    pub const ITEM_BYTES: u64 = (2 * size_of::<u64>() + size_of::<Vec<u32>>()) as u64;
    pub const WORD_BYTES: u64 = 3 * size_of::<u32>() as u64;

    /// The weights in `index`. Uses the current rayon pool.
    pub fn new(rule: NgramClusterRule, index: &Index) -> Weights {
        let all = index.items.items.len();
        let sums = || -> Vec<AtomicU64> { (0..all).map(|_| AtomicU64::new(0)).collect() };
        let (items, common) = (sums(), sums());
        let grams = (0..index.count() as u32).into_par_iter().map(|gram| {
            let count = index.postings(gram).count().max(1);
            let weight = ((1.0 + all as f64 / count as f64).ln() * UNIT).round() as u32;
            for (_, item) in index.postings(gram) {
                items[item].fetch_add(weight.into(), Ordering::Relaxed);
                if index.is_common(gram) {
                    common[item].fetch_add(weight.into(), Ordering::Relaxed);
                }
            }
            weight
        });
        let grams: Vec<u32> = grams.with_min_len(1 << 10).collect();
        let whole = |sums: Vec<AtomicU64>| sums.into_iter().map(AtomicU64::into_inner).collect();
        let common: Vec<u64> = whole(common);
        let mut weights = Weights {
            grams,
            items: whole(items),
            groups: Vec::new(),
            groups_of: AHashMap::new(),
        };
        let mut group_of: AHashMap<Box<[u32]>, usize> = AHashMap::new();
        let mut own = Vec::new();
        for item in (0..all).filter(|item| common[*item] > 0) {
            if !rule.suffices(common[item], &weights, item) {
                continue;
            }
            index.grams_of(item, &mut own);
            own.retain(|gram| index.is_common(*gram));
            let group = *group_of.entry(own.as_slice().into()).or_insert_with(|| {
                weights.groups.push(Vec::new());
                weights.groups.len() - 1
            });
            weights.groups[group].push(item as u32);
        }
        for (grams, group) in group_of {
            let mut classes: Vec<u32> =
                grams.iter().filter_map(|gram| index.class(*gram)).collect();
            classes.sort_unstable();
            classes.dedup();
            for class in classes {
                let groups = weights.groups_of.entry(class).or_default();
                groups.push(group as u32);
            }
        }
        weights
    }

    /// The groups of items with a common n-gram.
    fn groups_of(&self, index: &Index, gram: u32) -> &[u32] {
        let class = index.class(gram);
        class
            .and_then(|class| self.groups_of.get(&class))
            .map_or(&[], Vec::as_slice)
    }
}

impl NgramClusterRule {
    /// Whether a cluster with n-grams of this weight counts for an item.
    fn suffices(&self, weight: u64, weights: &Weights, item: usize) -> bool {
        weight * 1000 >= u64::from(self.thousandths) * weights.items[item]
    }
}

/// Finds clusters; one for each thread.
pub struct ClusterFinder {
    rule: NgramClusterRule,
    /// The items that the document may have a cluster of.
    followed: Vec<u32>,
    is_followed: Vec<bool>,
    /// The items that are followed for a group, with the group.
    represented: Vec<(u32, u32)>,
    /// For each item, the cluster that may go on.
    open: Vec<Open>,
    /// For each n-gram of each item, the number of the cluster in which it was last.
    seen: Vec<u32>,
    /// The number of the last cluster.
    last: u32,
}

/// A cluster that may go on.
#[derive(Clone, Copy, Default)]
struct Open {
    /// Its number; 0 if there is none.
    number: u32,
    first: u32,
    last: u32,
    end: u32,
    grams: u32,
    weight: u64,
}

impl ClusterFinder {
    /// The bytes for each item and for each word of the items.
    pub const ITEM_BYTES: u64 =
        (size_of::<Open>() + 2 * size_of::<u32>() + size_of::<bool>()) as u64;
    pub const WORD_BYTES: u64 = size_of::<u32>() as u64;

    /// A finder of the clusters of `index`.
    pub fn new(rule: NgramClusterRule, index: &Index) -> ClusterFinder {
        let items = index.items.items.len();
        ClusterFinder {
            rule,
            followed: Vec::new(),
            is_followed: vec![false; items],
            represented: Vec::new(),
            open: vec![Open::default(); items],
            seen: vec![0; index.items.words.len()],
            last: 0,
        }
    }

    /// Replaces `found` by the clusters that count among the `hits` in a document with these words, of
    /// several with the same words the first, by their beginnings.
    pub fn find(
        &mut self,
        (index, weights): (&Index, &Weights),
        words: &[u64],
        hits: &[NgramHit],
        found: &mut Vec<Cluster>,
    ) {
        found.clear();
        if hits.is_empty() {
            return;
        }
        if self.last > u32::MAX / 2 {
            self.seen.fill(0);
            self.last = 0;
        }
        self.follow((index, weights), hits);
        let context = Context {
            rule: self.rule,
            items: &index.items,
            weights,
            words,
        };
        let followed = std::mem::take(&mut self.followed);
        for hit in hits {
            if index.places(hit.gram).len() <= followed.len().max(COMMON_PLACES) {
                for (posting, item) in index.postings(hit.gram) {
                    if self.is_followed[item] {
                        self.extend(&context, hit, (posting, item), found);
                    }
                }
            } else {
                for &item in &followed {
                    if let Some(posting) = index.posting(hit.gram, item as usize) {
                        self.extend(&context, hit, (posting, item as usize), found);
                    }
                }
            }
        }
        for &item in &followed {
            let open = std::mem::take(&mut self.open[item as usize]);
            self.close(&context, open, item as usize, found);
        }
        for &item in &followed {
            self.is_followed[item as usize] = false;
        }
        self.followed = followed;
        found.sort_by_key(|cluster| (cluster.words.start, cluster.words.end, cluster.item));
    }

    /// Finds the items that the hits may have clusters of; of those in a group without a rare n-gram
    /// among the hits, the first.
    fn follow(&mut self, (index, weights): (&Index, &Weights), hits: &[NgramHit]) {
        self.followed.clear();
        self.represented.clear();
        let (mut groups, mut class) = (Vec::new(), None);
        for hit in hits {
            if !index.is_common(hit.gram) {
                for (_, item) in index.postings(hit.gram) {
                    if !std::mem::replace(&mut self.is_followed[item], true) {
                        self.followed.push(item as u32);
                    }
                }
            } else if class != index.class(hit.gram) {
                class = index.class(hit.gram);
                groups.extend(weights.groups_of(index, hit.gram));
            }
        }
        groups.sort_unstable();
        groups.dedup();
        for group in groups {
            let mut items = weights.groups[group as usize].iter();
            if let Some(&item) = items.find(|item| !self.is_followed[**item as usize]) {
                self.represented.push((item, group));
            }
        }
        // An item is in one group.
        for (item, _) in &self.represented {
            self.is_followed[*item as usize] = true;
            self.followed.push(*item);
        }
        self.represented.sort_unstable();
    }

    /// Adds a cluster that ends to `found` if it counts; with one followed for a group, those of its
    /// items that are not followed.
    fn close(&self, context: &Context<'_>, open: Open, item: usize, found: &mut Vec<Cluster>) {
        if open.number == 0 {
            return;
        }
        found.extend(context.counted(item, &open));
        let represented = |(other, _): &(u32, u32)| (*other as usize).cmp(&item);
        if let Ok(at) = self.represented.binary_search_by(represented) {
            let items = &context.weights.groups[self.represented[at].1 as usize];
            let items = items.iter().map(|item| *item as usize);
            let others = items.filter(|item| !self.is_followed[*item]);
            found.extend(others.filter_map(|item| context.counted(item, &open)));
        }
    }

    /// Adds a hit to the cluster of an item that may go on, or begins one.
    fn extend(
        &mut self,
        context: &Context<'_>,
        hit: &NgramHit,
        (posting, item): (usize, usize),
        found: &mut Vec<Cluster>,
    ) {
        let open = self.open[item];
        if open.number > 0 && (hit.first - open.last) as usize > self.rule.most_gap + 1 {
            self.close(context, open, item, found);
            self.open[item] = Open::default();
        }
        let open = &mut self.open[item];
        if open.number == 0 {
            self.last += 1;
            *open = Open {
                number: self.last,
                first: hit.first,
                ..Open::default()
            };
        }
        open.last = hit.first;
        open.end = open.end.max(hit.first + hit.words);
        if self.seen[posting] != open.number {
            self.seen[posting] = open.number;
            open.grams += 1;
            open.weight += u64::from(context.weights.grams[hit.gram as usize]);
        }
    }
}

/// What decides whether a cluster counts.
struct Context<'a> {
    rule: NgramClusterRule,
    items: &'a Items,
    weights: &'a Weights,
    words: &'a [u64],
}

impl Context<'_> {
    /// A cluster of an item, if it counts.
    fn counted(&self, item: usize, open: &Open) -> Option<Cluster> {
        let words = open.first as usize..open.end as usize;
        let counts =
            self.rule.suffices(open.weight, self.weights, item) && self.has_answer(item, &words);
        counts.then_some(Cluster {
            item,
            words,
            grams: open.grams,
        })
    }

    /// Whether the answer of an item is near: all its words in a row or, if it is longer than an
    /// n-gram, as many in a row as an n-gram has.
    fn has_answer(&self, item: usize, words: &Range<usize>) -> bool {
        let answer = self.items.answer_of(item);
        if answer.is_empty() {
            return true;
        }
        let within = self.rule.answer_within;
        let end = words.end.saturating_add(within).min(self.words.len());
        let near = &self.words[words.start.saturating_sub(within)..end];
        let length = answer.len().min(self.items.answer_words);
        answer
            .windows(length)
            .any(|part| near.windows(length).any(|other| other == part))
    }
}
