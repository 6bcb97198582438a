//! Stretches of a document: what n-grams and clusters cover.

use std::ops::Range;

use super::clusters::Cluster;
use super::counts::ItemCounts;
use crate::passages::decontaminate::index::{Index, NgramHit};

/// The most places of an n-gram that are compared for the longest match.
const MOST_PLACES: usize = 256;

/// A stretch of a document that n-grams or clusters cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoveredStretch {
    /// Its words.
    pub words: Range<usize>,
    /// The hits in it; of one that only edited items cover, those of the n-grams of their clusters.
    pub hits: Range<usize>,
    /// The words of an item that its longest match has.
    pub origin: Range<usize>,
    /// Whether only clusters of edited items cover it.
    pub is_edited: bool,
}

/// Replaces `stretches` by those that `hits` cover. Stretches that touch are one.
pub fn find_stretches(
    index: &Index,
    words: &[u64],
    hits: &[NgramHit],
    stretches: &mut Vec<CoveredStretch>,
) {
    stretches.clear();
    // Where the last match ends.
    let mut reached = 0;
    for (number, hit) in hits.iter().enumerate() {
        let own = hit.first as usize..hit.first as usize + hit.words as usize;
        match stretches.last_mut() {
            Some(last) if own.start <= last.words.end => {
                last.words.end = last.words.end.max(own.end);
                last.hits.end = number + 1;
            }
            _ => {
                stretches.push(CoveredStretch {
                    words: own.clone(),
                    hits: number..number + 1,
                    origin: 0..0,
                    is_edited: false,
                });
                // A match may go on where n-grams are ignored, up to here.
                reached = 0;
            }
        }
        if own.end <= reached {
            continue;
        }
        let found = index.longest(words, hit, MOST_PLACES);
        reached = own.start + found.len();
        if let Some(last) = stretches.last_mut()
            && found.len() > last.origin.len()
        {
            last.origin = found;
        }
    }
}

/// Replaces `stretches` by those that clusters cover, which are ascending. Stretches that touch are one.
/// The origin of each is the item of its largest cluster.
pub fn join_clusters(
    index: &Index,
    clusters: &[Cluster],
    hits: &[NgramHit],
    stretches: &mut Vec<CoveredStretch>,
) {
    stretches.clear();
    let mut most = 0;
    for cluster in clusters {
        match stretches.last_mut() {
            Some(last) if cluster.words.start <= last.words.end => {
                last.words.end = last.words.end.max(cluster.words.end);
            }
            _ => {
                stretches.push(CoveredStretch {
                    words: cluster.words.clone(),
                    hits: 0..0,
                    origin: 0..0,
                    is_edited: false,
                });
                most = 0;
            }
        }
        if let Some(last) = stretches.last_mut()
            && cluster.grams > most
        {
            most = cluster.grams;
            last.origin = index.items.words_of(cluster.item);
        }
    }
    for stretch in stretches {
        let before = |end: usize| hits.partition_point(|hit| (hit.first as usize) < end);
        stretch.hits = before(stretch.words.start)..before(stretch.words.end);
    }
}

/// Adds the stretches of edited items to those of n-grams. Both are ascending, and so is the result.
/// Stretches that touch are one; one with n-grams keeps their hits and origin.
pub fn merge_edited(edited: &[CoveredStretch], stretches: &mut Vec<CoveredStretch>) {
    if edited.is_empty() {
        return;
    }
    let of_ngrams = std::mem::take(stretches);
    let mut all: Vec<CoveredStretch> = of_ngrams
        .into_iter()
        .chain(edited.iter().cloned())
        .collect();
    all.sort_by_key(|stretch| stretch.words.start);
    for next in all {
        match stretches.last_mut() {
            Some(last) if next.words.start <= last.words.end => last.extend(next),
            _ => stretches.push(next),
        }
    }
}

impl CoveredStretch {
    /// Extends the stretch by one that overlaps or touches it and begins after it.
    fn extend(&mut self, next: CoveredStretch) {
        self.words.end = self.words.end.max(next.words.end);
        if next.is_edited {
            return;
        }
        if self.is_edited {
            self.hits = next.hits;
            self.origin = next.origin;
            self.is_edited = false;
            return;
        }
        self.hits.end = next.hits.end;
        if next.origin.len() > self.origin.len() {
            self.origin = next.origin;
        }
    }
}

/// Counts clusters of a document by item. `stretches` cover them.
pub fn count_clusters(clusters: &[Cluster], stretches: &[CoveredStretch], counts: &mut ItemCounts) {
    let mut stretch = 0;
    for cluster in clusters {
        while stretches[stretch].words.end < cluster.words.end {
            stretch += 1;
        }
        counts.add_cluster(cluster.item, stretch as u32, cluster.grams);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(
        words: Range<usize>,
        hits: Range<usize>,
        origin: Range<usize>,
        is_edited: bool,
    ) -> CoveredStretch {
        CoveredStretch {
            words,
            hits,
            origin,
            is_edited,
        }
    }

    #[test]
    fn stretches_of_edited_items_join_those_of_ngrams() {
        let mut stretches = vec![
            stretch(0..5, 0..2, 0..5, false),
            stretch(9..20, 2..6, 30..41, false),
            stretch(50..60, 6..9, 70..80, false),
            stretch(65..66, 9..10, 90..91, false),
        ];
        let edited = [
            stretch(5..9, 0..4, 100..120, true),
            stretch(30..40, 4..5, 120..140, true),
            stretch(45..65, 5..8, 140..160, true),
        ];
        merge_edited(&edited, &mut stretches);
        let expected = [
            stretch(0..20, 0..6, 30..41, false),
            stretch(30..40, 4..5, 120..140, true),
            stretch(45..66, 6..10, 70..80, false),
        ];
        assert_eq!(stretches, expected);
    }
}
