//! Tables of Arrow, in and out: import, IPC streams, columns, ids, and rows as JSON Lines.

pub(super) mod columns;
pub(super) mod ids;
pub(super) mod import;
mod ipc;
mod json;
pub(super) mod rows;
pub(super) mod table;
pub(super) mod texts;
