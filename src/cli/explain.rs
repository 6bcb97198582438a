//! `simtool explain`: two documents side by side, and the verdicts of methods on them.

use std::io::IsTerminal;

use serde_json::Value;
use simtool::Result;
use simtool::io::remote::Client;
use simtool::jobs::explain::{ExplainSettings, compare};
use simtool::report::tokens::Equality;
use simtool::sketch::registry::{METHODS, Spec};
use simtool::text::WordSet;

use crate::cli::process::machine;
use crate::cli::screen;
use find::Pair;
use marks::Marks;

mod columns;
mod find;
mod flags;
mod hit;
mod listed;
mod marks;
mod place;
mod sheet;
mod verdicts;

pub use flags::ExplainArgs;

/// Finds the two documents, compares them and prints the result.
///
/// # Errors
/// Errors of the flags, of finding and reading the documents, and of standard output.
pub fn run(args: &ExplainArgs, client: &Client) -> Result<()> {
    let reading = args.reading.reading();
    reading.check()?;
    let Pair { documents, listed } = find::pair(args, &reading, client)?;
    let [a, b] = &documents;
    let settings = settings(args)?;
    let comparison = compare([&a.text, &b.text], &settings, machine::level()?)?;
    if args.json {
        let mut text =
            verdicts::json(&documents, &comparison, &settings, listed.as_ref()).to_string();
        text.push('\n');
        return screen::print(text.as_bytes());
    }
    let marks = Marks::new(std::io::stdout().is_terminal());
    let width = args.width.unwrap_or_else(screen::width);
    let mut text = verdicts::text(&documents, &comparison, &settings, listed.as_ref());
    text.push('\n');
    // A hit is found by words without regard to case, or by equal bytes.
    let equality = match args.hit {
        Some(_) => Equality::Folded,
        None => Equality::Bytes,
    };
    text += &sheet::side_by_side([&a.text, &b.text], equality, width, args.full, marks);
    screen::print(text.as_bytes())
}

/// Two texts side by side in `width` columns, with the verdicts above them: as text, and the
/// verdicts as JSON.
///
/// # Errors
/// [`ErrorKind::Parameter`](simtool::ErrorKind::Parameter) for settings out of range.
pub fn compared(
    texts: [&[u8]; 2],
    settings: &ExplainSettings,
    width: usize,
) -> Result<(String, Value)> {
    let comparison = compare(texts, settings, machine::level()?)?;
    let mut text = verdicts::table(&comparison, settings);
    text.push('\n');
    text += &sheet::side_by_side(texts, Equality::Bytes, width, false, Marks::new(false));
    Ok((text, verdicts::of(&comparison, settings)))
}

/// The methods that `--method` requests, each by name and parameters; `all` requests every method.
pub fn requested_methods(names: &[String]) -> Result<Vec<Spec>> {
    let each = |name: &String| match name.as_str() {
        "all" => METHODS.iter().map(|entry| entry.name.to_owned()).collect(),
        _ => vec![name.clone()],
    };
    let names = names.iter().flat_map(each);
    names.map(|name| Spec::parse(&name)).collect()
}

fn settings(args: &ExplainArgs) -> Result<ExplainSettings> {
    let tokenizer = args.reading.tokenizer();
    Ok(ExplainSettings {
        tokenizer,
        shingle: args.shingle.unwrap_or_else(|| tokenizer.usual_width()),
        thousandths: args.similarity,
        distance: args.distance as u32,
        stop_words: match args.keep_stop_words {
            true => WordSet::default(),
            false => args.reading.stop_words()?,
        },
        recall: args.recall,
        methods: requested_methods(&args.method)?,
    })
}
