/// Disjoint sets of numbers, each named by its smallest.
///
/// Source: Tarjan, Efficiency of a good but not linear set union algorithm, JACM 22, 1975; with
/// path halving, and the smaller root on top, so that names do not depend on the order of unions.
#[derive(Debug)]
pub(super) struct UnionFind {
    /// A number of the same set that is not larger.
    parents: Vec<u32>,
}

impl UnionFind {
    /// Each of `count` numbers by itself.
    pub(super) fn new(count: u32) -> UnionFind {
        UnionFind {
            parents: (0..count).collect(),
        }
    }

    /// How many numbers there are.
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

    /// Makes two sets one; `false` if they were.
    pub(super) fn union(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.halve(a), self.halve(b));
        self.parents[a.max(b) as usize] = a.min(b);
        a != b
    }

    /// Takes a number out of its set; for all numbers of a set at once.
    pub(super) fn reset(&mut self, number: u32) {
        self.parents[number as usize] = number;
    }

    /// The root, and a shorter way there for the next time.
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
