//! Documents have the same answers in every format.

use std::io::Write;

use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};

use super::{query, words};
use crate::sandbox::Sandbox;

/// A document; its URL follows from its id.
struct Page {
    id: String,
    text: String,
}

impl Page {
    fn new(id: &str, text: String) -> Page {
        Page {
            id: id.to_owned(),
            text,
        }
    }

    fn url(&self) -> String {
        format!("http://{}.example/", self.id)
    }
}

const DATE: &str = "2026-01-02T03:04:05Z";

fn form_feed(pages: &[Page]) -> Vec<u8> {
    let page = |page: &Page| format!("{}\n{}\u{c}", page.id, page.text);
    pages.iter().map(page).collect::<String>().into_bytes()
}

fn json_lines(pages: &[Page]) -> Vec<u8> {
    let line = |page: &Page| {
        let fields = json!({"id": page.id, "text": page.text, "url": page.url(), "date": DATE});
        fields.to_string() + "\n"
    };
    pages.iter().map(line).collect::<String>().into_bytes()
}

/// Pages as a crawler got them, and as others extracted their texts, by turns.
fn warc(pages: &[Page]) -> Vec<Vec<u8>> {
    let record = |(number, page): (usize, &Page)| {
        let (kind, content_type, body) = match number % 2 {
            0 => ("conversion", "text/plain", page.text.clone()),
            _ => {
                let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n";
                let http = "application/http; msgtype=response";
                ("response", http, head.to_owned() + &page.text)
            }
        };
        format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <{}>\r\nWARC-Target-URI: {}\r\n\
             WARC-Date: {DATE}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n\
             {body}\r\n\r\n",
            page.id,
            page.url(),
            body.len()
        )
        .into_bytes()
    };
    pages.iter().enumerate().map(record).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut file = GzEncoder::new(Vec::new(), Compression::default());
    file.write_all(bytes).unwrap();
    file.finish().unwrap()
}

#[cfg(feature = "parquet")]
fn parquet(pages: &[Page]) -> Vec<u8> {
    use arrow_array::RecordBatch;
    use arrow_array::{ArrayRef, StringArray};
    use std::sync::Arc;

    let column = |value: &dyn Fn(&Page) -> String| -> ArrayRef {
        let values: StringArray = pages.iter().map(|page| Some(value(page))).collect();
        Arc::new(values)
    };
    let batch = RecordBatch::try_from_iter([
        ("id", column(&|page| page.id.clone())),
        ("text", column(&|page| page.text.clone())),
        ("url", column(&Page::url)),
        ("date", column(&|_| DATE.to_owned())),
    ])
    .unwrap();
    let mut bytes = Vec::new();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

/// Each format by the end of a file's name, the first as others are compared with.
fn formats(pages: &[Page]) -> Vec<(&'static str, Vec<u8>)> {
    let lines = json_lines(pages);
    let records = warc(pages);
    let members = records.iter().flat_map(|record| gzip(record)).collect();
    vec![
        ("jsonl.gz", gzip(&lines)),
        ("jsonl", lines),
        ("txt", form_feed(pages)),
        ("warc.gz", members),
        ("warc", records.concat()),
        #[cfg(feature = "parquet")]
        ("parquet", parquet(pages)),
    ]
}

/// Lines without the places, which differ.
fn without_places(mut lines: Vec<Value>) -> Vec<Value> {
    for line in &mut lines {
        for field in ["file", "start", "length", "member"] {
            line.as_object_mut().unwrap().remove(field).unwrap();
        }
    }
    lines
}

/// Promise (The index): The same documents give the same index entries in every format
#[test]
fn the_same_documents_in_every_format() {
    let sandbox = Sandbox::new();
    let chinese = "这座城市的图书馆收藏了大量的古代文献,研究人员每天都在阅览室里工作。";
    let mut old: Vec<Page> = (0..30)
        .map(|number| Page::new(&format!("d{number}"), words(number, 100)))
        .collect();
    old.push(Page::new("chinese", chinese.to_owned()));
    let new = [
        Page::new("d1", words(1, 100)),
        Page::new("d2", words(2, 100) + &words(97, 30)),
        Page::new("d3", words(99, 100)),
        Page::new("n1", words(4, 100) + "more"),
        Page::new("n2", words(98, 100)),
        Page::new("n3", chinese.to_owned()),
        Page::new("n4", words(98, 100)),
    ];
    for (format, bytes) in formats(&old) {
        sandbox.write(&format!("old.{format}"), bytes);
    }
    let mut expected = None;
    for (format, bytes) in formats(&new) {
        sandbox.write(&format!("new.{format}"), bytes);
        let index = format.replace('.', "-");
        let build = format!("index build {index} old.{format} --method simhash:distance=6");
        let built = sandbox.stdout(&build);
        let queried = query(&sandbox, &format!("index query {index} new.{format}"));
        let counts = sandbox.stdout(&format!("index add {index} new.{format} -o added-{format}"));
        let added = sandbox.lines(&format!("added-{format}"));
        let again = query(&sandbox, &format!("index query {index} old.{format}"));
        let all = [queried, added, again].map(without_places);
        let all = (built, counts, all);
        assert_eq!(
            expected.get_or_insert_with(|| all.clone()),
            &all,
            "{format}"
        );
    }
    let (built, counts, [queried, ..]) = expected.unwrap();
    assert!(built.starts_with("31 documents: 31 new, "), "{built}");
    let expected = "7 documents: 1 new, 3 duplicate, 1 unchanged, 2 changed, 0 empty; 0 skipped\n";
    assert_eq!(counts, expected);
    assert_eq!(queried[5]["matches"][0]["id"], "chinese");

    // Pages have neither URL nor date.
    let expected = json!({"url": "http://d1.example/", "date": DATE});
    for (format, _) in formats(&new)
        .into_iter()
        .filter(|(format, _)| *format != "txt")
    {
        let index = format!("dated-{format}");
        sandbox.stdout(&format!(
            "index build {index} new.{format} --payload url,date"
        ));
        let known = sandbox.stdout(&format!("index info {index} --id d1"));
        let known: Value = serde_json::from_str(&known).unwrap();
        let payload: Value = serde_json::from_str(known["payload"].as_str().unwrap()).unwrap();
        assert_eq!(payload, expected, "{format}");
    }
}
