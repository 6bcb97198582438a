//! What every step of a rule gets from the caller.

use crate::Result;
use crate::dedup::{Event, Judge, Parallel};

/// The executor, the judge, and the receiver of events.
pub(super) struct Context<'c, P: Parallel, J: Judge> {
    pub parallel: &'c P,
    pub judge: &'c J,
    pub sink: &'c mut dyn FnMut(Event) -> Result<()>,
}
