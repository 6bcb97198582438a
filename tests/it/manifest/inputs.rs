//! The inputs of the commands of the manifest: the same bytes in every run.

use std::fmt::Write as _;
use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use crate::sandbox::Sandbox;

/// Documents of each of the three inputs of `in`.
const DOCUMENTS: usize = 60;
/// Hosts of pages.
const SITES: usize = 7;
/// A text that many documents share.
const SHARED: &str = "This site uses cookies to remember what its readers like best of all things.\n\
    Read more about them on the page of our terms, and agree to it before you go on.\n";

/// Numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }

    /// Lines of `words` words in all.
    fn text(&mut self, words: usize) -> String {
        let mut text = String::new();
        for number in 1..=words {
            let end = if number % 12 == 0 { ".\n" } else { " " };
            write!(text, "w{}{end}", self.below(900)).unwrap();
        }
        text
    }
}

/// Texts of which every third is almost the one before it, every seventh is the same as that, and every
/// fifth ends with a shared one.
fn texts(seed: u64, count: usize) -> Vec<String> {
    let mut numbers = Numbers(seed);
    let mut texts: Vec<String> = Vec::new();
    for number in 0..count {
        let last = texts.last().cloned().unwrap_or_default();
        let text = match number {
            _ if number % 7 == 6 => last,
            _ if number % 3 == 2 => last + "more",
            _ if number % 5 == 4 => numbers.text(60) + SHARED,
            _ => {
                let words = 40 + numbers.below(60) as usize;
                numbers.text(words)
            }
        };
        texts.push(text);
    }
    texts
}

fn json_lines(seed: u64) -> String {
    let (mut lines, languages) = (String::new(), ["en", "de"]);
    for (number, text) in texts(seed, DOCUMENTS).iter().enumerate() {
        let document = json!({
            "id": format!("d{seed}-{number}"),
            "text": text,
            "url": format!("https://site{}.example/{}", number / 3 % SITES, number / 2),
            "date": format!("2024-{:02}-01", number % 12 + 1),
            "language": languages[number % 2],
        });
        writeln!(lines, "{document}").unwrap();
    }
    lines
}

fn web_archive() -> Vec<u8> {
    let mut archive = Vec::new();
    for (number, text) in texts(11, 30).iter().enumerate() {
        let page = format!("<html><body><nav>Home</nav><p>{text}</p></body></html>");
        let response = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{page}");
        let record = format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:r{number}>\r\n\
             WARC-Target-URI: https://site.example/{number}\r\nWARC-Date: 2024-01-02T03:04:05Z\r\n\
             Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{response}\r\n\r\n",
            response.len()
        );
        archive.extend(gzip(record.as_bytes()));
    }
    archive
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// All inputs that are not made by a command, by their paths.
fn files() -> Vec<(String, Vec<u8>)> {
    let compressed = json_lines(3);
    let mut files = vec![
        ("in/a.jsonl".to_owned(), json_lines(1).into_bytes()),
        ("in/b.jsonl.gz".to_owned(), gzip(json_lines(2).as_bytes())),
        (
            "in/below/c.jsonl.zst".to_owned(),
            zstd::encode_all(compressed.as_bytes(), 3).unwrap(),
        ),
        ("crawl.warc.gz".to_owned(), web_archive()),
        (
            "pages.txt".to_owned(),
            texts(4, 40).join("\x0c").into_bytes(),
        ),
        (
            "earlier.jsonl".to_owned(),
            json_lines(1)
                .lines()
                .step_by(4)
                .flat_map(|line| [line, "\n"])
                .collect::<String>()
                .into_bytes(),
        ),
    ];
    for (number, text) in texts(5, 24).into_iter().enumerate() {
        files.push((
            format!("texts/{}/{number:02}.txt", number % 3),
            text.into_bytes(),
        ));
    }
    let sentence = "今天天气很好，我们去公园散步，然后回家吃饭。";
    let chinese = |number: usize| json!({"id": number, "text": sentence.repeat(number % 4 + 1)});
    let chinese: String = (0..12)
        .map(|number| format!("{}\n", chinese(number)))
        .collect();
    files.push(("chinese.jsonl".to_owned(), chinese.into_bytes()));
    let damaged = [
        b"{\"text\": \"one good document with some words\"}\n{\"text\": \n{\"title\": \"no text\"}\n".as_slice(),
        b"{\"text\": \"\"}\n{\"text\": \"not \xff utf-8\"}\n{\"text\": 7}\n\n",
    ];
    files.push(("damaged.jsonl".to_owned(), damaged.concat()));
    let items: String = texts(1, DOCUMENTS)
        .iter()
        .step_by(9)
        .map(|text| {
            format!(
                "{}\n",
                json!({"text": text.replace('\n', " "), "answer": "w1 w2"})
            )
        })
        .collect();
    files.push(("items.jsonl".to_owned(), items.into_bytes()));
    let pairs = (0..DOCUMENTS)
        .filter(|number| number % 3 == 2)
        .map(|number| format!("d1-{}\td1-{number}\t1\n", number - 1));
    let pairs: String = ["a\tb\tlabel\n".to_owned()]
        .into_iter()
        .chain(pairs)
        .collect();
    files.push(("pairs.tsv".to_owned(), pairs.into_bytes()));
    files
}

/// A directory with all inputs, and with a table of those of `in`.
pub fn sandbox() -> Sandbox {
    let sandbox = Sandbox::example();
    for (name, bytes) in files() {
        let path = sandbox.path(&name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let convert = "dedup in -o made --method exact --keep-copies 99 --write kept --no-page \
                   --write-format parquet --source-field from";
    sandbox.run(convert).success();
    fs::rename(sandbox.path("made/kept"), sandbox.path("tables")).unwrap();
    fs::remove_dir_all(sandbox.path("made")).unwrap();
    sandbox
}

/// The objects of the bucket.
pub fn objects() -> Vec<(String, Vec<u8>)> {
    files()
        .into_iter()
        .filter(|(name, _)| name.starts_with("in/"))
        .collect()
}
