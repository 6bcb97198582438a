//! The reading of inputs: HTML, character sets, and files that are not read.

use std::fs;

use encoding_rs::{GBK, SHIFT_JIS, WINDOWS_1251, WINDOWS_1252, X_MAC_CYRILLIC};

use crate::sandbox::{SIMTOOL, Sandbox, assert_message};
use simtool_testing::skipped::skipped;

const CHINESE: &str = "近重复文本检测的目标是在大规模网页中找出内容几乎相同的页面，\
    然后只保留其中的一份，以便节省存储空间并且提高训练数据的质量。";
const JAPANESE: &str = "この文章は文字コードの判定を確かめるために書かれたものであり、\
    同じ内容のファイルが一つの文書として扱われることを期待しています。";
const RUSSIAN: &str = "Поиск почти одинаковых текстов в больших собраниях страниц \
    позволяет сохранить только один экземпляр каждой страницы.";

fn utf_16(text: &str) -> Vec<u8> {
    let units = "\u{feff}".encode_utf16().chain(text.encode_utf16());
    units.flat_map(u16::to_le_bytes).collect()
}

/// Runs `simtool dedup ARGUMENTS -o out`; returns the numbers of documents seen and kept.
fn dedup(sandbox: &Sandbox, arguments: &str) -> (u64, u64) {
    let _ = fs::remove_dir_all(sandbox.path("out"));
    let line = format!("dedup {arguments} -o out");
    sandbox.run(&line).success();
    let summary: serde_json::Value =
        serde_json::from_str(&sandbox.read("out/summary.json")).unwrap();
    let count = |name: &str| summary[name].as_u64().unwrap();
    (count("seen"), count("kept"))
}

/// Promise (Deduplication): HTML gives the same text in web archives, HTML files, plain files and
/// fields; plain files and pages between form feeds may be in any character set, including UTF-16
/// and UTF-32
#[test]
fn html_is_the_same_text_wherever_it_stands() {
    let sandbox = Sandbox::new();
    let paragraph = format!("<p>{CHINESE}</p>");
    let page = |head: &str| {
        format!(
            "<!DOCTYPE html><html><head>{head}<title>x</title><script>var menu;</script></head>\
             <body><div>{}</div></body></html>",
            paragraph.repeat(4)
        )
    };
    fs::create_dir(sandbox.path("pages")).unwrap();
    sandbox.write("pages/utf8.html", page(""));
    sandbox.write("pages/gbk.htm", GBK.encode(&page("<meta charset=gbk>")).0);
    sandbox.write("pages/unlabelled.html", GBK.encode(&page("")).0);
    sandbox.write("pages/utf16.html", utf_16(&page("")));
    sandbox.write("pages/no-extension", page(""));
    let body = paragraph.repeat(4);
    sandbox.write("pages/fragment.xhtml", &body);
    sandbox.write(
        "lines.jsonl",
        serde_json::json!({"id": "1", "text": page("")}).to_string(),
    );
    sandbox.write("text.txt", format!("{CHINESE}\n").repeat(4));
    for html in ["main", "visible"] {
        let arguments = format!("pages lines.jsonl text.txt --html {html}");
        assert_eq!(dedup(&sandbox, &arguments), (8, 1), "{html}");
    }
    // Markup as it stands: only equal bytes are equal.
    assert!(dedup(&sandbox, "pages lines.jsonl text.txt --html markup").1 > 1);
}

