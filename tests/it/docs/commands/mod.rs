//! The pages docs/reference/commands/*.md are generated from the help of the program.

mod help;
mod markdown;
mod methods;

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use help::{Help, parse};
use markdown::{Place, command, prose};

use super::{PROGRAM, is_written, package};

/// What the program prints for these arguments.
fn printed(arguments: &[&str]) -> String {
    let output = Command::new(PROGRAM).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The help of a command, whose words follow `simtool`.
fn help_of(words: &str) -> Help {
    let mut arguments: Vec<&str> = words.split_whitespace().collect();
    arguments.push("--help");
    parse(&printed(&arguments))
}

/// All pages by their path in docs/reference.
fn pages() -> BTreeMap<String, String> {
    let main = help_of("");
    let mut pages = BTreeMap::new();
    let mut list = vec![("main".to_owned(), String::new())];
    list.extend(main.commands.clone());
    let mut overview = OVERVIEW.to_owned();
    for (name, summary) in list {
        let (title, help, summary) = match name.as_str() {
            "main" => {
                let mut help = help_of("");
                help.commands.clear();
                let summary = help.about[0].trim_end_matches('.').to_owned();
                ("N M", help, summary)
            }
            _ => (name.as_str(), help_of(&name), summary),
        };
        let prefix = "";
        let mut page = command(
            &Place {
                name: title,
                prefix,
            },
            "#",
            &help,
        );
        for (inner, _) in help.commands.iter().filter(|(inner, _)| inner != "help") {
            let words = format!("{name} {inner}");
            let prefix = &format!("{inner} ");
            let place = Place {
                name: &words,
                prefix,
            };
            page.push_str(&command(&place, "##", &help_of(&words)));
        }
        if name == "methods" {
            page.push_str(&methods::section());
        }
        let link = format!(
            "* [`simtool {title}`](commands/{name}.md): {}.\n",
            prose(&summary)
        );
        overview.push_str(&link);
        pages.insert(format!("commands/{name}.md"), marked(&page));
    }
    pages.insert("commands.md".to_owned(), marked(&overview));
    pages
}

const OVERVIEW: &str = "# Commands

These pages have the help of every command. `simtool help COMMAND` prints the same text, and \
`simtool man COMMAND` prints a manual page. All commands have the flags `-h` (short help), `--help` \
(long help) and `--version`.

";

/// A page with a note that it is generated.
fn marked(page: &str) -> String {
    let note = "<!-- Generated from the help of the program: SIMTOOL_DOCS=write cargo test --test it -- docs -->";
    format!("{note}\n\n{}\n", page.trim_end())
}

/// Promise (Correct answers): The pages of commands in docs/ have the flags, values and defaults of the
/// program's own help
#[test]
fn pages_of_commands_are_those_of_the_help() {
    let reference = package().join("docs/reference");
    let pages = pages();
    if is_written() {
        fs::create_dir_all(reference.join("commands")).unwrap();
        for (path, page) in &pages {
            fs::write(reference.join(path), page).unwrap();
        }
    }
    let advice = "run SIMTOOL_DOCS=write cargo test --test it -- docs";
    for (path, page) in &pages {
        let found = fs::read_to_string(reference.join(path)).unwrap_or_default();
        assert!(
            found == *page,
            "docs/reference/{path} is not up to date: {advice}"
        );
    }
    for entry in fs::read_dir(reference.join("commands")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let path = format!("commands/{name}");
        assert!(
            pages.contains_key(&path),
            "docs/reference/{path}: there is no such command"
        );
    }
}

#[test]
fn help_is_read_and_shown() {
    let help = "Finds it.\n\nMore about\nit.\n\nUsage: simtool find [OPTIONS] <A>\n\nArguments:\n  <A>\n\
                \x20         What to find: *.txt\n\nOptions:\n  -o, --out <DIR>\n          Where, unless \
                --all\n          is given [default: here]\n\n          Possible values:\n          - x: \
                One\n            more\n          - y: Two\n\n  -h, --help\n          Print help\n\nGroup:\n\
                \x20     --size <N>  How\n                  large\n\nExamples:\n  simtool find a\n          All \
                of it\n\nExit codes:\n  0 found,\n  2 not.\n";
    let place = Place {
        name: "find",
        prefix: "",
    };
    let shown = command(&place, "#", &parse(help));
    let expected = "# simtool find\n\nFinds it.\n\nMore about it.\n\n```text\nsimtool find [OPTIONS] \
                    <A>\n```\n\n## Examples\n\n```console\n# All of it\nsimtool find a\n```\n\n## \
                    Arguments\n\n### A\n\n`<A>`\n\nWhat to find: \\*.txt.\n\n## Options\n\n### --out\n\n\
                    `-o, --out <DIR>`\n\nWhere, unless `--all` is given.\n\nPossible values:\n\n* `x`: One \
                    more\n* `y`: Two\n\nDefault: `here`\n\n## Group\n\n### --size\n\n`--size <N>`\n\nHow \
                    large.\n\n## Exit codes\n\n0 found, 2 not.\n\n";
    assert_eq!(shown, expected);
}
