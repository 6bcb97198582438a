//! No output of any command replaces a file that the command reads.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::sandbox::{SIMTOOL, Sandbox, stderr};

/// The flags that take a file or a directory: a new one has to be classified here, and an output
/// also needs a row in [`COMMANDS`].
const INPUTS: [&str; 22] = [
    "--against",
    "--reference",
    "--articles",
    "--clusters",
    "--files-from",
    "--hashes",
    "--ids",
    "--hit",
    "--in",
    "--matches",
    "--pair",
    "--pairs",
    "--remove-listed",
    "--samples",
    "--stop-words",
    "--stopwords",
    "--tls-cert",
    "--tls-key",
    "--token-file",
    // Of the plain form and of generate, which has no inputs.
    "--dir",
    // Nothing in it is replaced.
    "--temp-dir",
    // A directory with other files is refused.
    "--cache",
];
const OUTPUTS: [&str; 3] = [
    "--output",
    "--skipped-report",
    // Of the service, which makes a new directory in it for each copy.
    "--copies",
];

/// What a command reads, and how it is called; OUT stands for its output.
struct Case {
    line: &'static str,
    flags: &'static [&'static str],
    inputs: &'static [&'static str],
}

const COMMANDS: &[Case] = &[
    Case {
        line: "100 16 --output OUT",
        flags: &["--output"],
        inputs: &[
            "article.txt",
            "sample.txt",
            "stopwords.txt",
            "hashvalue.txt",
        ],
    },
    Case {
        line: "match --articles a.jsonl --samples b.jsonl --stop-words words -o OUT",
        flags: &["--output"],
        inputs: &["a.jsonl", "b.jsonl", "words"],
    },
    #[cfg(feature = "index")]
    Case {
        line: "match --against seen --samples b.jsonl -o OUT",
        flags: &["--output"],
        inputs: &["b.jsonl", "seen/index.json"],
    },
    #[cfg(feature = "index")]
    Case {
        line: "index query seen a.jsonl b.jsonl --stop-words words OUT",
        flags: &["--output", "--skipped-report"],
        inputs: &["a.jsonl", "b.jsonl", "words", "seen/index.json"],
    },
    #[cfg(feature = "index")]
    Case {
        line: "index export seen -o OUT",
        flags: &["--output"],
        inputs: &["seen/index.json"],
    },
    #[cfg(feature = "index")]
    Case {
        line: "index add seen a.jsonl b.jsonl --stop-words words OUT",
        flags: &["--output", "--skipped-report"],
        inputs: &["a.jsonl", "b.jsonl", "words", "seen/index.json"],
    },
    #[cfg(feature = "index")]
    Case {
        line: "index build new a.jsonl b.jsonl --method simhash --stop-words words OUT",
        flags: &["--skipped-report"],
        inputs: &["a.jsonl", "b.jsonl", "words"],
    },
    Case {
        line: "dedup a.jsonl --method simhash --files-from list --against b.jsonl --stop-words words --write ids \
               --pairs csv,parquet --quiet --output OUT",
        flags: &["--output"],
        inputs: &["a.jsonl", "b.jsonl", "c.jsonl", "words", "list"],
    },
    Case {
        line: "lines a.jsonl --files-from list --against b.jsonl --quiet --output OUT",
        flags: &["--output"],
        inputs: &["a.jsonl", "b.jsonl", "c.jsonl", "list"],
    },
    Case {
        line: "lines a.jsonl --unit line --remove-listed c.jsonl --quiet --output OUT",
        flags: &["--output"],
        inputs: &["a.jsonl", "c.jsonl"],
    },
    Case {
        line: "spans a.jsonl --files-from list --against b.jsonl --quiet --output OUT",
        flags: &["--output"],
        inputs: &["a.jsonl", "b.jsonl", "c.jsonl", "list"],
    },
    Case {
        line: "decontaminate a.jsonl --files-from list --reference b.jsonl --quiet --output OUT",
        flags: &["--output"],
        inputs: &["a.jsonl", "b.jsonl", "c.jsonl", "list"],
    },
    Case {
        line: "evaluate a.jsonl --pairs pairs.tsv --matches matches.tsv --stop-words words --quiet \
               --output OUT",
        flags: &["--output"],
        inputs: &["a.jsonl", "pairs.tsv", "matches.tsv", "words"],
    },
];

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::example();
    let line = |id: &str, text: &str| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n");
    let text = "one two three four five six seven eight nine ten";
    sandbox.write(
        "a.jsonl",
        line("a1", text) + &line("a2", "other words of a page"),
    );
    sandbox.write("b.jsonl", line("b1", text));
    sandbox.write("c.jsonl", line("c1", text));
    sandbox.write("list", "c.jsonl\n");
    sandbox.write("words", "the and of\n");
    sandbox.write("pairs.tsv", "a\tb\tlabel\na1\ta2\tunrelated\n");
    sandbox.write("matches.tsv", "a\tb\na1\ta2\n");
    #[cfg(feature = "index")]
    sandbox
        .run("index build seen b.jsonl --method simhash --stop-words words --quiet")
        .success();
    sandbox
}

