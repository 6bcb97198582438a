//! Groups of equal documents: the first in keep order is the leader, the others follow it.

use arrow_array::{Array, RecordBatch};
use simtool_core::Result;

use super::sketch::USUAL;
use crate::columns::{Columns, Order, bytes, ints, optional, present};
use crate::settings::Settings;
use crate::step::Step;

/// The step `leaders`: rows by the digest of their words (with `exact`, of their text), then by their
/// place in keep order. Gives leaders that are compared by sketch, with `leader` null, and followers.
pub struct Leaders {
    is_exact: bool,
    order: Order<(Vec<u8>, Vec<u8>)>,
    leader: Option<Leader>,
    made: LeaderRows,
}

struct Leader {
    digest: Vec<u8>,
    doc: Vec<u8>,
    text_digest: Vec<u8>,
    is_reference: bool,
}

#[derive(Default)]
struct LeaderRows {
    docs: Vec<Option<Vec<u8>>>,
    leaders: Vec<Option<Vec<u8>>>,
    same_text: Vec<bool>,
    reference: Vec<bool>,
    sorts: Vec<Option<Vec<u8>>>,
    sketches: Vec<Option<Vec<u8>>>,
    /// The masks of groups, if there are groups.
    masks: Option<Vec<i64>>,
}

impl Leaders {
    /// The step.
    pub fn new(settings: &Settings) -> Leaders {
        Leaders {
            is_exact: settings.is_exact(),
            order: Order::default(),
            leader: None,
            made: LeaderRows::default(),
        }
    }
}

impl Step for Leaders {
    fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let [docs, texts, sorts, sketches] =
            ["doc", "text_digest", "sort", "sketch"].map(|name| bytes(batch, name));
        let (docs, texts, sorts, sketches) = (docs?, texts?, sorts?, sketches?);
        let digests = match self.is_exact {
            true => bytes(batch, "text_digest")?,
            false => bytes(batch, "digest")?,
        };
        let states = ints(batch, "state")?;
        let masks = optional(batch, "mask")?;
        let made = &mut self.made;
        for row in 0..batch.num_rows() {
            let digest = present(&digests, row, "digest")?;
            let sort = present(&sorts, row, "sort")?;
            let doc = present(&docs, row, "doc")?;
            let text_digest = present(&texts, row, "text_digest")?;
            self.order.next((digest.to_vec(), sort.to_vec()))?;
            let is_reference = sort.first() == Some(&0);
            let before = made.docs.len();
            match &self.leader {
                Some(leader) if leader.digest == digest => {
                    // A document of the other collection is never dropped.
                    if !is_reference {
                        made.docs.push(Some(doc.to_vec()));
                        made.leaders.push(Some(leader.doc.clone()));
                        made.same_text.push(leader.text_digest == text_digest);
                        made.reference.push(leader.is_reference);
                        made.sorts.push(None);
                        made.sketches.push(None);
                    }
                }
                _ => {
                    if states.is_valid(row) && states.value(row) == USUAL {
                        made.docs.push(Some(doc.to_vec()));
                        made.leaders.push(None);
                        made.same_text.push(false);
                        made.reference.push(is_reference);
                        made.sorts.push(Some(sort.to_vec()));
                        made.sketches.push(sketches.get(row).map(<[u8]>::to_vec));
                    }
                    self.leader = Some(Leader {
                        digest: digest.to_vec(),
                        doc: doc.to_vec(),
                        text_digest: text_digest.to_vec(),
                        is_reference,
                    });
                }
            }
            if let Some(masks) = masks.filter(|_| made.docs.len() > before) {
                made.masks.get_or_insert_default().push(masks[row]);
            }
        }
        Ok(())
    }

    fn take(&mut self) -> Result<Option<RecordBatch>> {
        if self.made.docs.is_empty() {
            return Ok(None);
        }
        let rows = std::mem::take(&mut self.made);
        let mut columns = Columns::default()
            .bytes("doc", &rows.docs)
            .bytes("leader", &rows.leaders)
            .flags("same_text", rows.same_text)
            .flags("reference", rows.reference)
            .bytes("sort", &rows.sorts)
            .bytes("sketch", &rows.sketches);
        if let Some(masks) = rows.masks {
            columns = columns.longs("mask", masks);
        }
        columns.batch().map(Some)
    }
}