/// Promise (Deduplication): HTML gives the same text in …
#[test]
fn character_sets_of_plain_files_are_found() {
    let sandbox = Sandbox::new();
    for (name, text, bytes) in [
        (
            "gbk",
            CHINESE,
            GBK.encode(&CHINESE.repeat(4)).0.into_owned(),
        ),
        (
            "sjis",
            JAPANESE,
            SHIFT_JIS.encode(&JAPANESE.repeat(4)).0.into_owned(),
        ),
        (
            "cp1251",
            RUSSIAN,
            WINDOWS_1251.encode(&RUSSIAN.repeat(4)).0.into_owned(),
        ),
        // U+0C0C and U+4E0C have bytes that are form feeds.
        (
            "utf16",
            "\u{4e0c}",
            utf_16(&format!("\u{4e0c}{CHINESE}").repeat(4)),
        ),
    ] {
        let text = match name {
            "utf16" => format!("{text}{CHINESE}").repeat(4),
            _ => text.repeat(4),
        };
        sandbox.write("a.txt", text);
        sandbox.write("b.txt", bytes);
        assert_eq!(dedup(&sandbox, "a.txt b.txt"), (2, 1), "{name}");
    }
    // The records that are kept are those of the input, byte for byte.
    sandbox.write("b.txt", GBK.encode(&CHINESE.repeat(4)).0);
    assert_eq!(dedup(&sandbox, "b.txt --write kept"), (1, 1));
    assert_eq!(
        fs::read(sandbox.path("out/kept/b.txt")).unwrap(),
        fs::read(sandbox.path("b.txt")).unwrap()
    );
}

/// Text in units of `unit_bytes` without a byte-order mark.
fn wide(text: &str, unit_bytes: usize, big_endian: bool) -> Vec<u8> {
    let units: Vec<u32> = match unit_bytes {
        2 => text.encode_utf16().map(u32::from).collect(),
        _ => text.chars().map(u32::from).collect(),
    };
    let bytes = |unit: u32| {
        let mut bytes = unit.to_le_bytes()[..unit_bytes].to_vec();
        if big_endian {
            bytes.reverse();
        }
        bytes
    };
    units.into_iter().flat_map(bytes).collect()
}

/// Promise (Deduplication): HTML gives the same text in …
#[test]
fn utf_16_and_utf_32_are_read_with_and_without_a_mark() {
    let sandbox = Sandbox::new();
    let text = CHINESE.repeat(4);
    sandbox.write("a.txt", &text);
    for (unit_bytes, big_endian) in [(2, false), (2, true), (4, false), (4, true)] {
        sandbox.write("b.txt", wide(&text, unit_bytes, big_endian));
        let marked = format!("\u{feff}{text}");
        sandbox.write("c.txt", wide(&marked, unit_bytes, big_endian));
        let read = dedup(&sandbox, "a.txt b.txt c.txt");
        assert_eq!(read, (3, 1), "{unit_bytes} {big_endian}");
    }
    let lines = wide("{\"text\": \"one\"}\n", 4, false);
    sandbox.write("d.jsonl", lines);
    let refused = sandbox.run("dedup d.jsonl -o other").code(2);
    assert_message(&refused, &["JSON in UTF-32LE (convert it with iconv"]);
}

/// Promise (Deduplication): A run reports how many documents …
#[test]
fn declared_character_sets_count_and_unknown_ones_are_told() {
    let sandbox = Sandbox::new();
    let feed =
        |label: &str| format!("<?xml version=\"1.0\" encoding=\"{label}\"?><p>{RUSSIAN}</p>");
    sandbox.write("a.xml", feed("x-mac-cyrillic"));
    let bytes = X_MAC_CYRILLIC
        .encode(&feed("x-mac-cyrillic"))
        .0
        .into_owned();
    sandbox.write("b.xml", bytes);
    assert_eq!(dedup(&sandbox, "a.xml b.xml"), (2, 1));
    sandbox.write("c.xml", X_MAC_CYRILLIC.encode(&feed("IBM855")).0);
    let stderr = sandbox.stderr("dedup a.xml c.xml -o told");
    assert!(
        stderr.contains("warning: 1 document in a character set that is not supported"),
        "{stderr}"
    );
    assert!(stderr.contains("(the first: c.xml)"), "{stderr}");
    let summary: serde_json::Value =
        serde_json::from_str(&sandbox.read("told/summary.json")).unwrap();
    assert_eq!(summary["flagged"]["unknown_charset"], 1);
}

