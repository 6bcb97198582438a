//! What inputs stand for: HTML, character sets, and files that are not read.

use std::fs;

use encoding_rs::{GBK, SHIFT_JIS, WINDOWS_1251, WINDOWS_1252, X_MAC_CYRILLIC};

use crate::workplace::Workplace;

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

/// Runs `simtool dedup ARGUMENTS -o out` and says how many documents were seen and kept.
fn dedup(place: &Workplace, arguments: &str) -> (u64, u64) {
    let _ = fs::remove_dir_all(place.path("out"));
    let line = format!("dedup {arguments} -o out");
    place.run(&line).success();
    let summary: serde_json::Value = serde_json::from_str(&place.read("out/summary.json")).unwrap();
    let count = |name: &str| summary[name].as_u64().unwrap();
    (count("seen"), count("kept"))
}

#[test]
fn html_is_the_same_text_wherever_it_stands() {
    let place = Workplace::empty();
    let paragraph = format!("<p>{CHINESE}</p>");
    let page = |head: &str| {
        format!(
            "<!DOCTYPE html><html><head>{head}<title>x</title><script>var menu;</script></head>\
             <body><div>{}</div></body></html>",
            paragraph.repeat(4)
        )
    };
    fs::create_dir(place.path("pages")).unwrap();
    place.write("pages/utf8.html", page(""));
    place.write("pages/gbk.htm", GBK.encode(&page("<meta charset=gbk>")).0);
    place.write("pages/unlabelled.html", GBK.encode(&page("")).0);
    place.write("pages/utf16.html", utf_16(&page("")));
    place.write("pages/no-extension", page(""));
    let body = paragraph.repeat(4);
    place.write("pages/fragment.xhtml", &body);
    place.write(
        "lines.jsonl",
        serde_json::json!({"id": "1", "text": page("")}).to_string(),
    );
    place.write("text.txt", format!("{CHINESE}\n").repeat(4));
    for html in ["main", "visible"] {
        let arguments = format!("pages lines.jsonl text.txt --html {html}");
        assert_eq!(dedup(&place, &arguments), (8, 1), "{html}");
    }
    // Markup as it stands: only equal bytes are equal.
    assert!(dedup(&place, "pages lines.jsonl text.txt --html markup").1 > 1);
}

