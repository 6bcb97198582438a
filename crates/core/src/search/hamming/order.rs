//! Sorting of hits by (distance, position).

use super::Hit;

/// Up to this distance, one pass per distance. A pass takes one cycle per hit, without a branch. A
/// counting sort takes several: its counters in memory form a chain where most hits have one
/// distance.
const PASSES: u32 = 7;

/// Writes `hits`, which are sorted by position, to `out` by (distance, position).
///
/// Linear in the number of hits for k up to 7; a stable sort beyond.
pub(super) fn by_distance(hits: &[Hit], k: u32, out: &mut Vec<Hit>) {
    out.clear();
    if k > PASSES {
        out.extend_from_slice(hits);
        out.sort_by_key(|hit| hit.distance);
        return;
    }
    // One extra slot: a pass writes every hit and advances only past those of its distance.
    out.resize(
        hits.len() + 1,
        Hit {
            distance: 0,
            position: 0,
        },
    );
    let mut slot = 0;
    for distance in 0..=k {
        for hit in hits {
            out[slot] = *hit;
            slot += usize::from(hit.distance == distance);
        }
    }
    out.truncate(hits.len());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_a_stable_sort() {
        let hits: Vec<Hit> = (0..500)
            .map(|i| Hit {
                distance: i * i % 129,
                position: i,
            })
            .collect();
        for k in 0..=128 {
            let mut expected: Vec<Hit> = hits
                .iter()
                .copied()
                .filter(|hit| hit.distance <= k)
                .collect();
            let mut ordered = Vec::new();
            by_distance(&expected, k, &mut ordered);
            expected.sort();
            assert_eq!(ordered, expected);
        }
    }
}