/// Promise (Deduplication): A run reports how many documents have bytes invalid in their character
/// set, or name an unsupported one, and where the first one is
#[test]
fn records_that_are_not_utf_8_are_told_by_every_command() {
    let sandbox = Sandbox::new();
    let ordinary = "{\"id\": \"1\", \"text\": \"the first of some lines\"}\n";
    let french = "{\"id\": \"2\", \"text\": \"la premi\u{e8}re de quelques lignes\"}\n";
    let again = french.replace("\"2\"", "\"3\"");
    let latin = WINDOWS_1252
        .encode(&format!("{french}{again}"))
        .0
        .into_owned();
    sandbox.write("latin.jsonl", [ordinary.as_bytes(), &latin].concat());
    sandbox.write("pairs.tsv", "a\tb\tlabel\n1\t2\tunrelated\n2\t3\tsame\n");
    sandbox.write("utf8.jsonl", ordinary);
    let first = format!("(the first: at byte {} of latin.jsonl)", ordinary.len());
    for line in [
        "dedup latin.jsonl -o one",
        "dedup utf8.jsonl --against latin.jsonl -o two",
        "match --articles latin.jsonl --samples utf8.jsonl -o matches",
        "match --articles utf8.jsonl --samples latin.jsonl -o matches",
        "evaluate latin.jsonl --pairs pairs.tsv --closed-world",
        "tune latin.jsonl --pairs pairs.tsv --closed-world --precision 0.5",
        #[cfg(feature = "index")]
        "index build ix latin.jsonl",
        #[cfg(feature = "index")]
        "index query ix latin.jsonl -o answers",
        #[cfg(feature = "index")]
        "index add ix latin.jsonl",
    ] {
        let stderr = sandbox.stderr(line);
        assert!(
            stderr.contains("warning: 2 documents with bytes or escapes that are not"),
            "{line}: {stderr}"
        );
        assert!(
            stderr.contains(&first) && stderr.contains("iconv"),
            "{line}: {stderr}"
        );
    }
    let stderr = sandbox.stderr("match --articles utf8.jsonl --samples utf8.jsonl -o matches");
    assert!(!stderr.contains("warning"), "{stderr}");
    let summary: serde_json::Value =
        serde_json::from_str(&sandbox.read("one/summary.json")).unwrap();
    assert_eq!(summary["flagged"]["broken_text"], 2);
    assert_eq!(summary["warnings"][0]["documents"], 2);
    assert_eq!(summary["warnings"][0]["setting"], "text");
}

/// Promise (Deduplication): HTML gives the same text in …
#[test]
fn pages_between_form_feeds_are_in_any_character_set() {
    let sandbox = Sandbox::new();
    let pages = format!("one\n{RUSSIAN}\x0ctwo\n{JAPANESE}\x0c");
    sandbox.write("a.txt", &pages);
    let russian = format!("one\n{RUSSIAN}");
    let japanese = format!("two\n{JAPANESE}");
    let both = [
        &WINDOWS_1251.encode(&russian).0[..],
        b"\x0c",
        &SHIFT_JIS.encode(&japanese).0[..],
    ];
    sandbox.write("b.txt", both.concat());
    assert_eq!(dedup(&sandbox, "a.txt b.txt"), (4, 2));
}

#[test]
fn texts_with_form_feeds_are_compared_as_a_whole() {
    let sandbox = Sandbox::new();
    let body = "the second page of a long licence\nwith further words ".repeat(4);
    std::fs::create_dir(sandbox.path("texts")).unwrap();
    sandbox.write("texts/a.txt", format!("A title\n{body}\x0c\n{body}\x0c"));
    sandbox.write(
        "texts/b.txt",
        format!("Other words\n{body}\x0c\n{body}\x0c"),
    );
    for number in 0..3 {
        let name = format!("texts/line{number}.txt");
        sandbox.write(&name, "only one line\x0c");
    }
    assert_eq!(dedup(&sandbox, "texts --method exact"), (5, 3));
}

#[test]
fn texts_that_begin_like_a_format_are_texts() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("texts")).unwrap();
    for (name, text) in [
        ("a", "PAR1 is how a table begins"),
        ("b", "WARC/1.0 is how an archive begins\nit has more lines"),
        ("c", "{\"a\" and other letters in braces}, a note\n"),
        ("d", "a text"),
    ] {
        sandbox.write(&format!("texts/{name}"), text);
    }
    assert_eq!(dedup(&sandbox, "texts"), (4, 4));
}

