//! Clusters: n-grams of one item that are near each other in a document.
//!
//! A place of a document has an item if an n-gram of the item begins there. A cluster of an item is a
//! largest set of places that have it, with at most a number of other places between neighbours. Its
//! share is that of the weights of the item's different n-grams that are in it. An n-gram of df of N
//! items weighs ln(1 + N / df), so that what many items have in common counts little.
//!
//! A document may have common n-grams of all items. Clusters are followed for the items of which it
//! also has a rare n-gram, and for those whose common n-grams suffice for a cluster.

use std::ops::Range;

use ahash::AHashMap;

use super::index::{COMMON_PLACES, Hit, Index};
use super::items::Items;

/// Weights are multiples of this part of 1, so that sums are exact.
const UNIT: f64 = 65_536.0;

/// Which clusters count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterRule {
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
    /// The items whose common n-grams suffice for a cluster, by class of these n-grams.
    sufficient: AHashMap<u32, Vec<u32>>,
}

impl Weights {
    /// The bytes for each item and for each word of the items.
    pub const ITEM_BYTES: u64 = 2 * size_of::<u64>() as u64;
    pub const WORD_BYTES: u64 = 2 * size_of::<u32>() as u64;

    /// The weights in `index`.
    pub fn new(rule: ClusterRule, index: &Index) -> Weights {
        let all = index.items.items.len();
        let mut items = vec![0; all];
        let mut common = vec![0; all];
        let grams = (0..index.count() as u32).map(|gram| {
            let count = index.postings(gram).count().max(1);
            let weight = ((1.0 + all as f64 / count as f64).ln() * UNIT).round() as u32;
            for (_, item) in index.postings(gram) {
                items[item] += u64::from(weight);
                if index.is_common(gram) {
                    common[item] += u64::from(weight);
                }
            }
            weight
        });
        let mut weights = Weights {
            grams: grams.collect(),
            items,
            sufficient: AHashMap::new(),
        };
        for gram in (0..index.count() as u32).filter(|gram| index.class(*gram) == Some(*gram)) {
            let items = index.postings(gram).map(|(_, item)| item);
            let sufficient = items.filter(|item| rule.suffices(common[*item], &weights, *item));
            let sufficient: Vec<u32> = sufficient.map(|item| item as u32).collect();
            if !sufficient.is_empty() {
                weights.sufficient.insert(gram, sufficient);
            }
        }
        weights
    }

    /// The items with a common n-gram whose common n-grams suffice for a cluster.
    fn sufficient(&self, index: &Index, gram: u32) -> &[u32] {
        let class = index.class(gram);
        class
            .and_then(|class| self.sufficient.get(&class))
            .map_or(&[], Vec::as_slice)
    }
}

impl ClusterRule {
    /// Whether a cluster with n-grams of this weight counts for an item.
    fn suffices(&self, weight: u64, weights: &Weights, item: usize) -> bool {
        weight * 1000 >= u64::from(self.thousandths) * weights.items[item]
    }
}

/// Finds clusters; one for each thread.
pub struct ClusterFinder {
    rule: ClusterRule,
    /// The items that the document may have a cluster of.
    followed: Vec<u32>,
    is_followed: Vec<bool>,
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
    pub fn new(rule: ClusterRule, index: &Index) -> ClusterFinder {
        let items = index.items.items.len();
        ClusterFinder {
            rule,
            followed: Vec::new(),
            is_followed: vec![false; items],
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
        hits: &[Hit],
        found: &mut Vec<Cluster>,
    ) {
        found.clear();
        if self.last > u32::MAX / 2 {
            self.seen.fill(0);
            self.last = 0;
        }
        let context = Context {
            rule: self.rule,
            items: &index.items,
            weights,
            words,
        };
        self.follow((index, weights), hits);
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
            let item = item as usize;
            self.is_followed[item] = false;
            let open = &mut self.open[item];
            if open.number > 0 {
                context.close(item, open, found);
            }
        }
        self.followed = followed;
        found.sort_by_key(|cluster| (cluster.words.start, cluster.words.end, cluster.item));
    }

    /// Finds the items that the hits may have clusters of.
    fn follow(&mut self, (index, weights): (&Index, &Weights), hits: &[Hit]) {
        self.followed.clear();
        let mut follow = |item: u32| {
            if !std::mem::replace(&mut self.is_followed[item as usize], true) {
                self.followed.push(item);
            }
        };
        for hit in hits {
            match index.is_common(hit.gram) {
                true => {
                    let sufficient = weights.sufficient(index, hit.gram);
                    sufficient.iter().for_each(|item| follow(*item));
                }
                false => index
                    .postings(hit.gram)
                    .for_each(|(_, item)| follow(item as u32)),
            }
        }
    }

    /// Adds a hit to the cluster of an item that may go on, or begins one.
    fn extend(
        &mut self,
        context: &Context<'_>,
        hit: &Hit,
        (posting, item): (usize, usize),
        found: &mut Vec<Cluster>,
    ) {
        let open = &mut self.open[item];
        if open.number > 0 && (hit.first - open.last) as usize > self.rule.most_gap + 1 {
            context.close(item, open, found);
        }
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
    rule: ClusterRule,
    items: &'a Items,
    weights: &'a Weights,
    words: &'a [u64],
}

impl Context<'_> {
    /// Ends a cluster, and adds it to `found` if it counts.
    fn close(&self, item: usize, open: &mut Open, found: &mut Vec<Cluster>) {
        let open = std::mem::take(open);
        let words = open.first as usize..open.end as usize;
        if self.rule.suffices(open.weight, self.weights, item) && self.has_answer(item, &words) {
            found.push(Cluster {
                item,
                words,
                grams: open.grams,
            });
        }
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
