//! The reports, the page and the summary of a run.

pub(crate) mod items_list;
pub(crate) mod page;
pub(crate) mod reports;
pub(crate) mod spans;
pub(crate) mod summary;
pub(crate) mod texts;
pub(crate) mod totals;
pub(crate) mod warnings;