/// Promise (Deduplication): Binary files and unsupported formats are …
#[test]
fn what_is_not_read_is_said_and_nothing_is_made() {
    let sandbox = Sandbox::new();
    let line = "{\"id\": \"1\", \"text\": \"a text\"}\n";
    sandbox.write("a.jsonl", line);
    sandbox.write("a.csv", "id,text\n1,a text\n");
    sandbox.write("array.json", "[\n{\"text\": \"a\"},\n{\"text\": \"b\"}\n]");
    sandbox.write("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\0");
    let utf_16_lines = utf_16(line);
    sandbox.write("a.utf16", utf_16_lines);
    for (arguments, words) in [
        ("a.csv", "convert it to JSON Lines"),
        ("a.csv", "--format whole-file"),
        ("array.json", "jq -c '.[]'"),
        ("a.png", "PNG image"),
        ("a.utf16", "iconv"),
        (
            "ftp://host/x.jsonl",
            "remote inputs (ftp://) are not supported: download",
        ),
        ("a.jsonl --format parquet", "is not a Parquet file"),
        ("a.jsonl --format warc", "and not of the format warc"),
        ("a.csv --format jsonl", "and not of the format jsonl"),
        ("a.jsonl --include [", "--include: not a pattern"),
    ] {
        sandbox.refuse(&format!("dedup {arguments} -o out"), &[words]);
    }
    // The advice can be followed.
    sandbox
        .run("dedup a.csv --format whole-file -o whole")
        .success();
    sandbox.refuse(
        "match --articles a.jsonl --samples a.jsonl -o gs://bucket/x",
        &["remote outputs", "write to a local directory"],
    );
    if cfg!(feature = "cloud") {
        sandbox.refuse(
            "dedup a.jsonl -o https://host/x",
            &["on a web server", "write to a local directory"],
        );
    }
    sandbox.refuse(
        "100 16 --articles ftp://bucket/x",
        &["remote inputs (ftp://)"],
    );
}

/// Promise (Deduplication): In a directory with data files, only those are read, unless nearly all
/// of its files are texts. The others are named on standard error and counted in `summary.json`;
/// directories beside it are read
#[test]
fn a_directory_of_data_gives_its_data_files() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("data")).unwrap();
    sandbox.write(
        "data/part.jsonl",
        "{\"text\": \"some text of a document\"}\n",
    );
    sandbox.write("data/README.md", "# About this data");
    sandbox.write("data/logo.png", b"\x89PNG\r\n\x1a\n\0\0\0\0");
    sandbox.write("data/.gitattributes", "*.parquet lfs");
    sandbox.write("data/array.json", "[\"one text\", \"another\"]\n");
    let message = sandbox.stderr("dedup data -o out");
    assert!(
        message.contains("README.md") && message.contains("PNG"),
        "{message}"
    );
    assert!(message.starts_with("simtool: not read: "), "{message}");
    assert!(
        message.contains("array.json (a JSON array, not JSON Lines (convert it with jq -c '.[]'"),
        "{message}"
    );
    assert_eq!(dedup(&sandbox, "data"), (1, 1));
    assert_eq!(
        dedup(&sandbox, "data --include *.md --include *.jsonl"),
        (2, 2)
    );
    assert_eq!(dedup(&sandbox, "data --exclude *.jsonl"), (1, 1));
    assert_eq!(
        dedup(
            &sandbox,
            "data --format whole-file --exclude *.png --exclude *.json"
        ),
        (2, 2)
    );
}

/// A source map, a configuration and notes of which "text" is a value or a nested name are no data.
/// Promise (Deduplication): A field is a name in the outermost object of a record, or a path of
/// names: a JSON file with the name of the field elsewhere is no data, and its neighbours are read
#[test]
fn values_are_no_fields() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path("package/lib")).unwrap();
    for (name, content) in [
        ("LICENSE", "The text of a licence."),
        ("lib/a.js", "let other = 'text of a script';"),
        (
            "lib/a.js.map",
            "{\"version\":3,\"names\":[\"text\"],\"mappings\":\"AAAA\"}",
        ),
        ("lib/b.json", "{\"type\": \"text\"}"),
        ("lib/c.json", "{\"a\": {\"text\": \"nested\"}}\n"),
        (
            "lib/d.json",
            "{\"name\": \"text\",\n \"text\": \"in an object of two lines\"}\n",
        ),
        ("lib/e.json", "{}\n"),
    ] {
        sandbox.write(&format!("package/{name}"), content);
    }
    let message = sandbox.stderr("dedup package -o out");
    assert!(
        message.contains("; 5 files left out (summary.json says why);"),
        "{message}"
    );
    assert_eq!(dedup(&sandbox, "package"), (2, 2));
    // A record with the field is data, and the other files are left out.
    sandbox.write(
        "package/lib/f.json",
        "{\"id\": 1, \"text\": \"a record\"}\n",
    );
    assert_eq!(dedup(&sandbox, "package"), (1, 1));
    // The path of a field leads into nested objects.
    assert_eq!(dedup(&sandbox, "package --text-field a.text"), (1, 1));
}

