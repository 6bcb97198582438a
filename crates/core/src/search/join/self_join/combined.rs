//! The join of a combination of two methods, by the joins of both.

use crate::Result;
use crate::search::hamming::self_join::{Marks, Watch};
use crate::sketch::{Combination, Compare, SketchList, Sketches};

use crate::search::join::source::SketchSource;

/// The positions of the sketches that have a near one at another position, if `combined` finds
/// sketches near that either method does. If both have to, also of sketches that have a near one by
/// each method.
///
/// `join` returns the positions for one of the methods.
pub(super) fn any(
    combined: &dyn Combination,
    sketches: &dyn SketchSource,
    watch: &dyn Watch,
    join: impl Fn(&dyn Compare, &dyn SketchSource, &dyn Watch) -> Result<Marks>,
) -> Result<Marks> {
    let of_side = |side: usize| {
        let source = SideSource::new(combined, side, sketches)?;
        let watch = SideWatch { watch, side };
        let found = join(combined.methods()[side], &source, &watch)?;
        let marks = Marks::none_of(sketches.count());
        source.for_each_position(|position, own| {
            if own.is_some_and(|own| found.contains(own)) {
                marks.insert(position);
            }
        })?;
        Ok(marks)
    };
    let [first, second] = [of_side(0)?, of_side(1)?];
    let marks = Marks::none_of(sketches.count());
    for position in 0..sketches.count() {
        let found = [&first, &second].map(|marks| marks.contains(position));
        let is_marked = match combined.is_either() {
            true => found.contains(&true),
            false => !found.contains(&false),
        };
        if is_marked {
            marks.insert(position);
        }
    }
    Ok(marks)
}

/// The sketches of one method.
pub(super) fn list_of(
    combined: &dyn Combination,
    side: usize,
    sketches: Sketches<'_>,
) -> SketchList {
    let mut list = SketchList::new(combined.methods()[side]);
    let own = sketches
        .iter()
        .filter_map(|sketch| combined.sides_of(sketch)[side]);
    own.for_each(|sketch| list.push(sketch));
    list
}

/// The sketches of one method; documents without features for it have none.
struct SideSource<'a> {
    combined: &'a dyn Combination,
    side: usize,
    sketches: &'a dyn SketchSource,
    count: u32,
}

impl<'a> SideSource<'a> {
    fn new(
        combined: &'a dyn Combination,
        side: usize,
        sketches: &'a dyn SketchSource,
    ) -> Result<SideSource<'a>> {
        let mut source = SideSource {
            combined,
            side,
            sketches,
            count: 0,
        };
        let mut count = 0;
        source.for_each_position(|_, own| count += u32::from(own.is_some()))?;
        source.count = count;
        Ok(source)
    }

    /// Calls `visit` for all positions of the combination, in order, each with that of its own sketch.
    fn for_each_position(&self, mut visit: impl FnMut(u32, Option<u32>)) -> Result<()> {
        let (mut position, mut own) = (0, 0);
        self.sketches.for_each(&mut |run| {
            for sketch in run.iter() {
                let has_own = self.combined.sides_of(sketch)[self.side].is_some();
                visit(position, has_own.then_some(own));
                own += u32::from(has_own);
                position += 1;
            }
            Ok(())
        })
    }
}

impl SketchSource for SideSource<'_> {
    fn count(&self) -> u32 {
        self.count
    }

    fn for_each(&self, visit: &mut dyn FnMut(Sketches<'_>) -> Result<()>) -> Result<()> {
        self.sketches.for_each(&mut |run| {
            let list = list_of(self.combined, self.side, run);
            visit(list.all(self.combined.methods()[self.side]))
        })
    }
}

/// The progress of one of the two joins.
struct SideWatch<'a> {
    watch: &'a dyn Watch,
    side: usize,
}

impl Watch for SideWatch<'_> {
    fn reached(&self, share: f64) -> Result<()> {
        self.watch.reached((self.side as f64 + share) / 2.0)
    }
}
