//! `simtool methods`: lists and explains methods.

use clap::Args;
use simtool::sketch::registry::{Entry, METHODS};
use simtool::{Error, ErrorKind, Result};

use crate::cli::screen;
use crate::cli::values;

/// List all methods, or explain one
///
/// A method is given as NAME or NAME:parameter=value,parameter=value. Methods can be combined: "A
/// and B" finds the pairs that both find, "A or B" those that either finds.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct MethodsArgs {
    /// The method to explain
    #[arg(value_name = "NAME", value_parser = values::method(), hide_possible_values = true)]
    name: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  simtool methods
          One line for each
  simtool methods spot-signatures
          How one works, what it costs, its parameters, and its source
  simtool dedup dump.jsonl -o out --method simhash:bits=128,distance=12
          A method with parameters
  simtool dedup dump.jsonl -o out --method 'shingles:similarity=0.6 and simhash:distance=10'
          Pairs that both methods propose";

/// The most columns of a line.
const COLUMNS: usize = 80;

/// Prints the list, or the description of one method.
///
/// # Errors
/// [`ErrorKind::Parameter`] for an unknown method.
pub fn run(args: &MethodsArgs) -> Result<()> {
    let text = match &args.name {
        None => list(),
        Some(name) => explained(name)?,
    };
    screen::print(text.as_bytes())
}

fn list() -> String {
    let names = METHODS.iter().map(|entry| entry.name.len());
    let width = names.max().unwrap_or(0);
    let line = |entry: &&Entry| format!("{:width$}  {}\n", entry.name, entry.summary);
    METHODS.iter().map(line).collect()
}

fn explained(name: &str) -> Result<String> {
    let Some(entry) = METHODS.iter().find(|entry| entry.name == name) else {
        let names: Vec<&str> = METHODS.iter().map(|entry| entry.name).collect();
        let message = format!("method {name:?}: expected one of {}", names.join(", "));
        return Err(Error::new(ErrorKind::Parameter, message));
    };
    let mut text = format!("{}: {}\n", entry.name, entry.summary);
    for paragraph in entry.description.split("\n\n") {
        text.push('\n');
        text += &filled(paragraph, "");
    }
    text.push('\n');
    text += &filled(&format!("Measured: {}.", entry.measured), "");
    if entry.parameters.is_empty() {
        text += "\nIt has no parameters.\n";
        return Ok(text);
    }
    text += "\nParameters:\n";
    for parameter in entry.parameters {
        text += &format!("  {}={}\n", parameter.name, parameter.default);
        let bounds = format!("{} ({})", parameter.meaning, parameter.domain);
        text += &filled(&bounds, "      ");
    }
    Ok(text)
}

/// Words in lines of at most [`COLUMNS`] characters, unless one is longer.
fn filled(text: &str, indent: &str) -> String {
    let (mut lines, mut line) = (String::new(), indent.to_owned());
    for word in text.split_whitespace() {
        let length = line.chars().count() + 1 + word.chars().count();
        if line.len() > indent.len() && length > COLUMNS {
            lines += &format!("{line}\n");
            indent.clone_into(&mut line);
        }
        if line.len() > indent.len() {
            line.push(' ');
        }
        line += word;
    }
    lines + &line + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_short_and_complete() {
        for entry in METHODS {
            let text = explained(entry.name).unwrap();
            assert!(
                text.lines()
                    .skip(1)
                    .all(|line| line.chars().count() <= COLUMNS),
                "{text}"
            );
            let words = |text: &str| {
                text.split_whitespace()
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            };
            let (all, description) = (words(&text), words(entry.description));
            assert!(
                all.windows(description.len())
                    .any(|part| part == description)
            );
            for parameter in entry.parameters {
                assert!(text.contains(&format!("  {}={}", parameter.name, parameter.default)));
            }
        }
        assert_eq!(list().lines().count(), METHODS.len());
    }

    #[test]
    fn an_unknown_method_is_refused_with_the_known_ones() {
        let error = explained("md6").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Parameter);
        assert!(error.to_string().contains("simhash, minhash"));
    }
}
