//! The help of a command as a page.

use super::help::{Block, Entry, Help, column, paragraphs};

/// Where a command is on its page.
pub struct Place<'a> {
    /// Its words after `simtool`, or `N M`.
    pub name: &'a str,
    /// A subcommand on the page of its command: its flags have its last word before their names, so
    /// that every heading of the page has an anchor of its own.
    pub prefix: &'a str,
}

/// A command with its flags; `level` is that of the heading, `#` or `##`.
pub fn command(place: &Place, level: &str, help: &Help) -> String {
    let mut page = format!("{level} simtool {}\n\n", place.name);
    for paragraph in &help.about {
        page.push_str(&format!("{}\n\n", prose(&sentence(paragraph))));
    }
    page.push_str(&format!("```text\n{}\n```\n\n", usage(&help.usage)));
    if !help.commands.is_empty() {
        page.push_str(&format!("{level}# Subcommands\n\n"));
        for (name, summary) in help.commands.iter().filter(|(name, _)| name != "help") {
            let anchor = format!("simtool-{}-{name}", place.name.replace(' ', "-"));
            page.push_str(&format!("* [`{name}`](#{anchor}): {}\n", prose(summary)));
        }
        page.push('\n');
    }
    for (heading, lines) in help.notes.iter().filter(|(name, _)| name == "Examples") {
        page.push_str(&format!("{level}# {heading}\n\n{}", examples(lines)));
    }
    for group in help.groups.iter().filter(|group| !group.entries.is_empty()) {
        match level {
            "#" => page.push_str(&format!("## {}\n\n", group.heading)),
            _ => page.push_str(&format!("**{}**\n\n", group.heading)),
        }
        for flag in &group.entries {
            page.push_str(&entry(flag, place.prefix));
        }
    }
    for (heading, lines) in help.notes.iter().filter(|(name, _)| name != "Examples") {
        // A group of flags has this heading, too.
        let heading = match help.groups.iter().any(|group| group.heading == *heading) {
            true => format!("{heading}: form"),
            false => heading.clone(),
        };
        page.push_str(&format!("{level}# {heading}\n\n"));
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        for paragraph in paragraphs(&lines) {
            page.push_str(&format!("{}\n\n", prose(&sentence(&paragraph))));
        }
    }
    page
}

fn entry(entry: &Entry, prefix: &str) -> String {
    let mut text = format!("### {prefix}{}\n\n", entry.name());
    text.push_str(&format!("`{}`\n\n", entry.form));
    for block in &entry.text {
        match block {
            Block::Paragraph(paragraph) => {
                text.push_str(&format!("{}\n\n", prose(&sentence(paragraph))));
            }
            Block::Values(values) => {
                text.push_str("Possible values:\n\n");
                for (value, meaning) in values {
                    match meaning.as_str() {
                        "" => text.push_str(&format!("* `{value}`\n")),
                        _ => text.push_str(&format!("* `{value}`: {}\n", prose(meaning))),
                    }
                }
                text.push('\n');
            }
        }
    }
    if let Some(default) = &entry.default {
        text.push_str(&match default.contains(' ') {
            true => format!("Default: {}\n\n", prose(&sentence(default))),
            false => format!("Default: `{default}`\n\n"),
        });
    }
    text
}

/// The lines of a usage without their common indentation.
fn usage(usage: &str) -> String {
    let lines: Vec<&str> = usage.lines().map(str::trim).collect();
    lines.join("\n")
}

/// Commands with what they do, as comments before them.
fn examples(lines: &[String]) -> String {
    let mut blocks: Vec<[String; 2]> = Vec::new();
    for line in lines.iter().filter(|line| !line.trim().is_empty()) {
        let text = line.trim();
        match (column(line), blocks.last_mut()) {
            // A command that was too long for its line goes on in the next one.
            (Some(2), Some([command, meaning])) if is_part(text) && meaning.is_empty() => {
                command.push_str(&format!(" {text}"));
            }
            (Some(2), _) => blocks.push([text.to_owned(), String::new()]),
            (_, Some([_, meaning])) if meaning.is_empty() => meaning.push_str(text),
            (_, Some([_, meaning])) => meaning.push_str(&format!(" {text}")),
            (_, None) => panic!("a meaning without a command: {line}"),
        }
    }
    let block = |[command, meaning]: &[String; 2]| match meaning.as_str() {
        "" => format!("{command}\n"),
        _ => format!("# {meaning}\n{command}\n"),
    };
    let blocks: Vec<String> = blocks.iter().map(block).collect();
    format!("```console\n{}```\n\n", blocks.join("\n"))
}

/// Whether a line of an example is no command of its own.
fn is_part(line: &str) -> bool {
    let first = line.split(' ').next().unwrap_or_default();
    !["simtool", "curl", "zcat", "cat", "man"].contains(&first)
}

/// A text with a full stop at its end.
fn sentence(text: &str) -> String {
    match text.ends_with(['.', ':', '!', '?', '`']) {
        true => text.to_owned(),
        false => format!("{text}."),
    }
}

/// Help as Markdown: flags are code, and no character has a meaning that it has not in the help.
pub fn prose(text: &str) -> String {
    let code = text
        .split('`')
        .enumerate()
        .map(|(number, part)| match number % 2 {
            0 => part.split(' ').map(word).collect::<Vec<_>>().join(" "),
            _ => format!("`{part}`"),
        });
    code.collect()
}

fn word(word: &str) -> String {
    let start = word.find("--");
    if let Some(start) = start.filter(|&start| start == 0 || word[..start] == *"(") {
        let rest = &word[start..];
        let end = rest.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-'));
        let (flag, rest) = rest.split_at(end.unwrap_or(rest.len()));
        if flag.len() > 2 {
            return format!("{}`{flag}`{}", &word[..start], escaped(rest));
        }
    }
    escaped(word)
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        if "<>*[]\\".contains(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}
