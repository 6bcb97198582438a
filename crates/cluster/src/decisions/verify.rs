//! Exact comparison of pairs.

use arrow_array::RecordBatch;
use simtool_core::Result;
use simtool_core::sketch::{Method, Score};
use simtool_core::text::LeastSimilarity;

use crate::columns::{Columns, Order, bytes, damaged, longs, present};
use crate::numbers::read_set;
use crate::settings::Settings;
use crate::step::Step;

/// The `earlier` of the row with the document's own set.
const OWN: i64 = -1;

/// The step `verify`: by member, then by `earlier`. The first row of each member has its own set, the
/// others those of the documents with which it is compared. Gives the pairs whose sketches are near
/// and whose sets are similar enough; with the setting `any`, all pairs.
pub struct Verify {
    method: Box<dyn Method>,
    least: LeastSimilarity,
    any: bool,
    order: Order<(i64, i64)>,
    member: Option<i64>,
    sketch: Vec<u8>,
    set: Vec<u64>,
    other: Vec<u64>,
    made: VerifiedRows,
}

#[derive(Default)]
struct VerifiedRows {
    members: Vec<i64>,
    earlier: Vec<i64>,
    shared: Vec<i64>,
    shingles: Vec<i64>,
    distances: Vec<Option<i64>>,
    estimates: Vec<Option<f64>>,
}

impl Verify {
    /// The step.
    ///
    /// # Errors
    /// Errors of the settings.
    pub fn new(settings: Settings) -> Result<Verify> {
        Ok(Verify {
            least: settings.verification()?.least,
            any: settings.any,
            method: settings.build()?,
            order: Order::default(),
            member: None,
            sketch: Vec::new(),
            set: Vec::new(),
            other: Vec::new(),
            made: VerifiedRows::default(),
        })
    }

    fn compare(&mut self, member: i64, earlier: i64, sketch: &[u8], set: &[u8]) -> Result<()> {
        let score = self.method.score(sketch, &self.sketch);
        if !self.any && !self.method.accepts(&score) {
            return Ok(());
        }
        read_set(set, &mut self.other)?;
        let found = match self.any {
            true => Some(self.least.measure.similarity(&self.other, &self.set)),
            false => self.least.reached(&self.other, &self.set),
        };
        let Some((shared, shingles)) = found else {
            return Ok(());
        };
        let made = &mut self.made;
        made.members.push(member);
        made.earlier.push(earlier);
        made.shared.push(shared.cast_signed());
        made.shingles.push(shingles.cast_signed());
        let (distance, estimate) = match score {
            Score::Distance(bits) => (Some(bits.into()), None),
            Score::Fraction(part, whole) => (None, decimal(part, whole)),
        };
        made.distances.push(distance);
        made.estimates.push(estimate);
        Ok(())
    }
}

/// A share as the reports of the command have it.
fn decimal(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

impl Step for Verify {
    fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let (members, earlier) = (longs(batch, "member")?, longs(batch, "earlier")?);
        let (sketches, sets) = (bytes(batch, "sketch")?, bytes(batch, "set")?);
        for row in 0..batch.num_rows() {
            self.order.next((members[row], earlier[row]))?;
            let sketch = present(&sketches, row, "sketch")?;
            let set = present(&sets, row, "set")?;
            if earlier[row] == OWN {
                self.member = Some(members[row]);
                self.sketch.clear();
                self.sketch.extend_from_slice(sketch);
                read_set(set, &mut self.set)?;
            } else if self.member == Some(members[row]) {
                self.compare(members[row], earlier[row], sketch, set)?;
            } else {
                return Err(damaged(format!(
                    "document {} has candidates and no set of shingles",
                    members[row]
                )));
            }
        }
        Ok(())
    }

    fn take(&mut self) -> Result<Option<RecordBatch>> {
        if self.made.members.is_empty() {
            return Ok(None);
        }
        let rows = std::mem::take(&mut self.made);
        let batch = Columns::default()
            .longs("member", rows.members)
            .longs("earlier", rows.earlier)
            .longs("shared", rows.shared)
            .longs("shingles", rows.shingles)
            .optional_longs("distance", rows.distances)
            .doubles("estimate", rows.estimates)
            .batch()?;
        Ok(Some(batch))
    }
}
