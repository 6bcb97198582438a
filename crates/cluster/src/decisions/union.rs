//! Connected components of pairs.

use std::collections::HashMap;

use ahash::RandomState;

/// Connects documents. Holds some bytes for each document of a pair.
///
/// Source: Tarjan, Efficiency of a good but not linear set union algorithm, JACM 22, 1975; with path
/// halving.
#[derive(Default)]
pub struct Components {
    parents: HashMap<i64, i64, RandomState>,
}

impl Components {
    /// Takes a pair; a cut connects nothing.
    pub fn push(&mut self, member: i64, earlier: i64, cut: bool) {
        if !cut {
            let (a, b) = (self.root(member), self.root(earlier));
            self.parents.insert(a.max(b), a.min(b));
        }
    }

    fn root(&mut self, document: i64) -> i64 {
        let mut at = document;
        loop {
            let parent = *self.parents.entry(at).or_insert(at);
            if parent == at {
                return at;
            }
            let above = self.parents.get(&parent).copied().unwrap_or(parent);
            self.parents.insert(at, above);
            at = above;
        }
    }

    /// Each document of a pair, with the first one of its component; sorted.
    pub fn end(mut self) -> Vec<(i64, i64)> {
        let mut documents: Vec<i64> = self.parents.keys().copied().collect();
        documents.sort_unstable();
        let firsts = documents
            .iter()
            .map(|document| (*document, self.root(*document)));
        firsts.collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        // Promise (On a cluster): Stars of any graph …
        #[test]
        fn components_are_those_of_a_search(
            pairs in prop::collection::vec((0i64..40, 0i64..40), 0..60),
        ) {
            let mut components = Components::default();
            let mut first: Vec<i64> = (0..40).collect();
            for (a, b) in &pairs {
                components.push(*a, *b, false);
                components.push(*a, (*b + 1) % 40, true);
                let (x, y) = (first[*a as usize], first[*b as usize]);
                for label in &mut first {
                    if *label == x.max(y) {
                        *label = x.min(y);
                    }
                }
            }
            for (document, label) in components.end() {
                prop_assert_eq!(label, first[document as usize]);
            }
        }
    }
}