fn refused(sandbox: &Sandbox, line: &str, input: &str) {
    let before = fs::read(sandbox.path(input)).unwrap();
    let message = stderr(&sandbox.run(line).code(2));
    let expected = match input.starts_with("seen/") {
        true => "is inside seen".to_owned(),
        false => format!("is the input {input} as well"),
    };
    // A summary marks a finished run, even if it is a link to another file.
    let is_finished = message.contains("holds the output of a finished run");
    assert!(
        message.contains(&expected) || is_finished,
        "{line}: {message}"
    );
    assert_eq!(fs::read(sandbox.path(input)).unwrap(), before, "{line}");
}

/// Promise (Complete outputs): No output of any command replaces a file that the command reads
/// (inputs, lists, stop words, truth), by name, link or standard stream; none is written into the
/// index that it reads or changes
#[test]
fn no_output_replaces_an_input_by_whatever_name() {
    let sandbox = sandbox();
    for case in COMMANDS {
        for input in case.inputs {
            for name in ["hard", "soft"] {
                let _ = fs::remove_file(sandbox.path(name));
            }
            fs::hard_link(sandbox.path(input), sandbox.path("hard")).unwrap();
            symlink(input, sandbox.path("soft")).unwrap();
            for flag in case.flags {
                if ["dedup", "lines", "spans", "decontaminate", "evaluate"]
                    .iter()
                    .any(|name| case.line.starts_with(name))
                {
                    in_directory(&sandbox, case.line, input);
                    continue;
                }
                let is_inside = input.starts_with("seen/");
                let names = [input, "soft", "hard"];
                // Replacing a hard link to a file of an index does not change the index.
                for name in &names[..if is_inside { 2 } else { 3 }] {
                    let output = match case.line.contains("o OUT") || case.line.contains("t OUT") {
                        true => (*name).to_owned(),
                        false => format!("{flag} {name}"),
                    };
                    refused(&sandbox, &case.line.replace("OUT", &output), input);
                }
            }
        }
    }
}

/// Checks that no file of an output directory may be a link to `input`.
fn in_directory(sandbox: &Sandbox, line: &str, input: &str) {
    let _ = fs::remove_dir_all(sandbox.path("out"));
    sandbox.run(&line.replace("OUT", "out")).success();
    let written = files(&sandbox.path("out"));
    assert!(written.len() >= 5, "{written:?}");
    for name in written {
        let _ = fs::remove_dir_all(sandbox.path("out"));
        fs::create_dir(sandbox.path("out")).unwrap();
        symlink(sandbox.path(input), sandbox.path("out").join(name)).unwrap();
        refused(sandbox, &line.replace("OUT", "out"), input);
    }
}

/// Promise (Deduplication): Inputs that would be written to …
#[test]
fn no_file_of_a_dump_replaces_an_input() {
    let sandbox = sandbox();
    fs::create_dir(sandbox.path("kept")).unwrap();
    for line in [
        "dedup a.jsonl --against kept/a.jsonl -o . --write kept --quiet",
        "dedup a.jsonl kept/a.jsonl -o . --write kept --quiet",
        "dedup a.jsonl --method simhash --stop-words kept/a.jsonl -o . --write kept --quiet",
    ] {
        fs::write(sandbox.path("kept/a.jsonl"), sandbox.read("b.jsonl")).unwrap();
        refused(&sandbox, line, "kept/a.jsonl");
        assert!(!sandbox.path(".simtool").exists());
    }
}

fn files(directory: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
    let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
    files
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect()
}

