//! The fenced blocks of a page.

/// A fenced block.
#[derive(Debug, PartialEq)]
pub struct Fence {
    /// What follows the backticks: `sh`, `text`, `text,ignore`.
    pub language: String,
    /// The number of its first line after the backticks, from 1.
    pub line: usize,
    /// Its lines, without the indentation of the backticks.
    pub lines: Vec<String>,
    /// Whether a heading is between this block and the one before it.
    pub begins_section: bool,
}

impl Fence {
    pub fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }
}

pub fn fences(page: &str) -> Vec<Fence> {
    let mut fences: Vec<Fence> = Vec::new();
    let mut open: Option<(Fence, usize)> = None;
    let mut begins_section = true;
    for (number, line) in page.lines().enumerate() {
        let bare = line.trim_start();
        let indentation = line.len() - bare.len();
        match &mut open {
            Some((_, _)) if bare.trim_end() == "```" => {
                fences.extend(open.take().map(|(fence, _)| fence));
                begins_section = false;
            }
            Some((fence, depth)) => {
                let cut = indentation.min(*depth);
                fence.lines.push(line[cut..].to_owned());
            }
            None => {
                if let Some(language) = bare.strip_prefix("```") {
                    let fence = Fence {
                        language: language.trim().to_owned(),
                        line: number + 2,
                        lines: Vec::new(),
                        begins_section,
                    };
                    open = Some((fence, indentation));
                }
                begins_section |= line.starts_with('#');
            }
        }
    }
    assert!(open.is_none(), "a block has no end");
    fences
}

/// The lines of a page outside its fenced blocks, with their numbers from 1.
pub fn prose(page: &str) -> Vec<(usize, &str)> {
    let mut is_inside = false;
    let mut lines = Vec::new();
    for (number, line) in page.lines().enumerate() {
        let is_border = line.trim_start().starts_with("```");
        if !is_inside && !is_border {
            lines.push((number + 1, line));
        }
        is_inside ^= is_border;
    }
    lines
}

#[test]
fn blocks_are_found() {
    let page = "# A\n\n```sh\na\n```\ntext\n\n* x\n\n  ```text,ignore\n  b\n    c\n  ```\n## B\n```\n```\n";
    let found = fences(page);
    let expected = [
        ("sh", 4, vec!["a"], true),
        ("text,ignore", 11, vec!["b", "  c"], false),
        ("", 16, vec![], true),
    ];
    let expected = expected.map(|(language, line, lines, begins_section)| Fence {
        language: language.to_owned(),
        line,
        lines: lines.into_iter().map(str::to_owned).collect(),
        begins_section,
    });
    assert_eq!(found, expected);
    let lines: Vec<usize> = prose(page).into_iter().map(|(number, _)| number).collect();
    assert_eq!(lines, [1, 2, 6, 7, 8, 9, 14]);
}
