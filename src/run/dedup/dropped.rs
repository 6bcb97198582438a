//! Which documents go, one bit each.

/// A set of document numbers.
#[derive(Clone, Debug)]
pub struct Dropped(Vec<u64>);

impl Dropped {
    /// None of `documents` documents; takes a bit for each.
    pub fn none_of(documents: u64) -> Dropped {
        Dropped(vec![0; documents.div_ceil(64) as usize])
    }

    /// Adds a document; numbers beyond the last one are nobody.
    pub fn insert(&mut self, document: u32) {
        if let Some(word) = self.0.get_mut(document as usize / 64) {
            *word |= 1 << (document % 64);
        }
    }

    /// Whether the document goes.
    pub fn contains(&self, document: u32) -> bool {
        let word = self.0.get(document as usize / 64);
        word.is_some_and(|word| word >> (document % 64) & 1 == 1)
    }

    /// Whether any of `count` documents from `first` on goes.
    pub fn any_of(&self, first: u32, count: u32) -> bool {
        (first..first.saturating_add(count)).any(|document| self.contains(document))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_told_apart() {
        let mut dropped = Dropped::none_of(130);
        for document in [0, 63, 64, 129, 200] {
            dropped.insert(document);
        }
        let found: Vec<u32> = (0..300)
            .filter(|&number| dropped.contains(number))
            .collect();
        assert_eq!(found, [0, 63, 64, 129]);
        assert!(dropped.any_of(60, 4) && !dropped.any_of(65, 64) && !dropped.any_of(130, 9));
    }
}