#[test]
fn character_sets_of_plain_files_are_found() {
    let place = Workplace::empty();
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
        place.write("a.txt", text);
        place.write("b.txt", bytes);
        assert_eq!(dedup(&place, "a.txt b.txt"), (2, 1), "{name}");
    }
    // The records that are kept are those of the input, byte for byte.
    place.write("b.txt", GBK.encode(&CHINESE.repeat(4)).0);
    assert_eq!(dedup(&place, "b.txt --write kept"), (1, 1));
    assert_eq!(
        fs::read(place.path("out/kept/b.txt")).unwrap(),
        fs::read(place.path("b.txt")).unwrap()
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

#[test]
fn utf_16_and_utf_32_are_read_with_and_without_a_mark() {
    let place = Workplace::empty();
    let text = CHINESE.repeat(4);
    place.write("a.txt", &text);
    for (unit_bytes, big_endian) in [(2, false), (2, true), (4, false), (4, true)] {
        place.write("b.txt", wide(&text, unit_bytes, big_endian));
        let marked = format!("\u{feff}{text}");
        place.write("c.txt", wide(&marked, unit_bytes, big_endian));
        let read = dedup(&place, "a.txt b.txt c.txt");
        assert_eq!(read, (3, 1), "{unit_bytes} {big_endian}");
    }
    let lines = wide("{\"text\": \"one\"}\n", 4, false);
    place.write("d.jsonl", lines);
    let run = place.run("dedup d.jsonl -o other").code(2);
    let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(
        said.contains("JSON in UTF-32LE (convert it with iconv"),
        "{said}"
    );
}

#[test]
fn declared_character_sets_count_and_unknown_ones_are_told() {
    let place = Workplace::empty();
    let feed =
        |label: &str| format!("<?xml version=\"1.0\" encoding=\"{label}\"?><p>{RUSSIAN}</p>");
    place.write("a.xml", feed("x-mac-cyrillic"));
    let bytes = X_MAC_CYRILLIC
        .encode(&feed("x-mac-cyrillic"))
        .0
        .into_owned();
    place.write("b.xml", bytes);
    assert_eq!(dedup(&place, "a.xml b.xml"), (2, 1));
    place.write("c.xml", X_MAC_CYRILLIC.encode(&feed("IBM855")).0);
    let run = place.run("dedup a.xml c.xml -o told").success();
    let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(
        said.contains("warning: 1 document in a character set that is named but"),
        "{said}"
    );
    assert!(said.contains("(the first: c.xml)"), "{said}");
    let summary: serde_json::Value =
        serde_json::from_str(&place.read("told/summary.json")).unwrap();
    assert_eq!(summary["flagged"]["unknown_charset"], 1);
}

#[test]
fn records_that_are_not_utf_8_are_told_by_every_command() {
    let place = Workplace::empty();
    let ordinary = "{\"id\": \"1\", \"text\": \"the first of some lines\"}\n";
    let french = "{\"id\": \"2\", \"text\": \"la premi\u{e8}re de quelques lignes\"}\n";
    let again = french.replace("\"2\"", "\"3\"");
    let latin = WINDOWS_1252
        .encode(&format!("{french}{again}"))
        .0
        .into_owned();
    place.write("latin.jsonl", [ordinary.as_bytes(), &latin].concat());
    place.write("pairs.tsv", "a\tb\tlabel\n1\t2\tunrelated\n2\t3\tsame\n");
    place.write("utf8.jsonl", ordinary);
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
        let run = place.run(line).success();
        let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        assert!(
            said.contains("warning: 2 documents with bytes that are not"),
            "{line}: {said}"
        );
        assert!(
            said.contains(&first) && said.contains("iconv"),
            "{line}: {said}"
        );
    }
    let run = place.run("match --articles utf8.jsonl --samples utf8.jsonl -o matches");
    let said = String::from_utf8_lossy(&run.success().get_output().stderr).into_owned();
    assert!(!said.contains("warning"), "{said}");
    let summary: serde_json::Value = serde_json::from_str(&place.read("one/summary.json")).unwrap();
    assert_eq!(summary["flagged"]["broken_text"], 2);
    assert_eq!(summary["warnings"][0]["documents"], 2);
    assert_eq!(summary["warnings"][0]["setting"], "text");
}

#[test]
fn pages_between_form_feeds_are_in_any_character_set() {
    let place = Workplace::empty();
    let pages = format!("one\n{RUSSIAN}\x0ctwo\n{JAPANESE}\x0c");
    place.write("a.txt", &pages);
    let russian = format!("one\n{RUSSIAN}");
    let japanese = format!("two\n{JAPANESE}");
    let both = [
        &WINDOWS_1251.encode(&russian).0[..],
        b"\x0c",
        &SHIFT_JIS.encode(&japanese).0[..],
    ];
    place.write("b.txt", both.concat());
    assert_eq!(dedup(&place, "a.txt b.txt"), (4, 2));
}

#[test]
fn what_is_not_read_is_said_and_nothing_is_made() {
    let place = Workplace::empty();
    let line = "{\"id\": \"1\", \"text\": \"a text\"}\n";
    place.write("a.jsonl", line);
    place.write("a.csv", "id,text\n1,a text\n");
    place.write("array.json", "[\n{\"text\": \"a\"},\n{\"text\": \"b\"}\n]");
    place.write("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\0");
    let utf_16_lines = utf_16(line);
    place.write("a.utf16", utf_16_lines);
    for (arguments, words) in [
        ("a.csv", "convert it to JSON Lines"),
        ("a.csv", "--format whole-file"),
        ("array.json", "jq -c '.[]'"),
        ("a.png", "PNG image"),
        ("a.utf16", "iconv"),
        (
            "https://host/x.jsonl",
            "remote inputs (https://) are not supported: download",
        ),
        ("s3://bucket/x.jsonl", "aws s3 cp"),
        ("a.jsonl --format parquet", "is not a Parquet file"),
        ("a.jsonl --format warc", "and not of the format warc"),
        ("a.csv --format jsonl", "and not of the format jsonl"),
        ("a.jsonl --include [", "--include: not a pattern"),
    ] {
        place.refuse(&format!("dedup {arguments} -o out"), &[words]);
    }
    // The advice can be followed.
    place
        .run("dedup a.csv --format whole-file -o whole")
        .success();
    for line in [
        "dedup a.jsonl -o s3://bucket/x",
        "match --articles a.jsonl --samples a.jsonl -o gs://bucket/x",
    ] {
        place.refuse(line, &["remote outputs", "write to a local directory"]);
    }
    place.refuse(
        "100 16 --articles s3://bucket/x",
        &["remote inputs (s3://)"],
    );
}

