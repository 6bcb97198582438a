//! Disjoint sets (union-find).

/// Disjoint sets of numbers, each represented by its smallest.
///
/// Source: Tarjan, Efficiency of a good but not linear set union algorithm, JACM 22, 1975; with
/// path halving. The smaller root becomes the parent, so that roots do not depend on the order of
/// unions.
#[derive(Debug)]
pub(super) struct UnionFind {
    /// The parent of each number: a number of the same set that is not larger.
    parents: Vec<u32>,
}

impl UnionFind {
    /// Creates a set for each of `count` numbers.
    pub(super) fn new(count: u32) -> UnionFind {
        UnionFind {
            parents: (0..count).collect(),
        }
    }

    /// The count of all numbers.
    pub(super) fn count(&self) -> u32 {
        self.parents.len() as u32
    }

    /// The smallest number of the set.
    pub(super) fn root(&self, number: u32) -> u32 {
        let mut number = number;
        while self.parents[number as usize] != number {
            number = self.parents[number as usize];
        }
        number
    }

    /// Merges two sets; `false` if they were one already.
    pub(super) fn union(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.halve(a), self.halve(b));
        self.parents[a.max(b) as usize] = a.min(b);
        a != b
    }

    /// Makes a number a set of its own; call it for all numbers of a set.
    pub(super) fn reset(&mut self, number: u32) {
        self.parents[number as usize] = number;
    }

    /// Finds the root and shortens the path to it (path halving).
    fn halve(&mut self, number: u32) -> u32 {
        let mut number = number;
        while self.parents[number as usize] != number {
            let parent = self.parents[number as usize];
            self.parents[number as usize] = self.parents[parent as usize];
            number = self.parents[number as usize];
        }
        number
    }
}
