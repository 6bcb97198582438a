//! The long help of a command, taken apart.

/// The help of a command.
pub struct Help {
    /// Paragraphs.
    pub about: Vec<String>,
    pub usage: String,
    /// Names and summaries of subcommands.
    pub commands: Vec<(String, String)>,
    /// Flags and arguments by their heading.
    pub groups: Vec<Group>,
    /// The sections after the flags: their heading and their lines.
    pub notes: Vec<(String, Vec<String>)>,
}

pub struct Group {
    pub heading: String,
    pub entries: Vec<Entry>,
}

/// A flag or an argument.
pub struct Entry {
    /// As in `-o, --output <DIR>`.
    pub form: String,
    pub text: Vec<Block>,
    pub default: Option<String>,
}

pub enum Block {
    Paragraph(String),
    /// Possible values, perhaps with what they mean.
    Values(Vec<(String, String)>),
}

impl Entry {
    /// The long name of a flag, or the name of an argument.
    pub fn name(&self) -> &str {
        let long = self.form.find("--").map(|start| &self.form[start..]);
        let form = long.unwrap_or(self.form.trim_start_matches(['<', '[']));
        let end = form.find([' ', '[', '=', ']', '>']);
        &form[..end.unwrap_or(form.len())]
    }
}

/// The first columns of flags and arguments; what begins further right is their text.
const COLUMNS: [usize; 2] = [2, 6];

/// Takes the output of `--help` apart.
pub fn parse(help: &str) -> Help {
    let (about, rest) = help.split_once("Usage: ").unwrap();
    let (usage, rest) = rest.split_once("\n\n").unwrap_or((rest, ""));
    let mut parsed = Help {
        about: paragraphs(&about.lines().collect::<Vec<_>>()),
        usage: usage.to_owned(),
        commands: Vec::new(),
        groups: Vec::new(),
        notes: Vec::new(),
    };
    let lines: Vec<&str> = rest.lines().collect();
    let heads: Vec<usize> = (0..lines.len())
        .filter(|&at| column(lines[at]) == Some(0))
        .collect();
    for (number, &head) in heads.iter().enumerate() {
        let end = heads.get(number + 1).copied().unwrap_or(lines.len());
        let body = &lines[head + 1..end];
        let heading = lines[head].trim_end_matches(':').to_owned();
        let first = body.first().map_or("", |line| line.trim_start());
        if heading == "Commands" {
            parsed.commands = commands(body);
        } else if first.starts_with(['-', '<', '[']) {
            let entries = entries(body);
            parsed.groups.push(Group { heading, entries });
        } else {
            let body = body.iter().map(|line| (*line).to_owned()).collect();
            parsed.notes.push((heading, body));
        }
    }
    parsed
}

/// The column at which a line begins; nothing for a blank one.
pub fn column(line: &str) -> Option<usize> {
    line.find(|letter| letter != ' ')
}

/// Wrapped lines as paragraphs.
pub fn paragraphs(lines: &[&str]) -> Vec<String> {
    let parts = lines.split(|line| line.trim().is_empty());
    let joined = parts.map(|part| {
        let lines: Vec<&str> = part.iter().map(|line| line.trim()).collect();
        lines.join(" ")
    });
    joined.filter(|paragraph| !paragraph.is_empty()).collect()
}

fn commands(lines: &[&str]) -> Vec<(String, String)> {
    let pairs = lines.iter().filter_map(|line| line.trim().split_once("  "));
    pairs
        .map(|(name, summary)| (name.to_owned(), summary.trim().to_owned()))
        .collect()
}

fn entries(lines: &[&str]) -> Vec<Entry> {
    let is_head = |line: &&str| column(line).is_some_and(|column| COLUMNS.contains(&column));
    let heads: Vec<usize> = (0..lines.len()).filter(|&at| is_head(&lines[at])).collect();
    let entry = |(number, &head): (usize, &usize)| {
        let end = heads.get(number + 1).copied().unwrap_or(lines.len());
        let line = lines[head].trim_start();
        let (form, first) = line.split_once("  ").unwrap_or((line, ""));
        let mut body = vec![first];
        body.extend(&lines[head + 1..end]);
        let (text, default) = text(&body);
        let form = form.to_owned();
        Entry {
            form,
            text,
            default,
        }
    };
    let all = heads.iter().enumerate().map(entry);
    // Every command has these two.
    all.filter(|entry| !["--help", "--version"].contains(&entry.name()))
        .collect()
}

/// The text of an entry, and its default value.
fn text(lines: &[&str]) -> (Vec<Block>, Option<String>) {
    let (mut blocks, mut default) = (Vec::new(), None);
    for part in lines.split(|line| line.trim().is_empty()) {
        if part
            .first()
            .is_some_and(|line| line.trim() == "Possible values:")
        {
            blocks.push(Block::Values(values(&part[1..])));
            continue;
        }
        let Some(mut paragraph) = paragraphs(part).pop() else {
            continue;
        };
        if let Some((rest, names)) = bracketed(&paragraph, "[possible values: ") {
            let names = names
                .split(", ")
                .map(|name| (name.to_owned(), String::new()));
            blocks.push(Block::Values(names.collect()));
            paragraph = rest;
        }
        if let Some((rest, value)) = bracketed(&paragraph, "[default: ") {
            (paragraph, default) = (rest, Some(value));
        }
        if !paragraph.is_empty() {
            let place = blocks.len() - usize::from(matches!(blocks.last(), Some(Block::Values(_))));
            blocks.insert(place, Block::Paragraph(paragraph));
        }
    }
    (blocks, default)
}

/// A paragraph without the brackets at its end that begin with `start`, and what is in them.
fn bracketed(paragraph: &str, start: &str) -> Option<(String, String)> {
    let at = paragraph.rfind(start)?;
    let inner = paragraph[at + start.len()..].strip_suffix(']')?;
    Some((paragraph[..at].trim_end().to_owned(), inner.to_owned()))
}

/// The lines of a list of values: `- main:  The main text`.
fn values(lines: &[&str]) -> Vec<(String, String)> {
    let mut values: Vec<(String, String)> = Vec::new();
    for line in lines.iter().map(|line| line.trim()) {
        match (line.strip_prefix("- "), values.last_mut()) {
            (Some(item), _) => {
                let (name, text) = item.split_once(':').unwrap_or((item, ""));
                values.push((name.to_owned(), text.trim().to_owned()));
            }
            (None, Some((_, text))) => text.push_str(&format!(" {line}")),
            (None, None) => panic!("no list of values: {line}"),
        }
    }
    values
}
