//! What the documents of a chunk have of each reference item.

use std::ops::Range;

/// What the documents of a chunk have of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkCount {
    /// The item.
    pub item: u32,
    /// The documents with one of its n-grams.
    pub documents: u32,
    /// The document with the most different ones, of several the first: its number in the chunk.
    pub best: u32,
    /// The number of them there.
    pub best_found: u32,
    /// The bytes, in that document, of the stretch with the most of them.
    pub best_bytes: [u32; 2],
}

/// Counts n-grams by item; one for each thread.
pub struct ItemCounts {
    rows: Vec<Row>,
    /// The items that documents of the chunk have, and those that the current document has.
    in_chunk: Vec<u32>,
    in_document: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct Row {
    documents: u32,
    best: u32,
    best_found: u32,
    best_bytes: [u32; 2],
    /// In the current document: n-grams, those of the current stretch, and the stretch with the most.
    found: u32,
    stretch: u32,
    in_stretch: u32,
    top: u32,
    in_top: u32,
}

impl ItemCounts {
    /// The bytes of the counts for each item.
    pub const ITEM_BYTES: u64 = (size_of::<Row>() + 2 * size_of::<u32>()) as u64;

    /// Counts for some items.
    pub fn new(items: usize) -> ItemCounts {
        ItemCounts {
            rows: vec![Row::default(); items],
            in_chunk: Vec::new(),
            in_document: Vec::new(),
        }
    }

    /// Counts an n-gram of an item, which the current document has not been counted for yet. The
    /// numbers of stretches ascend.
    pub fn add(&mut self, item: usize, stretch: u32) {
        let row = &mut self.rows[item];
        if row.found == 0 {
            self.in_document.push(item as u32);
        }
        row.found += 1;
        row.in_stretch = match row.found > 1 && row.stretch == stretch {
            true => row.in_stretch + 1,
            false => 1,
        };
        row.stretch = stretch;
        if row.in_stretch > row.in_top {
            (row.top, row.in_top) = (stretch, row.in_stretch);
        }
    }

    /// Counts a cluster with some n-grams of an item. Of several in a document, the first with the most
    /// counts.
    pub fn add_cluster(&mut self, item: usize, stretch: u32, grams: u32) {
        let row = &mut self.rows[item];
        if row.found == 0 {
            self.in_document.push(item as u32);
        }
        if grams > row.found {
            row.found = grams;
            row.top = stretch;
        }
    }

    /// Ends a document, whose stretches have these bytes.
    pub fn end_document(&mut self, ordinal: u32, stretches: &[Range<usize>]) {
        for item in self.in_document.drain(..) {
            let row = &mut self.rows[item as usize];
            if row.documents == 0 {
                self.in_chunk.push(item);
            }
            row.documents += 1;
            if row.found > row.best_found {
                let bytes = stretches.get(row.top as usize).cloned().unwrap_or_default();
                row.best = ordinal;
                row.best_found = row.found;
                row.best_bytes = [bytes.start as u32, bytes.end as u32];
            }
            (row.found, row.in_stretch, row.in_top) = (0, 0, 0);
        }
    }

    /// The counts of the chunk, which ends.
    pub fn take(&mut self) -> Vec<ChunkCount> {
        let count = |item: u32| {
            let row = std::mem::take(&mut self.rows[item as usize]);
            ChunkCount {
                item,
                documents: row.documents,
                best: row.best,
                best_found: row.best_found,
                best_bytes: row.best_bytes,
            }
        };
        self.in_chunk.drain(..).map(count).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_document_and_its_best_stretch_are_noted() {
        let mut counts = ItemCounts::new(3);
        counts.add(2, 0);
        counts.add(2, 1);
        counts.add(2, 1);
        counts.add(0, 1);
        counts.end_document(4, &[1..5, 9..20]);
        counts.add(2, 0);
        counts.add(2, 1);
        counts.add(2, 2);
        counts.end_document(5, &[0..1, 2..3, 4..5]);
        let count = |item, documents, best_found| ChunkCount {
            item,
            documents,
            best: 4,
            best_found,
            best_bytes: [9, 20],
        };
        assert_eq!(counts.take(), [count(2, 2, 3), count(0, 1, 1)]);
        assert_eq!(counts.take(), []);
    }
}
