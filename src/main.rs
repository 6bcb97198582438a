//! The `simtool` command.

fn main() {}
