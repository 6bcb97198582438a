//! The pages in docs/: their commands run and print what the pages show, the pages of commands are
//! those of the program's help, and every link leads somewhere.
//!
//! Every line of an `sh` block runs, in order, in a directory with the files of [`fixture`], a new one
//! for each page. `simtool serve` runs until the page ends. A `text` or `json` block between an `sh`
//! block and the next heading or `sh` block shows its output, or whole lines of it; `…` is any text,
//! measured times do not count, and blocks of `text,ignore` are not compared. Commands in `console` blocks are only parsed.
//!
//! With the environment variable `SIMTOOL_DOCS`, the tests write the pages of commands, and replace a
//! wrong output on a page by the real one, unless it has a `…`.

mod commands;
mod console;
mod fences;
mod fixture;
mod links;
mod output;
mod pages;
mod run;
mod script;

use std::path::PathBuf;

const PROGRAM: &str = env!("CARGO_BIN_EXE_simtool");

fn package() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Whether the tests write what they make.
fn is_written() -> bool {
    std::env::var_os("SIMTOOL_DOCS").is_some()
}
