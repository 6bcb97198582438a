//! The commands of a page, run in a directory of their own.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use super::fences::Fence;
use super::output::{is_json_part, is_part};
use super::script::{Script, of_blocks};
use super::{PROGRAM, fixture};

/// The longest time of a page, in seconds.
const LIMIT: &str = "300";

/// A page whose commands ran.
pub struct Run {
    blocks: Vec<Fence>,
    /// What the commands of each `sh` block printed, in order.
    outputs: Vec<String>,
    /// The command that failed, and what it printed.
    failure: Option<String>,
}

impl Run {
    pub fn new(blocks: Vec<Fence>) -> Run {
        let scripts: Vec<&Fence> = blocks
            .iter()
            .filter(|block| block.language == "sh")
            .collect();
        let mut run = Run {
            outputs: Vec::new(),
            failure: None,
            blocks: Vec::new(),
        };
        if !scripts.is_empty() {
            let script = of_blocks(&scripts, free_port);
            run.execute(&script, &scripts);
        }
        run.blocks = blocks;
        run
    }

    fn execute(&mut self, script: &Script, blocks: &[&Fence]) {
        let directory = tempfile::tempdir().unwrap();
        let [page, record, programs] = ["page", "record", "programs"].map(|name| {
            let path = directory.path().join(name);
            fs::create_dir(&path).unwrap();
            path
        });
        fixture::write(&page);
        symlink(PROGRAM, programs.join("simtool")).unwrap();
        let paths = std::env::var("PATH").unwrap_or_default();
        let file = directory.path().join("script");
        fs::write(&file, &script.text).unwrap();
        let status = Command::new("timeout")
            .args(["--kill-after=10", LIMIT, "bash"])
            .arg(&file)
            .current_dir(&page)
            .env("PATH", format!("{}:{paths}", programs.display()))
            .env("RECORD", &record)
            .env_remove("COLUMNS")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        let read = |name: String| {
            let bytes = fs::read(record.join(name)).ok()?;
            let mut text = String::from_utf8_lossy(&bytes).into_owned();
            for (shown, used) in &script.ports {
                text = text.replace(used, shown);
            }
            Some(text)
        };
        for number in 0..blocks.len() {
            let Some(printed) = read(number.to_string()) else {
                break;
            };
            self.outputs.push(printed);
        }
        if !status.success() {
            let last = self.outputs.len().saturating_sub(1);
            let command = read("failed".to_owned()).unwrap_or_default();
            let messages = self.outputs.last().map_or("", String::as_str);
            let line = blocks[last].line;
            let command = command.trim();
            self.failure = Some(format!("{line}: {status}: {command}: {}", messages.trim()));
        }
    }

    /// The blocks that show the output of the `sh` block before them, with this output.
    fn shown(&self) -> impl Iterator<Item = (&Fence, &String)> {
        let mut ran = self.outputs.iter();
        let mut output = None;
        self.blocks.iter().filter_map(move |block| {
            if block.begins_section {
                output = None;
            }
            match block.language.as_str() {
                "sh" => {
                    output = ran.next();
                    None
                }
                "text" | "json" | "text,ignore" => {
                    let output = output.take()?;
                    (block.language != "text,ignore").then_some((block, output))
                }
                _ => None,
            }
        })
    }

    /// What is wrong with the page.
    pub fn complaints(&self) -> Vec<String> {
        let mut complaints: Vec<String> = self.failure.iter().cloned().collect();
        let wrong = self
            .shown()
            .filter(|(block, output)| !is_real(block, output));
        complaints.extend(wrong.map(|(block, output)| {
            format!(
                "{}: is shown:\n{}but printed is:\n{output}",
                block.line,
                block.text()
            )
        }));
        complaints
    }

    /// The page with the real output where another one without `…` was shown.
    pub fn with_real_output(&self, page: &str) -> String {
        let mut lines: Vec<String> = page.lines().map(str::to_owned).collect();
        let shown: Vec<_> = self.shown().collect();
        for (block, output) in shown.into_iter().rev() {
            if is_real(block, output) || block.text().contains('…') {
                continue;
            }
            let start = block.line - 1;
            let real = output.lines().map(str::to_owned);
            lines.splice(start..start + block.lines.len(), real);
        }
        lines.join("\n") + "\n"
    }
}

/// Whether a block shows a part of the output.
fn is_real(block: &Fence, output: &str) -> bool {
    match block.language.as_str() {
        "json" => is_json_part(&block.text(), output),
        _ => is_part(&block.text(), output),
    }
}

/// A port of which no service makes use.
fn free_port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port().to_string()
}

#[test]
fn commands_run_and_are_compared() {
    let page = "# A\n\n```sh\nsimtool index build seen crawl/part-0.jsonl.gz\nsimtool serve seen\n\
                curl -s localhost:8750/v1/nothing > /dev/null\necho one; echo two >&2\n```\n\n\
                ```text\n…\none\n```\n\n```sh\nhead -n 1 labels.tsv\n```\n\n```text\nother\n```\n\n\
                ```sh\nfalse\necho never\n```\n";
    let run = Run::new(super::fences::fences(page));
    let complaints = run.complaints();
    assert_eq!(complaints.len(), 2, "{complaints:?}");
    assert!(
        complaints[0].starts_with("24: exit status: 1: false"),
        "{}",
        complaints[0]
    );
    let expected = "20: is shown:\nother\nbut printed is:\na\tb\tlabel\n";
    assert_eq!(complaints[1], expected);
    let written = run.with_real_output(page);
    assert_eq!(written, page.replace("other", "a\tb\tlabel"));
}
