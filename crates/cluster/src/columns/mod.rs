//! Record batches: columns by name, and rows of results.

mod batch;
mod packed;
mod pair_rows;
mod texts;

pub use batch::{
    Columns, Order, ROWS, bytes, column, damaged, flags, ints, longs, optional, optional_longs,
    present,
};
pub use packed::{Packer, Unpacker};
pub use pair_rows::PairRows;
pub use texts::Texts;
