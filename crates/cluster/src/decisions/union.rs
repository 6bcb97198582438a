//! Connected components of pairs, in one task.

use std::collections::HashMap;

use arrow_array::RecordBatch;
use simtool_core::Result;

use crate::columns::{Columns, longs};
use crate::step::Step;

/// The step `union`, of one task: pairs in any order. Gives each document of a pair with the first
/// one of its component. Holds some bytes for each document.
///
/// Source: Tarjan, Efficiency of a good but not linear set union algorithm, JACM 22, 1975; with path
/// halving.
#[derive(Default)]
pub struct Union {
    parents: HashMap<i64, i64>,
    is_complete: bool,
}

impl Union {
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
}

impl Step for Union {
    fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let (members, earlier) = (longs(batch, "member")?, longs(batch, "earlier")?);
        for (member, earlier) in members.iter().zip(earlier) {
            let (a, b) = (self.root(*member), self.root(*earlier));
            self.parents.insert(a.max(b), a.min(b));
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        self.is_complete = true;
        Ok(())
    }

    fn take(&mut self) -> Result<Option<RecordBatch>> {
        if !self.is_complete || self.parents.is_empty() {
            return Ok(None);
        }
        let documents: Vec<i64> = self.parents.keys().copied().collect();
        let firsts = documents.iter().map(|document| self.root(*document));
        let firsts = firsts.collect();
        self.parents = HashMap::new();
        let batch = Columns::default()
            .longs("rank", documents)
            .longs("first", firsts)
            .batch()?;
        Ok(Some(batch))
    }
}
