//! The definition of the command line, for parsing, help, completions and the manual.

use std::error::Error as _;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind as Reason};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use simtool::io::remote::Client;
use simtool::{Error, ErrorKind, Result};

use super::explain::ExplainArgs;
#[cfg(feature = "index")]
use super::index::IndexArgs;
use super::matching::MatchArgs;
#[cfg(feature = "serve")]
use super::serve::ServeArgs;
use crate::cli::dedup::flags::DedupArgs;
use crate::cli::help::HelpArgs;
use crate::cli::help::commands;
use crate::cli::help::completions::CompletionsArgs;
use crate::cli::help::man::ManArgs;
use crate::cli::lab::evaluate::EvaluateArgs;
use crate::cli::lab::generate::GenerateArgs;
use crate::cli::lab::methods::MethodsArgs;
use crate::cli::lab::tune_flags::TuneArgs;
use crate::cli::main_job::flags::MainJobArgs;
use crate::cli::passages::decontaminate_flags::DecontaminateArgs;
use crate::cli::passages::lines_flags::LinesArgs;
use crate::cli::passages::spans_flags::SpansArgs;
use crate::cli::reading::addresses;
use crate::cli::reading::cache_flags;
use crate::cli::reading::server_waits;
use crate::cli::screen;
use crate::cli::screen::log::LogForm;
use crate::cli::screen::message::{self, Style};

const ABOUT: &str = "Finds near-duplicate texts: the articles near each sample";

const LONG_ABOUT: &str = "\
Finds near-duplicate texts: the articles near each sample.

Reads article.txt, sample.txt, stopwords.txt and hashvalue.txt in the current directory, writes \
result.txt there, and prints its first block. The features are the N most frequent words of the \
articles that are not stop words; each page gets a SimHash fingerprint of M bits from the first N \
rows of hashvalue.txt; articles within a Hamming distance of 3 are listed for each sample.";

const MORE: &str = "\
Examples:
  simtool 1000 16
          The files of the current directory; 1000 features, 16 bits
  simtool 1000 64 --dir crawl --distance 5 --summary
          The files of another directory, a wider distance, a summary on standard error
  simtool 1000 64 --articles 2023.txt 2024.txt --output near.txt
          Several article files, read as if they were one; the other three by their usual names
  zcat new.gz | simtool 1000 64 --samples - --output - > near.txt
          Samples from standard input, the result on standard output
  simtool 1000 64 --timings --threads 4 --memory 2G
          Where the time goes, in bounded memory
  simtool 1000 64 --scaling=3
          Time, speed-up and efficiency for 1, 2, 4 ... threads, medians of three runs
  simtool generate --dir made --size 200M
          A corpus to try all this on

Files:
  Pages are separated by form feeds; the first line of a page that is not blank is its ID, and \
what follows is its text. Words are runs of ASCII letters, folded to lower case. Stop words \
stand between white space. Each line of hashvalue.txt is a row of digits 0 and 1. The result is \
replaced in one step when it is complete; until then, an earlier one does not change.

Environment:
  SIMTOOL_SIMD=scalar|neon|avx2|avx512 forces an instruction set; the result is the same.
  TMPDIR is where temporary copies go when the result goes to a pipe or a device.

Exit codes:
  0 complete, 2 an error and nothing published, 3 published but some input was skipped (match,
  dedup, lines, spans, decontaminate), 130 interrupted.";

/// The parsed command line.
pub struct Flags {
    /// The subcommand, or the plain form (`simtool N M`).
    pub command: Command,
}

#[derive(Parser)]
#[command(
    name = "simtool",
    version,
    propagate_version = true,
    about = ABOUT,
    long_about = LONG_ABOUT,
    after_long_help = MORE,
    after_help = "More, with examples: simtool --help",
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_subcommand = true,
    max_term_width = 100
)]
struct Definition {
    #[command(subcommand)]
    subcommand: Option<Command>,
    #[command(flatten)]
    plain: Option<MainJobArgs>,
}

