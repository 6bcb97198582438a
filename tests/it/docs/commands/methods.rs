//! The methods, as `simtool methods` describes them.

use super::help::{column, paragraphs};
use super::markdown::prose;
use super::printed;

/// A section with all methods.
pub fn section() -> String {
    let mut section = "## Methods\n\n".to_owned();
    let list = printed(&["methods"]);
    let names: Vec<&str> = list
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    for name in names {
        section.push_str(&method(name));
    }
    section
}

fn method(name: &str) -> String {
    let text = printed(&["methods", name]);
    let (text, parameters) = text.split_once("\nParameters:\n").unwrap_or((&text, ""));
    let lines: Vec<&str> = text.lines().collect();
    let mut section = format!("### {name}\n\n");
    for (number, paragraph) in paragraphs(&lines).iter().enumerate() {
        let paragraph = match number {
            0 => {
                capital(
                    paragraph
                        .strip_prefix(&format!("{name}: "))
                        .unwrap_or(paragraph),
                ) + "."
            }
            _ => paragraph.clone(),
        };
        section.push_str(&format!("{}\n\n", prose(&paragraph)));
    }
    if parameters.is_empty() {
        return section;
    }
    section.push_str("Parameters, with their defaults:\n\n");
    let mut separator = "";
    for line in parameters.lines().filter(|line| !line.is_empty()) {
        let text = line.trim();
        if column(line) == Some(2) {
            section.push_str(&format!("{separator}* `{text}`:"));
            separator = "\n";
        } else {
            section.push_str(&format!(" {}", prose(text)));
        }
    }
    section + "\n\n"
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
