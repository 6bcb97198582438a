//! Hits by (distance, position).

use super::Hit;

/// Writes `hits`, which come by ascending position, to `out` by (distance, position).
///
/// One counting pass and one moving pass, whatever the number of hits.
pub(super) fn by_distance(hits: &[Hit], k: u32, out: &mut Vec<Hit>) {
    let mut places = [0usize; 129];
    for hit in hits {
        places[hit.distance as usize] += 1;
    }
    let mut sum = 0;
    for place in &mut places[..=k as usize] {
        sum += std::mem::replace(place, sum);
    }
    out.clear();
    out.resize(
        hits.len(),
        Hit {
            distance: 0,
            position: 0,
        },
    );
    for hit in hits {
        let place = &mut places[hit.distance as usize];
        out[*place] = *hit;
        *place += 1;
    }
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
        let mut ordered = Vec::new();
        by_distance(&hits, 128, &mut ordered);
        let mut expected = hits;
        expected.sort();
        assert_eq!(ordered, expected);
    }
}
