//! What a run does: the job, its limits and rules, and warnings about them.

pub(super) mod containment;
pub(super) mod job;
pub(super) mod loss_limit;
pub(super) mod min_sources;
pub(super) mod source_code;
pub(super) mod url_rule;
pub(super) mod verification;
pub(super) mod warnings;