/// One variant per subcommand.
#[derive(Subcommand)]
pub enum Command {
    /// The plain form, which has no name.
    #[command(skip)]
    MainJob(Box<MainJobArgs>),
    Dedup(Box<DedupArgs>),
    Lines(Box<LinesArgs>),
    Spans(Box<SpansArgs>),
    Decontaminate(Box<DecontaminateArgs>),
    #[command(name = "match")]
    Match(Box<MatchArgs>),
    Evaluate(Box<EvaluateArgs>),
    Tune(Box<TuneArgs>),
    Methods(MethodsArgs),
    Explain(Box<ExplainArgs>),
    #[cfg(feature = "index")]
    Index(Box<IndexArgs>),
    #[cfg(feature = "serve")]
    Serve(Box<ServeArgs>),
    Generate(Box<GenerateArgs>),
    Help(HelpArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

/// The definition of the command line.
pub fn definition() -> clap::Command {
    Definition::command()
}

/// The flags of a command line, whose first word is the name of the program; `None` after printing
/// help or the version. Those about servers are set in `client`. Without any flags, the short help
/// is printed.
///
/// # Errors
/// [`ErrorKind::Parameter`] for flags that are unknown, missing, contradictory or out of range, and
/// for remote addresses; those of a cache that cannot be used; those of printing.
pub fn parse(words: Vec<OsString>, client: &Client) -> Result<Option<Flags>> {
    let first = match words.get(1) {
        Some(first) => first,
        None => {
            screen::quietly(definition().print_help())?;
            return Ok(None);
        }
    };
    let definition = definition();
    let names: Vec<&str> = definition
        .get_subcommands()
        .map(clap::Command::get_name)
        .collect();
    let refusal = first
        .to_str()
        .and_then(|word| commands::refusal(word, &names));
    if let Some(error) = refusal {
        return Err(error);
    }
    let parsed = definition.try_get_matches_from(words);
    let parsed = parsed.and_then(|matches| Ok((Definition::from_arg_matches(&matches)?, matches)));
    match parsed {
        Ok((Definition { subcommand, plain }, matches)) => {
            let (name, matches) = innermost(&matches);
            message::set_style(style(matches));
            addresses::refuse(name, matches)?;
            cache_flags::set(client, matches)?;
            server_waits::set(client, matches);
            let plain = || plain.map(|args| Command::MainJob(Box::new(args)));
            Ok(subcommand.or_else(plain).map(|command| Flags { command }))
        }
        Err(error) if !error.use_stderr() => {
            screen::quietly(error.print())?;
            Ok(None)
        }
        Err(error) => Err(Error::new(ErrorKind::Parameter, explain(&error))),
    }
}

/// The command of a command line without the name of the program. Its flags about servers are set in
/// `client`.
///
/// # Errors
/// Errors of [`parse`]; a request for help is an error.
pub fn command(words: Vec<OsString>, client: &Client) -> Result<Command> {
    let refuse = |error| Error::new(ErrorKind::Parameter, explain(&error));
    let words = std::iter::once(OsString::from("simtool")).chain(words);
    let matches = definition().try_get_matches_from(words).map_err(refuse)?;
    let parsed = Definition::from_arg_matches(&matches).map_err(refuse)?;
    let (name, matches) = innermost(&matches);
    addresses::refuse(name, matches)?;
    cache_flags::set(client, matches)?;
    server_waits::set(client, matches);
    let missing = || Error::new(ErrorKind::Parameter, "expected a command");
    parsed.subcommand.ok_or_else(missing)
}

/// The name and the flags of the innermost subcommand; the plain form has no name.
fn innermost(matches: &ArgMatches) -> (&str, &ArgMatches) {
    let mut found = ("", matches);
    while let Some(inner) = found.1.subcommand() {
        found = inner;
    }
    found
}

/// The style of messages of a command with these flags.
fn style(matches: &ArgMatches) -> Style {
    let is_quiet = matches.try_get_one::<bool>("quiet").ok().flatten();
    let log = matches.try_get_one::<LogForm>("log").ok().flatten();
    match (is_quiet, log) {
        (Some(true), _) => Style::Errors,
        (_, Some(LogForm::Json)) => Style::Json,
        _ => Style::Text,
    }
}

/// One line for a value out of range; clap's own text otherwise.
fn explain(error: &clap::Error) -> String {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let parts = (
        error.kind(),
        context(ContextKind::InvalidArg),
        context(ContextKind::InvalidValue),
        error.source(),
    );
    if let (Reason::ValueValidation, Some(argument), Some(value), Some(why)) = parts {
        let name = argument.split([' ', '=', '[']).next().unwrap_or(argument);
        let name = name.trim_matches(['<', '>']);
        return format!("{name} {value}: {why}");
    }
    let text = error.render().to_string();
    text.strip_prefix("error: ")
        .unwrap_or(&text)
        .trim_end()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        definition().debug_assert();
    }

    fn refusal(line: &str) -> String {
        let error = Definition::try_parse_from(line.split(' ')).err().unwrap();
        explain(&error)
    }

    /// Promise (Errors and interruptions): Flags out of range are refused …
    #[test]
    fn values_are_refused_in_one_line() {
        for (line, refused) in [
            (
                "simtool 0 16",
                "N 0: expected a whole number from 1 to 10000",
            ),
            (
                "simtool -5 16",
                "N -5: expected a whole number from 1 to 10000",
            ),
            (
                "simtool 1000 129",
                "M 129: expected a whole number from 1 to 128",
            ),
            (
                "simtool 1 1 --threads 0",
                "--threads 0: expected a whole number from 1 to 1024",
            ),
            (
                "simtool 1 1 --scaling=0",
                "--scaling 0: expected a whole number from 1 to 1000",
            ),
            (
                "simtool 1 1 --memory 3X",
                "--memory 3X: expected a number of bytes such as 4096, 64K, 200M or 1G",
            ),
        ] {
            assert_eq!(refusal(line), refused);
        }
    }

    #[test]
    fn subcommands_need_no_numbers() {
        let parsed = Definition::try_parse_from(["simtool", "help"])
            .ok()
            .unwrap();
        assert!(matches!(parsed.subcommand, Some(Command::Help(_))));
        assert!(parsed.plain.is_none());
        assert!(refusal("simtool").contains("<N>"));
    }
}
