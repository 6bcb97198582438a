//! What every step of a rule gets from the caller.

use super::{Event, Judge, Parallel};
use crate::Result;

/// The executor, the judge, and the receiver of events.
pub(super) struct Context<'c, P: Parallel, J: Judge> {
    pub parallel: &'c P,
    pub judge: &'c J,
    pub sink: &'c mut dyn FnMut(Event) -> Result<()>,
}