/// Promise (Deduplication): The files that are left out are counted in the line of the result, and
/// listed in `summary.json` with their reasons, 100 of each reason
#[test]
fn files_left_out_are_listed_and_counted() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("data")).unwrap();
    // Most bytes are data.
    let records = "{\"text\": \"some text\"}\n".repeat(100);
    sandbox.write("data/part.jsonl", records);
    for number in 0..150 {
        sandbox.write(&format!("data/{number}.md"), "# Notes");
        sandbox.write(&format!("data/{number}.png"), b"\x89PNG\r\n\x1a\n\0\0\0\0");
    }
    let ending = "; 300 files left out (summary.json says why);";
    for command in [
        "dedup data -o out",
        "dedup data -o out",
        "lines data -o lines",
    ] {
        let message = sandbox.stderr(command);
        let last = message.lines().last().unwrap().to_owned() + ";";
        assert!(last.contains(ending), "{message}");
    }
    for out in ["out", "lines"] {
        let summary = sandbox.read(&format!("{out}/summary.json"));
        let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
        let left_out = &summary["left_out"];
        assert_eq!(left_out["files"], 300);
        assert_eq!(left_out["reasons"]["companion"], 150);
        let first = left_out["first"].as_array().unwrap();
        let named = |reason| first.iter().filter(move |file| file["reason"] == reason);
        assert_eq!(
            ["companion", "format"].map(|reason| named(reason).count()),
            [100, 100]
        );
        assert!(
            first.iter().all(|file| file["why"].is_string()),
            "{first:?}"
        );
    }
    let json = sandbox.stderr("dedup data -o json --log json");
    let result = crate::sandbox::json_lines(&json).pop().unwrap();
    assert_eq!(result["left_out"], 300);
}

/// The command of the advice in `message` that begins with `program`, with the file `name`.
fn advised(message: &str, program: &str, name: &str) -> String {
    let begin = message.find(&format!("{program} ")).unwrap();
    let end = message[begin..].find("jsonl)").unwrap() + "jsonl".len();
    message[begin..begin + end]
        .replace("FILE...", name)
        .replace("FILE.jsonl", "converted.jsonl")
        .replace("FILE", name)
        .replace("notebooks.jsonl", "converted.jsonl")
}

/// Runs the advised command, and returns the documents that it makes; `None` without its program.
fn converted(sandbox: &Sandbox, command: &str) -> Option<Vec<serde_json::Value>> {
    let shell = |line: &str| {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", line]).current_dir(sandbox.path(""));
        shell.output().unwrap()
    };
    let program = command.split(' ').next().unwrap();
    if !shell(&format!("{program} --version")).status.success() {
        skipped(&format!("{program} cannot be run"));
        return None;
    }
    let ran = shell(command);
    assert!(ran.status.success(), "{command}: {ran:?}");
    Some(sandbox.lines("converted.jsonl"))
}

