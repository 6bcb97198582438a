//! What inputs stand for: HTML, character sets, and files that are not read.

use std::fs;

use encoding_rs::{GBK, SHIFT_JIS, WINDOWS_1251};

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
        ("array.json", "jq -c '.[]'"),
        ("a.png", "PNG image"),
        ("a.utf16", "iconv"),
        (
            "https://host/x.jsonl",
            "remote inputs (https://) are not supported: download",
        ),
        ("s3://bucket/x.jsonl", "aws s3 cp"),
        ("a.jsonl --format parquet", "is no Parquet file"),
        ("a.jsonl --format warc", "is no warc file"),
        ("a.csv --format jsonl", "is no jsonl file"),
        ("a.jsonl --include [", "--include: no pattern"),
    ] {
        place.refuse(&format!("dedup {arguments} -o out"), &[words]);
    }
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
    let output = place.run("dedup data -o out").success();
    let message = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
    assert!(
        message.contains("README.md") && message.contains("PNG"),
        "{message}"
    );
    assert!(message.starts_with("simtool: not read: "), "{message}");
    assert_eq!(dedup(&place, "data"), (1, 1));
    assert_eq!(
        dedup(&place, "data --include *.md --include *.jsonl"),
        (2, 2)
    );
    assert_eq!(dedup(&place, "data --exclude *.jsonl"), (1, 1));
    assert_eq!(
        dedup(&place, "data --format whole-file --exclude *.png"),
        (2, 2)
    );
}
