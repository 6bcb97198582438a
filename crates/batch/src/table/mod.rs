//! The table of all documents of a run: where each is, what is known of it, and sets of them.
//!
//! The first reading stores a [`Row`](row::Row) and a label for each document, in
//! [segments](segment_store) that an interrupted run keeps. Documents have consecutive numbers in the
//! order of the inputs; [`Numbering`](numbering::Numbering) has the first number of each chunk.

pub mod bits;
pub mod by_number;
pub mod chunk_records;
pub mod columns;
pub mod document_table;
pub mod numbering;
pub mod open_unit;
pub mod row;
pub mod rows;
pub mod segment;
pub mod segment_store;
pub mod spooled_records;
pub mod stamp;