/// Promise (Deduplication): Notebooks and mailboxes are not taken for documents, and the advised
/// commands convert them
#[test]
fn notebooks_are_converted_as_the_message_says() {
    let sandbox = Sandbox::new();
    let notebook = serde_json::json!({
        "cells": [
            {"cell_type": "markdown", "metadata": {}, "source": ["# A title\n", "and a text"]},
            {"cell_type": "code", "metadata": {}, "outputs": [], "source": "print(1)"},
        ],
        "metadata": {"kernelspec": {"display_name": "Python 3 (ipykernel)"}},
        "nbformat": 4,
    });
    fs::create_dir(sandbox.path("books")).unwrap();
    sandbox.write("books/a.ipynb", format!("{notebook:#}"));
    sandbox.write("books/b.ipynb", format!("{notebook}"));
    sandbox.write("books/notes.txt", "some text beside it");
    assert_eq!(dedup(&sandbox, "books"), (1, 1));
    let refused = sandbox.run("dedup books/a.ipynb -o other").code(2);
    let message = crate::sandbox::stderr(&refused);
    assert!(message.contains("is a Jupyter notebook"), "{message}");
    let command = advised(&message, "jq", "books/*.ipynb");
    let Some(documents) = converted(&sandbox, &command) else {
        return;
    };
    assert_eq!(documents.len(), 2, "{command}");
    assert_eq!(documents[0]["id"], "books/a.ipynb");
    assert_eq!(documents[1]["text"], "# A title\nand a text\n\nprint(1)");
    assert_eq!(dedup(&sandbox, "converted.jsonl"), (2, 1));
}

/// Promise (Deduplication): Notebooks and mailboxes are not taken …
#[test]
fn mailboxes_are_converted_as_the_message_says() {
    let sandbox = Sandbox::new();
    let from = "From a@b.example Thu Nov 26 13:43:11 2026\n";
    let plain = format!("{from}Subject: one\n\nA text of some words.\n>From here on.\n\n");
    let encoded = format!(
        "{from}Subject: two\nContent-Type: text/plain; charset=iso-8859-1\n\
         Content-Transfer-Encoding: quoted-printable\n\ncaf=E9\n\n"
    );
    let parts = format!(
        "{from}Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/plain; \
         charset=x-unknown\n\na part\n--x\nContent-Type: image/png\n\n0000\n--x--\n\n"
    );
    fs::create_dir(sandbox.path("mails")).unwrap();
    sandbox.write("mails/list.mbox", [&*plain, &encoded, &parts].concat());
    sandbox.write("mails/one.txt", &plain);
    assert_eq!(dedup(&sandbox, "mails"), (1, 1));
    let refused = sandbox.run("dedup mails/list.mbox -o other").code(2);
    let message = crate::sandbox::stderr(&refused);
    assert!(
        message.contains("is a mailbox of several mails"),
        "{message}"
    );
    let command = advised(&message, "python3", "mails/list.mbox");
    let Some(documents) = converted(&sandbox, &command) else {
        return;
    };
    let texts: Vec<&str> = documents
        .iter()
        .map(|document| document["text"].as_str().unwrap().trim_end())
        .collect();
    assert_eq!(
        texts,
        [
            "A text of some words.\n>From here on.",
            "caf\u{e9}",
            "a part"
        ]
    );
    assert_eq!(dedup(&sandbox, "converted.jsonl"), (3, 3));
    // As one text, if it is asked for.
    assert_eq!(
        dedup(&sandbox, "mails/list.mbox --format whole-file"),
        (1, 1)
    );
}

/// Promise (Deduplication): Binary files and unsupported formats are never taken for documents:
/// images, archives, databases, CSV, JSON arrays, WAT, remote names, and a `--format` that the
/// first bytes contradict; only `--format whole-file` reads any file, as one text. The plain form
/// refuses compressed and binary files. In a directory, such files do not stop a run
#[test]
fn files_of_other_formats_do_not_stop_a_run() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("pages")).unwrap();
    sandbox.write("pages/a.txt", "some text of a document");
    sandbox.write("pages/b.txt", "and a text of another one");
    sandbox.write("pages/c.txt.bz2", "BZh91AY&SY");
    // One object is no collection, so the texts beside it are read.
    sandbox.write("pages/d.css.map", "{\"version\":3,\"note\":\"a text\"}\n");
    sandbox.write("pages/e.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0\0\0");
    let message = sandbox.stderr("dedup pages -o out");
    for reason in [
        "c.txt.bz2 (compressed with bzip2, which is not supported)",
        "d.css.map (a JSON object without the field `text`",
        "e.doc (a document of Microsoft Office",
    ] {
        assert!(message.contains(reason), "{message}");
    }
    assert_eq!(dedup(&sandbox, "pages"), (2, 2));
    assert_eq!(dedup(&sandbox, "pages --text-field note"), (1, 1));
    sandbox.refuse(
        "dedup pages/c.txt.bz2 -o out2",
        &["which is not supported: decompress it first"],
    );
}

