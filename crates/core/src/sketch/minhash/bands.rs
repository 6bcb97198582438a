//! The division of MinHash minima into bands.
//!
//! Documents of similarity s agree in a band of r rows with probability s^r, and in at least one
//! of b bands with 1 - (1 - s^r)^b. Source: Leskovec, Rajaraman and Ullman, "Mining of Massive
//! Datasets", section 3.4.

use crate::{Error, ErrorKind, Result};

/// The maximum number of permutations.
pub const MAX_PERMUTATIONS: usize = 256;

/// The number of points at which curves are evaluated for comparison.
const STEPS: u32 = 100;

/// The number of bands, and of rows in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bands {
    bands: usize,
    rows: usize,
}

impl Bands {
    /// `bands` bands of `rows` rows each.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] if one of them is zero or their product exceeds
    /// [`MAX_PERMUTATIONS`].
    pub fn new(bands: usize, rows: usize) -> Result<Bands> {
        let permutations = bands.saturating_mul(rows);
        if permutations == 0 || permutations > MAX_PERMUTATIONS {
            let message = format!(
                "{bands} bands of {rows} rows: expected 1 to {MAX_PERMUTATIONS} permutations in all"
            );
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        Ok(Bands { bands, rows })
    }

    /// Chooses the bands with the fewest false candidates, among those with at most `permutations`
    /// permutations that find a pair of similarity `similarity` with at least probability `recall`.
    ///
    /// For each number of rows, the smallest number of bands with that recall is the cheapest. Of
    /// these, the one with the smallest area under the curve below `similarity` is chosen: more
    /// rows make it steeper. Deterministic: uses only basic arithmetic.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] if `similarity` is not in (0, 1] or `recall` not in (0, 1), if
    /// `permutations` exceeds [`MAX_PERMUTATIONS`], or if that number cannot reach the recall.
    pub fn choose(similarity: f64, recall: f64, permutations: usize) -> Result<Bands> {
        check_share("similarity", similarity, similarity <= 1.0)?;
        check_share("recall", recall, recall < 1.0)?;
        if permutations > MAX_PERMUTATIONS {
            let message =
                format!("{permutations} permutations: expected at most {MAX_PERMUTATIONS}");
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        let with_rows = |rows: usize| {
            let bands = (1..=permutations / rows).map(|bands| Bands { bands, rows });
            bands
                .into_iter()
                .find(|bands| bands.expected_recall(similarity) >= recall)
        };
        let candidates = (1..=permutations).filter_map(with_rows);
        let area = |bands: &Bands| {
            let step = similarity / f64::from(STEPS);
            let points = (0..STEPS).map(|point| bands.expected_recall(step * f64::from(point)));
            points.sum::<f64>()
        };
        candidates.min_by(|a, b| area(a).total_cmp(&area(b))).ok_or_else(|| {
            let message = format!(
                "recall {recall} at similarity {similarity}: more than {permutations} permutations \
                 would be needed; expected a higher similarity or a lower recall"
            );
            Error::new(ErrorKind::Parameter, message)
        })
    }

    /// The number of bands.
    pub fn bands(self) -> usize {
        self.bands
    }

    /// The number of rows in each band.
    pub fn rows(self) -> usize {
        self.rows
    }

    /// The number of permutations of all bands.
    pub fn permutations(self) -> usize {
        self.bands * self.rows
    }

    /// The probability that two documents with this Jaccard similarity agree in at least one band.
    ///
    /// ```
    /// let bands = simtool_core::sketch::Bands::new(20, 5)?;
    /// assert!((bands.expected_recall(0.8) - 0.9996).abs() < 1e-4);
    /// # Ok::<(), simtool_core::Error>(())
    /// ```
    pub fn expected_recall(self, similarity: f64) -> f64 {
        1.0 - power(1.0 - power(similarity, self.rows), self.bands)
    }
}

/// Computed by multiplications, since `powi` may differ between machines.
fn power(base: f64, exponent: usize) -> f64 {
    (0..exponent).fold(1.0, |power, _| power * base)
}

fn check_share(name: &str, share: f64, small: bool) -> Result<()> {
    if share > 0.0 && small {
        return Ok(());
    }
    let most = if name == "recall" {
        "below 1"
    } else {
        "at most 1"
    };
    let message = format!("{name} {share}: expected above 0 and {most}");
    Err(Error::new(ErrorKind::Parameter, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_bands_reach_the_recall_and_none_is_steeper() {
        for percent in [20, 50, 70, 80, 95, 100] {
            let similarity = f64::from(percent) / 100.0;
            let chosen = Bands::choose(similarity, 0.95, 256).unwrap();
            assert!(chosen.permutations() <= 256);
            assert!(chosen.expected_recall(similarity) >= 0.95);
            let below = |bands: Bands| -> f64 {
                (1..200)
                    .map(|point| bands.expected_recall(similarity * f64::from(point) / 200.0))
                    .sum()
            };
            for rows in 1..=256 {
                for bands in 1..=256 / rows {
                    let other = Bands::new(bands, rows).unwrap();
                    if other.expected_recall(similarity) >= 0.95 {
                        assert!(
                            below(other) >= below(chosen) * 0.999,
                            "{similarity}: {chosen:?}, {other:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn known_choices() {
        let choose = |similarity| {
            let bands = Bands::choose(similarity, 0.95, 256).unwrap();
            (bands.bands(), bands.rows())
        };
        assert_eq!(choose(0.8), (21, 9));
        assert_eq!(choose(1.0), (1, 256));
        let few = Bands::choose(0.8, 0.95, 64).unwrap();
        assert_eq!((few.bands(), few.rows()), (10, 6));
    }

    #[test]
    fn refused_parameters() {
        let message = |result: Result<Bands>| {
            let error = result.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Parameter);
            error.to_string()
        };
        for (similarity, recall) in [
            (0.0, 0.9),
            (1.1, 0.9),
            (f64::NAN, 0.9),
            (0.5, 0.0),
            (0.5, 1.0),
            (0.5, f64::NAN),
        ] {
            assert!(message(Bands::choose(similarity, recall, 256)).contains("expected above 0"));
        }
        assert!(message(Bands::choose(0.01, 0.95, 256)).contains("more than 256 permutations"));
        assert!(message(Bands::choose(0.8, 0.95, 0)).contains("more than 0 permutations"));
        assert!(
            message(Bands::choose(0.8, 0.95, 257))
                .contains("257 permutations: expected at most 256")
        );
        assert!(message(Bands::new(0, 5)).contains("0 bands of 5 rows"));
        assert!(message(Bands::new(usize::MAX, 2)).contains("expected 1 to 256"));
        assert!(message(Bands::new(129, 2)).contains("129 bands of 2 rows"));
    }
}
