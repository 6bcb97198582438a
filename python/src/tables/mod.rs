//! Tables of Arrow, in and out: import, columns, ids, and rows as JSON Lines.

pub(super) mod columns;
pub(super) mod ids;
pub(super) mod import;
mod json;
pub(super) mod rows;
pub(super) mod table;