#[test]
fn a_pattern_that_no_file_matches_is_told() {
    let sandbox = Sandbox::new();
    let lines = "{\"id\": \"1\", \"text\": \"a text\"}\n{\"id\": \"2\", \"text\": \"b\"}\n";
    for directory in ["data", "data/old", "more"] {
        fs::create_dir(sandbox.path(directory)).unwrap();
        sandbox.write(&format!("{directory}/a.jsonl"), lines);
    }
    sandbox.write("more/b.jsonl", lines);
    sandbox.write("pairs.tsv", "a\tb\tlabel\n1\t2\tunrelated\n");
    let patterns = "--include ./data/*.jsonl --include *.jsnl --exclude b.jsonl --exclude old/ \
                    --exclude nosuch";
    let expected = [
        "warning: --include *.jsnl: matches no file of a directory or pattern",
        "warning: --exclude nosuch: matches no file",
    ];
    for line in [
        "dedup data -o out",
        // A finished run repeats the warnings.
        "dedup data -o out",
        "match --articles data --samples data -o matches",
        "evaluate data --pairs pairs.tsv --closed-world",
        "explain 1 2 --in data",
        #[cfg(feature = "index")]
        "index build ix data",
        #[cfg(feature = "index")]
        "index query ix data -o answers",
        #[cfg(feature = "index")]
        "index add ix data",
    ] {
        let stderr = sandbox.stderr(&format!("{line} {patterns}"));
        for line in expected {
            assert!(stderr.contains(line), "{line}: {stderr}");
        }
        // The pattern b.jsonl matches nothing in these directories either.
        assert_eq!(stderr.matches("warning: ").count(), 3, "{line}: {stderr}");
    }
    // It is enough if a pattern matches in one of two groups of inputs.
    let line = "match --articles data --samples more -o matches --exclude b.jsonl --exclude old/";
    let stderr = sandbox.stderr(line);
    assert!(!stderr.contains("warning"), "{stderr}");
    let line = "dedup data --against more -o two --exclude b.jsonl --exclude old/";
    let stderr = sandbox.stderr(line);
    assert!(!stderr.contains("warning"), "{stderr}");
}

#[test]
fn every_command_says_which_field_may_hold_the_text() {
    let sandbox = Sandbox::new();
    let line = |id: u32| format!("{{\"id\": \"{id}\", \"raw_content\": \"a text\"}}\n");
    sandbox.write("a.jsonl", line(1) + &line(2));
    sandbox.write("text.jsonl", "{\"id\": \"1\", \"text\": \"a text\"}\n");
    sandbox.write("pairs.tsv", "a\tb\tlabel\n1\t2\tunrelated\n");
    #[cfg(feature = "index")]
    sandbox.run("index build ix text.jsonl").success();
    sandbox
        .run("dedup a.jsonl -o listed --text-field raw_content")
        .success();
    for line in [
        "dedup a.jsonl -o out",
        "match --articles text.jsonl --samples a.jsonl -o matches",
        "evaluate a.jsonl --pairs pairs.tsv",
        "tune a.jsonl --planted",
        "explain 1 2 --in a.jsonl",
        "explain a.jsonl:0 text.jsonl",
        "explain --pair listed/duplicates.jsonl --id 2",
        #[cfg(feature = "index")]
        "index build new a.jsonl",
        #[cfg(feature = "index")]
        "index add ix a.jsonl",
        #[cfg(feature = "index")]
        "index query ix a.jsonl -o answers",
    ] {
        let message = "a.jsonl: --text-field \"text\": no document has it; the first one has id, \
                       raw_content (try --text-field raw_content)";
        sandbox.refuse(line, &[message]);
    }
}

#[test]
fn a_short_table_is_known_without_a_name() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(SIMTOOL);
    command.args(["dedup", "-", "-o", "out"]);
    let run = command.write_stdin("id,text\n1,a text\n").assert().code(2);
    assert_message(&run, &["is a CSV table, which is not supported"]);
}
