//! `simtool index info`: settings and sizes of an index.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use simtool::corpus::HtmlText;
use simtool::index::{Info, Layout};
use simtool::io::InputFiles;
use simtool::jobs::seen::Seen;
use simtool::{Error, ErrorKind, Result};

use super::documents::{open, read_only};
use super::line_file::LineFile;
use crate::cli::screen;

/// Print what an index contains, and its settings
#[derive(Args, Clone, Debug)]
pub struct InfoArgs {
    /// The directory of the index
    #[arg(value_name = "DIR")]
    index: PathBuf,

    /// One JSON object for programs
    #[arg(long)]
    json: bool,

    /// Print this document instead, as a JSON object: its id, its sketch in hexadecimal digits and
    /// its payload; an error if it is not in the index
    #[arg(long, value_name = "ID")]
    id: Option<OsString>,
}

/// The facts about an index, as JSON.
#[derive(Serialize)]
struct Facts<'a> {
    method: String,
    tokenizer: &'a str,
    html: HtmlText,
    stop_words: String,
    layout: Layout,
    documents: u64,
    removed: u64,
    recent: u64,
    segments: Vec<Segment>,
    bytes: u64,
    verified: bool,
    /// The least similarity of a match, words in a shingle, and whether similarities are estimates.
    similarity: Option<f64>,
    shingle: Option<usize>,
    estimated: bool,
    dumps: Vec<String>,
}

#[derive(Serialize)]
struct Segment {
    documents: u32,
    distinct: u64,
    bytes: u64,
}

/// Prints the facts.
pub fn run(args: &InfoArgs) -> Result<()> {
    let seen = open(&args.index, &read_only())?;
    if let Some(id) = &args.id {
        return document(&seen, id);
    }
    let info = seen.index().info();
    let facts = facts(&seen, &info);
    let text = match args.json {
        true => serde_json::to_string(&facts).unwrap_or_default() + "\n",
        false => text(&seen, &facts),
    };
    screen::print(text.as_bytes())
}

/// Prints a document.
fn document(seen: &Seen, id: &OsStr) -> Result<()> {
    let Some(document) = seen.index().document(id.as_encoded_bytes())? else {
        let message = format!("there is no document {id:?} in it");
        let error = Error::new(ErrorKind::Parameter, message);
        return Err(error.in_file(seen.index().directory()));
    };
    let output = Some(Path::new("-"));
    let screen = LineFile::new(output, "--output", &mut InputFiles::default(), None)?;
    let mut line = screen.begin()?;
    line.write(&serde_json::to_vec(&seen.known(&document)).unwrap_or_default())?;
    line.write(b"\n")?;
    line.publish()
}

fn facts<'a>(seen: &'a Seen, info: &Info) -> Facts<'a> {
    let settings = seen.settings();
    let segment = |&(documents, distinct, bytes): &(u32, u64, u64)| Segment {
        documents,
        distinct,
        bytes,
    };
    Facts {
        method: settings.spec.to_string(),
        tokenizer: settings.tokenizer.name(),
        html: settings.html,
        stop_words: settings.stop_words.to_string(),
        layout: info.layout,
        documents: info.documents,
        removed: info.removed,
        recent: info.recent,
        segments: info.segments.iter().map(segment).collect(),
        bytes: info.segments.iter().map(|(_, _, bytes)| bytes).sum(),
        verified: settings.verifies(),
        similarity: settings.similarity(),
        shingle: settings.signatures.map(|signatures| signatures.shingle),
        estimated: settings.estimates(),
        dumps: info.dumps.clone(),
    }
}

/// The facts as text, without those that only programs need.
fn text(seen: &Seen, facts: &Facts<'_>) -> String {
    let html = match facts.html {
        HtmlText::Main => "the main text of a page",
        HtmlText::Visible => "all visible text of a page",
        HtmlText::Markup => "the markup as it stands",
    };
    let tables = match facts.layout {
        Layout::Fast => "fast",
        Layout::Compact => "compact",
    };
    let mut text = format!(
        "documents   {}\nmethod      {}\nHTML        {html}\ntables      {tables}\nremoved     {}\n\
         recent      {}\nsegments    {}\nbytes       {}\n",
        facts.documents,
        seen.about(),
        facts.removed,
        facts.recent,
        facts.segments.len(),
        facts.bytes,
    );
    let dumps = facts.dumps.iter().filter(|label| !label.is_empty());
    let dumps: Vec<&str> = dumps.map(String::as_str).collect();
    if !dumps.is_empty() {
        text += &format!("dumps       {}\n", dumps.join(", "));
    }
    text += &format!("verified    {}\n", verification(facts));
    text
}

/// How matches are verified.
fn verification(facts: &Facts<'_>) -> String {
    match (facts.similarity, facts.shingle) {
        (Some(similarity), Some(shingle)) => {
            let exactness = match facts.estimated {
                true => "estimated from signatures with a standard error of at most 0.03",
                false => "exactly",
            };
            format!(
                "texts that match share {similarity} of their {shingle}-word shingles or more, \
                 {exactness}"
            )
        }
        _ => "by the method, which is exact".to_owned(),
    }
}
