//! Help, completions and the manual.

use crate::sandbox::Sandbox;

fn stdout(line: &str) -> String {
    let assert = Sandbox::new().run(line).success().stderr("");
    String::from_utf8(assert.get_output().stdout.clone()).unwrap()
}

#[test]
fn help_has_examples_files_and_exit_codes() {
    let help = stdout("--help");
    for part in [
        "simtool 1000 16\n",
        "--samples - --output - > near.txt",
        "--scaling=3",
        "simtool generate --dir made --size 200M",
        "SIMTOOL_SIMD",
        "0 complete, 2 an error",
        "--distance <K>",
        "--articles <FILE>...",
    ] {
        assert!(help.contains(part), "{part} in {help}");
    }
    assert_eq!(stdout("help main"), help);
    assert_eq!(stdout("help"), help);
}

#[test]
fn help_has_no_escape_sequences_in_a_pipe() {
    for line in ["--help", "-h", "help", "help generate", "generate --help"] {
        assert!(!stdout(line).contains('\x1b'), "{line}");
    }
}

#[test]
fn short_help_fits_a_screen() {
    let help = stdout("-h");
    assert!(help.lines().count() < 60, "{help}");
}

#[test]
fn subcommands_have_their_own_help() {
    let help = stdout("help generate");
    assert!(help.contains("--words-per-document"), "{help}");
    assert_eq!(stdout("generate --help"), help);
    let parts = [
        "nonsense: expected main or one of dedup, lines, spans, decontaminate, match, evaluate, tune, methods",
    ];
    Sandbox::new().refuse("help nonsense", &parts);
    Sandbox::new().refuse("man nonsense", &parts);
}

/// Operations have help of their own, too.
#[cfg(feature = "index")]
#[test]
fn the_index_explains_itself() {
    let help = stdout("help index");
    for part in [
        "build",
        "rescue",
        "simtool index query seen new.jsonl",
        "0 complete",
    ] {
        assert!(help.contains(part), "{part} in {help}");
    }
    for operation in [
        "build", "add", "remove", "query", "info", "check", "compact", "copy", "rescue",
    ] {
        let help = stdout(&format!("index {operation} --help"));
        assert!(help.contains("<DIR>"), "{help}");
    }
    assert!(stdout("match --help").contains("--against <DIR>"));
}

#[test]
fn without_arguments_the_commands_are_shown() {
    let shown = stdout("");
    for part in [
        "Usage: simtool",
        "dedup",
        "evaluate",
        "explain",
        "-h, --help",
    ] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
}

#[test]
fn a_mistyped_command_is_told_as_one() {
    let sandbox = Sandbox::new();
    sandbox.refuse(
        "dedups x",
        &["there is no command dedups: did you mean dedup?"],
    );
    sandbox.refuse("version", &["did you mean simtool --version?"]);
    sandbox.refuse(
        "frobnicate 1",
        &[
            "there is no command frobnicate",
            "dedup, lines, spans, decontaminate, match",
        ],
    );
    // Numbers are judged as numbers.
    sandbox.refuse("0 16", &["N 0: expected a whole number from 1 to 10000"]);
    #[cfg(not(feature = "serve"))]
    sandbox.refuse(
        "serve x",
        &["this build has no command serve", "the feature serve"],
    );
}

#[test]
fn every_command_tells_its_version() {
    let commands = [
        "dedup",
        "lines",
        "spans",
        "decontaminate",
        "match",
        "evaluate",
        "tune",
        "methods",
        "explain",
        "generate",
    ];
    for command in commands {
        for flag in ["--version", "-V"] {
            let shown = stdout(&format!("{command} {flag}"));
            assert!(
                shown.ends_with(&format!(" {}\n", env!("CARGO_PKG_VERSION"))),
                "{shown}"
            );
        }
    }
}

#[cfg(feature = "index")]
#[test]
fn operations_of_the_index_have_help_and_manual_pages() {
    let operations = [
        "build", "add", "remove", "query", "info", "check", "compact", "copy", "rescue",
    ];
    for operation in operations {
        let help = stdout(&format!("help index {operation}"));
        let usage = format!("Usage: simtool index {operation} ");
        assert!(help.contains(&usage), "{help}");
        let page = stdout(&format!("man index {operation}"));
        assert!(
            page.contains(&format!(".TH simtool-index-{operation} 1")),
            "{page}"
        );
        assert_eq!(stdout(&format!("man index-{operation}")), page);
    }
    Sandbox::new().refuse("help index bild", &["bild: expected one of build, add"]);
    Sandbox::new().refuse("help dedup x", &["x: simtool dedup has no subcommands"]);
}

/// The commands that a short help lists.
fn listed(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    lines
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .collect()
}

#[test]
fn every_help_begins_with_what_the_command_does() {
    let mut commands = listed(&stdout("-h"));
    assert!(commands.contains(&"dedup".to_owned()), "{commands:?}");
    if commands.contains(&"index".to_owned()) {
        let operations = listed(&stdout("index -h"));
        commands.extend(
            operations
                .iter()
                .map(|operation| format!("index {operation}")),
        );
    }
    for command in commands {
        // "Find" and "Finds".
        let verb = |help: &str| {
            let words = help.split_whitespace().next().unwrap();
            words.strip_suffix('s').unwrap_or(words).to_owned()
        };
        let long = stdout(&format!("help {command}"));
        assert_eq!(
            verb(&long),
            verb(&stdout(&format!("{command} -h"))),
            "{long}"
        );
    }
}

#[cfg(feature = "serve")]
#[test]
fn the_service_explains_itself() {
    let help = stdout("help serve");
    for part in [
        "127.0.0.1:8750",
        "--token-file",
        "--max-body",
        "--insecure",
        "curl -d",
    ] {
        assert!(help.contains(part), "{part} in {help}");
    }
}

#[test]
fn version_is_that_of_the_package() {
    assert_eq!(
        stdout("--version"),
        format!("simtool {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn completions_know_flags_and_subcommands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = stdout(&format!("completions {shell}"));
        for word in ["generate", "distance", "scaling"] {
            assert!(script.contains(word), "{word} in {shell}");
        }
    }
    // Values, too, where the shell's script can have them.
    for shell in ["bash", "zsh", "fish"] {
        let script = stdout(&format!("completions {shell}"));
        for word in [
            "minhash",
            "text-profile",
            "shortest-url",
            "chinese",
            "log-tf",
        ] {
            assert!(script.contains(word), "{word} in {shell}");
        }
    }
}

#[test]
fn manual_pages_are_there() {
    let page = stdout("man");
    assert!(page.contains(".TH simtool 1"), "{page}");
    assert!(
        page.contains("distance") && page.contains("Exit codes"),
        "{page}"
    );
    assert!(stdout("man generate").contains("vocabulary"));
}
