//! The `simtool` command as functions: [`main`] for a process of its own, [`call`] for bindings to
//! other languages.
//!
//! Exit codes: 0 complete, 2 an error and no result published (additions to an index that were
//! acknowledged stay), 3 published but some input was skipped, 130 interrupted.

use std::ffi::OsString;
use std::sync::Arc;

use crate::cli::dedup;
pub use crate::cli::explain::{compared, requested_methods};
use crate::cli::help;
use crate::cli::help::{completions, man};
use crate::cli::lab::{evaluate, generate, methods, tune};
use crate::cli::main_job;
use crate::cli::process::exit::Finish;
pub use crate::cli::process::machine::{half_of_memory, level};
use crate::cli::process::{exit, interrupt};
use crate::cli::screen::message;
pub use crate::cli::values::size::parse_size;
use crate::cli::{Command, explain, flags, matching, passages};
use crate::corpus::Source;
use crate::engine::Progress;
use crate::io::remote::Client;
use crate::io::{guard, output};
use crate::{Error, ErrorKind, Result};

/// Runs the command line `words`, the first of which is the name of the program, and returns the
/// exit code.
///
/// For a process that does nothing else: prints, and handles SIGBUS, SIGINT, SIGTERM and SIGHUP.
pub fn main(words: Vec<OsString>) -> u8 {
    exit::with(|| {
        let client = Client::new();
        let Some(flags) = flags::parse(words, &client)? else {
            return Ok(Finish::Complete);
        };
        // SAFETY: every job verifies its inputs before it publishes a result, and nothing else in
        // this program handles SIGBUS.
        unsafe { guard::install() }?;
        output::outlive_file_size_limit();
        interrupt::install()?;
        match flags.command {
            Command::Dedup(args) => return dedup::run(&args, &client),
            Command::Lines(args) => return passages::run(&*args, &client),
            Command::Spans(args) => return passages::run(&*args, &client),
            Command::Decontaminate(args) => return passages::run(&*args, &client),
            Command::Match(args) => return matching::run(&args, &client),
            #[cfg(feature = "index")]
            Command::Index(args) => return crate::cli::index::run(&args, &client),
            #[cfg(feature = "serve")]
            Command::Serve(args) => crate::cli::serve::run(&args),
            Command::Evaluate(args) => return evaluate::run(&args, &client),
            Command::Tune(args) => return tune::run(&args, &client),
            Command::Methods(args) => methods::run(&args),
            Command::MainJob(args) => main_job::run(&args, &client),
            Command::Explain(args) => explain::run(&args, &client),
            Command::Generate(args) => generate::run(&args),
            Command::Help(args) => help::run(&args, flags::definition()),
            Command::Completions(args) => completions::run(&args, flags::definition()),
            Command::Man(args) => man::run(&args, flags::definition()),
        }
        .map(|()| Finish::Complete)
    })
}

pub use crate::cli::dedup::{DedupCall, dedup_call};

/// Runs `simtool dedup`, `lines`, `spans`, `decontaminate`, `evaluate` or `tune` with the flags of
/// `words`, whose first word is the name of the command, and returns the result as JSON:
/// `summary.json`, that of `--json`, or the recommendation.
///
/// For a process that does other things, too: prints nothing, handles no signal, and panics like
/// any function. [`Progress::stop`] and [`Client::stop`] interrupt it. `client` is for this call
/// alone, as its flags set the cache and memory of it. For the commands that write to a directory, an
/// input with the path of one of `rows` is not a file, but [rows in memory](Source::of_rows); it must
/// be the only input, and no documents are written.
///
/// # Errors
/// Errors of the command; [`ErrorKind::Parameter`] for another command.
pub fn call(
    words: Vec<OsString>,
    rows: &[Source],
    progress: &Arc<Progress>,
    client: &Client,
) -> Result<Vec<u8>> {
    message::set_style(message::Style::Silent);
    match flags::command(words, client)? {
        Command::Dedup(args) => dedup::call(&args, rows, progress, client),
        Command::Lines(args) => passages::call(&*args, rows, progress, client),
        Command::Spans(args) => passages::call(&*args, rows, progress, client),
        Command::Decontaminate(args) => passages::call(&*args, rows, progress, client),
        Command::Evaluate(args) => evaluate::call(&args, progress, client),
        Command::Tune(args) => tune::call(&args, progress, client),
        _ => {
            let message = "expected dedup, lines, spans, decontaminate, evaluate or tune";
            Err(Error::new(ErrorKind::Parameter, message))
        }
    }
}
