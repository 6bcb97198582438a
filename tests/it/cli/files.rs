//! Flags that name files, and files that cannot be what they are named for.

use std::fs;
use std::os::unix::fs::symlink;

use crate::sandbox::{FIRST_BLOCK, OLD, RESULT, Sandbox, assert_message, example};

#[test]
fn inputs_and_result_are_in_the_directory_named() {
    let sandbox = Sandbox::example();
    fs::create_dir(sandbox.path("inside")).unwrap();
    for name in sandbox.names().iter().filter(|name| name.ends_with(".txt")) {
        fs::rename(sandbox.path(name), sandbox.path("inside").join(name)).unwrap();
    }
    sandbox
        .run("100 16 --dir inside --log none")
        .success()
        .stdout(FIRST_BLOCK)
        .stderr("");
    assert_eq!(sandbox.read("inside/result.txt"), RESULT);
    assert_eq!(sandbox.names(), ["inside"]);
}

#[test]
fn each_file_can_be_named_and_is_not_looked_for_in_the_directory() {
    let sandbox = Sandbox::new();
    for (name, input) in [
        ("a", "article"),
        ("s", "sample"),
        ("w", "stopwords"),
        ("h", "hashvalue"),
    ] {
        sandbox.write(name, example(&format!("{input}.txt")));
    }
    let flags = "--dir nowhere --articles a --samples s --stopwords w --hashes h --output r";
    sandbox
        .run(&format!("100 16 {flags} --log none"))
        .success()
        .stdout(FIRST_BLOCK)
        .stderr("");
    assert_eq!(sandbox.read("r"), RESULT);
}

/// Promise (Reproducible answers): Several files, split between pages, give …
#[test]
fn several_files_are_read_as_one() {
    let sandbox = Sandbox::example();
    for (kind, name) in [("--articles", "article.txt"), ("--samples", "sample.txt")] {
        let text = String::from_utf8(example(name)).unwrap();
        let mut pages = text.match_indices('\x0c').map(|(position, _)| position);
        let half = pages.nth(3).unwrap();
        sandbox.write("first", &text[..half]);
        sandbox.write("second", &text[half..]);
        sandbox
            .run(&format!("100 16 {kind} first second"))
            .success()
            .stdout(FIRST_BLOCK);
        assert_eq!(sandbox.read("result.txt"), RESULT, "{kind}");
        sandbox
            .run(&format!("100 16 {kind} first {kind} second"))
            .success();
        assert_eq!(sandbox.read("result.txt"), RESULT, "{kind}");
    }
}

#[test]
fn temporary_directory_holds_nothing_afterwards_and_has_to_exist() {
    let sandbox = Sandbox::example();
    fs::create_dir(sandbox.path("temporary")).unwrap();
    sandbox.run("100 16 --temp-dir temporary").success();
    assert_eq!(fs::read_dir(sandbox.path("temporary")).unwrap().count(), 0);
    let parts = ["nowhere", "--temp-dir"];
    sandbox.refuse("100 16 --temp-dir nowhere --output -", &parts);
}

/// Promise (Errors and interruptions): Errors name missing files, directories given as files, and
/// missing permissions
#[test]
fn missing_inputs_are_named() {
    for name in [
        "article.txt",
        "sample.txt",
        "stopwords.txt",
        "hashvalue.txt",
    ] {
        let sandbox = Sandbox::example();
        sandbox.write("result.txt", OLD);
        fs::remove_file(sandbox.path(name)).unwrap();
        sandbox.refuse("100 16", &[name, "check the spelling"]);
    }
    let sandbox = Sandbox::new();
    let names = "article.txt: is missing, and so are sample.txt, hashvalue.txt, stopwords.txt (";
    sandbox.refuse("100 16", &[names, "--dir"]);
    sandbox.write("stopwords.txt", "the");
    sandbox.write("article.txt", "id\ntext");
    sandbox.refuse(
        "100 16",
        &["sample.txt: is missing, and so are hashvalue.txt ("],
    );
}

/// Promise (Errors and interruptions): Errors name missing files, directories given …
#[test]
fn directories_are_no_inputs_and_no_outputs() {
    let sandbox = Sandbox::example();
    fs::create_dir(sandbox.path("folder")).unwrap();
    sandbox.refuse("100 16 --articles folder", &["folder: is a directory"]);
    sandbox.refuse("100 16 --output folder", &["folder: ", "it is a directory"]);
    sandbox.refuse(
        "100 16 --output no/where",
        &["no/where: ", "its directory does not exist"],
    );
}

/// Promise (Failing inputs): A hash table is accepted or refused …
#[test]
fn hash_table_errors_name_file_line_and_both_numbers() {
    let sandbox = Sandbox::example();
    sandbox.write("result.txt", OLD);
    let refuse = |numbers: &str, parts: &[&str]| sandbox.refuse(numbers, parts);
    refuse(
        "1001 16",
        &["hashvalue.txt: expected 1001 rows, found 1000"],
    );
    refuse(
        "1000 65",
        &["hashvalue.txt: line 1: expected 65 digits, found 64"],
    );
    sandbox.write("hashvalue.txt", "0101\n01x1\n");
    refuse(
        "2 4",
        &["hashvalue.txt: line 2: column 3: expected 0 or 1, found 'x'"],
    );
}

/// Promise (Complete outputs): A result never replaces an input, under any name
#[test]
fn result_never_replaces_an_input() {
    let sandbox = Sandbox::example();
    fs::hard_link(sandbox.path("article.txt"), sandbox.path("hard")).unwrap();
    symlink("sample.txt", sandbox.path("soft")).unwrap();
    for (output, input) in [
        ("article.txt", "article.txt"),
        ("./stopwords.txt", "stopwords.txt"),
        ("hard", "article.txt"),
        ("soft", "sample.txt"),
    ] {
        let message = format!("{output}: is the input {input}");
        let parts = [message.as_str(), "with --output"];
        sandbox.refuse(&format!("100 16 --output {output}"), &parts);
    }
    assert_eq!(
        sandbox.read("article.txt").as_bytes(),
        example("article.txt")
    );

    symlink("hashvalue.txt", sandbox.path("result.txt")).unwrap();
    sandbox.refuse("100 16", &["result.txt: is the input hashvalue.txt"]);
}

/// Promise (Errors and interruptions): IDs and file names cannot control …
#[test]
fn names_cannot_control_a_terminal() {
    let sandbox = Sandbox::example();
    let assert = sandbox.run("1 1 --articles evil\x1b[2J\u{202e}").code(2);
    assert_message(&assert, &["evil\\x1b[2J\\u{202e}: "]);
}
