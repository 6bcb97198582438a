//! Columns of reports, whatever the format.

use std::borrow::Cow;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8.
    Text,
    /// A non-negative integer.
    Whole,
    /// A decimal number.
    Decimal,
    /// True or false.
    Flag,
}

/// A column of the table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub kind: Kind,
    /// Whether values may be missing.
    pub may_lack: bool,
}

/// A column.
pub(super) const fn column(name: &'static str, kind: Kind, may_lack: bool) -> Column {
    Column {
        name,
        kind,
        may_lack,
    }
}

/// The value of a column in a row.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnValue<'a> {
    /// The value of a text column.
    Text(Option<Cow<'a, str>>),
    /// The value of an integer column.
    Whole(Option<u64>),
    /// The value of a decimal column.
    Decimal(Option<f64>),
    /// The value of a column of flags.
    Flag(Option<bool>),
}