#[test]
fn a_directory_of_data_gives_its_data_files() {
    let place = Workplace::empty();
    fs::create_dir(place.path("data")).unwrap();
    place.write(
        "data/part.jsonl",
        "{\"text\": \"some text of a document\"}\n",
    );
    place.write("data/README.md", "# About this data");
    place.write("data/logo.png", b"\x89PNG\r\n\x1a\n\0\0\0\0");
    place.write("data/.gitattributes", "*.parquet lfs");
    place.write("data/array.json", "[\"one text\", \"another\"]\n");
    let output = place.run("dedup data -o out").success();
    let message = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
    assert!(
        message.contains("README.md") && message.contains("PNG"),
        "{message}"
    );
    assert!(message.starts_with("simtool: not read: "), "{message}");
    assert!(
        message.contains("array.json (a JSON array, not JSON Lines (convert it with jq -c '.[]'"),
        "{message}"
    );
    assert_eq!(dedup(&place, "data"), (1, 1));
    assert_eq!(
        dedup(&place, "data --include *.md --include *.jsonl"),
        (2, 2)
    );
    assert_eq!(dedup(&place, "data --exclude *.jsonl"), (1, 1));
    assert_eq!(
        dedup(
            &place,
            "data --format whole-file --exclude *.png --exclude *.json"
        ),
        (2, 2)
    );
}

#[test]
fn a_pattern_that_no_file_matches_is_told() {
    let place = Workplace::empty();
    let lines = "{\"id\": \"1\", \"text\": \"a text\"}\n{\"id\": \"2\", \"text\": \"b\"}\n";
    for directory in ["data", "data/old", "more"] {
        fs::create_dir(place.path(directory)).unwrap();
        place.write(&format!("{directory}/a.jsonl"), lines);
    }
    place.write("more/b.jsonl", lines);
    place.write("pairs.tsv", "a\tb\tlabel\n1\t2\tunrelated\n");
    let patterns = "--include ./data/*.jsonl --include *.jsnl --exclude b.jsonl --exclude old/ \
                    --exclude nosuch";
    let expected = [
        "warning: --include *.jsnl: matches no file of a directory or pattern",
        "warning: --exclude nosuch: matches no file",
    ];
    for line in [
        "dedup data -o out",
        // A finished run says it again.
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
        let run = place.run(&format!("{line} {patterns}")).success();
        let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        for line in expected {
            assert!(said.contains(line), "{line}: {said}");
        }
        // That of b.jsonl matches nothing in these directories either.
        assert_eq!(said.matches("warning: ").count(), 3, "{line}: {said}");
    }
    // It is enough if a pattern matches in one of two groups of inputs.
    let line = "match --articles data --samples more -o matches --exclude b.jsonl --exclude old/";
    let run = place.run(line).success();
    let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(!said.contains("warning"), "{said}");
    let line = "dedup data --against more -o two --exclude b.jsonl --exclude old/";
    let run = place.run(line).success();
    let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(!said.contains("warning"), "{said}");
}

#[test]
fn every_command_says_which_field_may_hold_the_text() {
    let place = Workplace::empty();
    let line = |id: u32| format!("{{\"id\": \"{id}\", \"raw_content\": \"a text\"}}\n");
    place.write("a.jsonl", line(1) + &line(2));
    place.write("text.jsonl", "{\"id\": \"1\", \"text\": \"a text\"}\n");
    place.write("pairs.tsv", "a\tb\tlabel\n1\t2\tunrelated\n");
    #[cfg(feature = "index")]
    place.run("index build ix text.jsonl").success();
    place
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
        place.refuse(line, &[message]);
    }
}

#[test]
fn a_short_table_is_known_without_a_name() {
    let place = Workplace::empty();
    let mut command = place.command(crate::workplace::SIMTOOL);
    command.args(["dedup", "-", "-o", "out"]);
    let run = command.write_stdin("id,text\n1,a text\n").assert().code(2);
    let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(
        said.contains("is a CSV table, which is not supported"),
        "{said}"
    );
}
