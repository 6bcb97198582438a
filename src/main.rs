//! The `simtool` command.
//!
//! Exit codes: 0 complete, 2 an error and no result published (additions to an index that were
//! acknowledged stay), 3 published but some input was skipped, 130 interrupted.

mod cli;
#[cfg(feature = "serve")]
mod serve;

use std::process::ExitCode;

use cli::exit::Finish;
use cli::{
    Command, completions, dedup, evaluate, exit, explain, flags, generate, help, interrupt,
    main_job, man, matching, methods, tune,
};
use simtool::io::{guard, output};

fn main() -> ExitCode {
    exit::with(|| {
        let Some(flags) = flags::parse()? else {
            return Ok(Finish::Complete);
        };
        // SAFETY: every job verifies its inputs before it publishes a result, and nothing else in
        // this program handles SIGBUS.
        unsafe { guard::install() }?;
        output::outlive_file_size_limit();
        interrupt::install()?;
        match flags.command {
            Command::Dedup(args) => return dedup::run(&args),
            Command::Match(args) => return matching::run(&args),
            #[cfg(feature = "index")]
            Command::Index(args) => return cli::index::run(&args),
            #[cfg(feature = "serve")]
            Command::Serve(args) => cli::serve::run(&args),
            Command::Evaluate(args) => return evaluate::run(&args),
            Command::Tune(args) => return tune::run(&args),
            Command::Methods(args) => methods::run(&args),
            Command::MainJob(args) => main_job::run(&args),
            Command::Explain(args) => explain::run(&args),
            Command::Generate(args) => generate::run(&args),
            Command::Help(args) => help::run(&args, flags::definition()),
            Command::Completions(args) => completions::run(&args, flags::definition()),
            Command::Man(args) => man::run(&args, flags::definition()),
        }
        .map(|()| Finish::Complete)
    })
}