/// Promise (Complete outputs): No output of any command replaces …
#[test]
fn standard_streams_that_are_inputs_are_not_replaced_either() {
    let sandbox = sandbox();
    let before = sandbox.read("a.jsonl");
    let run = |stdin: fs::File, stdout: fs::File, line: &str| {
        let mut command = std::process::Command::new(SIMTOOL);
        command
            .current_dir(sandbox.path(""))
            .stdin(stdin)
            .stdout(stdout);
        let output = command.args(line.split(' ')).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains("as well"), "{message}");
        assert_eq!(sandbox.read("a.jsonl"), before);
    };
    let open = |name: &str| {
        let mut options = fs::OpenOptions::new();
        options
            .read(true)
            .append(true)
            .open(sandbox.path(name))
            .unwrap()
    };
    let line = "match --articles b.jsonl --samples a.jsonl";
    run(open("b.jsonl"), open("a.jsonl"), line);
    if cfg!(feature = "index") {
        run(
            open("a.jsonl"),
            open("c.jsonl"),
            "index query seen - -o a.jsonl",
        );
    }
}

/// Promise (Complete outputs): No output of any command replaces …
#[test]
fn every_flag_that_names_a_file_is_classified() {
    let sandbox = Sandbox::new();
    let mut commands = vec![String::new()];
    for group in ["", "index"].into_iter().filter(|group| is_command(group)) {
        let text = help(&sandbox, group);
        let list = text.split("Commands:\n").nth(1).unwrap_or_default();
        let rows = list.lines().take_while(|line| line.starts_with("  "));
        let names = rows.filter_map(|line| line.split_whitespace().next());
        commands.extend(names.map(|name| format!("{group} {name}").trim().to_owned()));
    }
    assert!(commands.len() > 10, "{commands:?}");
    let mut outputs = BTreeSet::new();
    for command in commands {
        for line in help(&sandbox, &command).lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [.., flag, value] = words.as_slice() else {
                continue;
            };
            let names_a_file = ["<FILE>", "<DIR>", "<LIST>", "<INPUT>"]
                .iter()
                .any(|kind| value.trim_end_matches("...") == *kind);
            if !flag.starts_with("--") || !names_a_file {
                continue;
            }
            assert!(
                INPUTS.contains(flag) || OUTPUTS.contains(flag),
                "{command} {flag}: is it an input or an output?"
            );
            if OUTPUTS.contains(flag) && *flag != "--copies" {
                outputs.insert((command.clone(), (*flag).to_owned()));
            }
        }
    }
    for (command, flag) in outputs {
        let is_tried = COMMANDS.iter().any(|case| {
            let is_plain = command.is_empty() && case.line.starts_with("100 16");
            let is_named = !command.is_empty() && case.line.starts_with(&command);
            (is_plain || is_named) && case.flags.contains(&flag.as_str())
        });
        assert!(is_tried, "{command} {flag} has no row in COMMANDS");
    }
}

/// Whether this build has the command.
fn is_command(name: &str) -> bool {
    name != "index" || cfg!(feature = "index")
}

fn help(sandbox: &Sandbox, command: &str) -> String {
    sandbox.stdout(&format!("{command} --help"))
}

/// Promise (Complete outputs): Lines for standard output are buffered in the directory of
/// `--temp-dir`
#[test]
fn lines_for_standard_output_wait_where_the_user_says() {
    let sandbox = sandbox();
    fs::create_dir(sandbox.path("tmp")).unwrap();
    let nowhere = sandbox.path("nowhere");
    let mut lines = vec!["match --articles a.jsonl --samples b.jsonl"];
    if cfg!(feature = "index") {
        lines.extend([
            "match --against seen --samples b.jsonl",
            "index query seen a.jsonl",
            "index add seen a.jsonl -o -",
        ]);
    }
    for line in lines {
        let run = |temp_dir: &str| {
            let mut command = sandbox.command(SIMTOOL);
            command.env("TMPDIR", &nowhere).args(line.split(' '));
            command.args(["--temp-dir", temp_dir, "--quiet"]).assert()
        };
        let assert = run("tmp").success();
        assert!(!assert.get_output().stdout.is_empty(), "{line}");
        assert_eq!(files(&sandbox.path("tmp")).len(), 0);
        run("missing").code(2).stdout("");
    }
}
