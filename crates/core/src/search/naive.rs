//! Comparison of all pairs: the definition of every search, and the oracle of its tests.

/// Compares every query with every item of `searched`. Returns for each query the (score, position)
/// of each item that `near` accepts, ascending.
///
/// Quadratic: `queries.len() * searched.len()` comparisons. Positions are indices into
/// `searched`.
///
/// ```
/// let far = |a: &i32, b: &i32| (a.abs_diff(*b) <= 2).then(|| a.abs_diff(*b));
/// let found = simtool_core::search::naive::search(&[5], &[3, 9, 5], far);
/// assert_eq!(found, [vec![(0, 2), (2, 0)]]);
/// ```
pub fn search<Q, S, Score: Ord>(
    queries: &[Q],
    searched: &[S],
    near: impl Fn(&Q, &S) -> Option<Score>,
) -> Vec<Vec<(Score, usize)>> {
    let of_query = |query| {
        let mut found: Vec<_> = (searched.iter().enumerate())
            .filter_map(|(position, candidate)| Some((near(query, candidate)?, position)))
            .collect();
        found.sort();
        found
    };
    queries.iter().map(of_query).collect()
}
