//! Recognition of unsupported files by their first bytes.

use super::first_object::FirstObject;
use super::mail;
use crate::source::STANDARD_INPUT;
use crate::web::charset;
use crate::web::wide::Wide;
use memchr::{memchr, memmem};
use serde::de::IgnoredAny;
use std::path::Path;

/// Unsupported formats, by their first bytes.
const BINARY: [(&[u8], &str); 17] = [
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "a document of Microsoft Office (DOC, XLS, PPT; convert it with soffice --convert-to)",
    ),
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"II*\0", "a TIFF image"),
    (b"MM\0*", "a TIFF image"),
    (b"\0\0\x01\0", "an icon"),
    (b"%PDF-", "a PDF document"),
    (
        b"PK\x03\x04",
        "a ZIP archive (or a document in one: DOCX, XLSX, EPUB)",
    ),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\x7fELF", "a program"),
    (b"\xca\xfe\xba\xbe", "a program"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (b"Obj\x01", "an Avro file (write it as Parquet)"),
];

/// Unsupported formats whose first bytes may also begin a text: in a text, no control characters
/// follow.
const BINARY_OR_WORD: [(&[u8], &str); 8] = [
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"RIFF", "a RIFF file (image, sound or video)"),
    (b"OggS", "an Ogg file"),
    (b"fLaC", "a sound"),
    (b"ID3", "a sound"),
    (b"ARROW1", "an Arrow file (write it as Parquet)"),
    (b"ORC", "an ORC file (write it as Parquet)"),
];

/// How text in ISO-2022-KR begins.
const ISO_2022_KR: &[u8] = b"\x1b$)C";

/// The offset and value of the signature of a tar archive.
const TAR: (usize, &[u8]) = (257, b"ustar");

/// In a text, fewer than one in this number of bytes is a control character. In random bytes, one
/// in ten is.
const CONTROL_SHARE: usize = 20;
/// Old mails and terminal output have more, but fewer than one in this number of their bytes is zero, or
/// not ASCII. Programs have zeros; half of all random bytes are not ASCII.
const ZERO_SHARE: usize = 100;
const HIGH_SHARE: usize = 4;

/// The minimum length of a text that is judged by its control characters.
const MIN_BYTES: usize = 64;

/// The binary format of a file that begins with `prefix`, decompressed; `None` if it may be text.
pub(super) fn binary_format(prefix: &[u8]) -> Option<&'static str> {
    let has_control = has_control(prefix);
    let words = BINARY_OR_WORD.iter().filter(|_| has_control);
    let mut formats = BINARY.iter().chain(words);
    if let Some((_, what)) = formats.find(|(magic, _)| prefix.starts_with(magic)) {
        return Some(what);
    }
    let is_tar = |rest: &[u8]| has_control && rest.starts_with(TAR.1);
    prefix
        .get(TAR.0..)
        .is_some_and(is_tar)
        .then_some("a tar archive (unpack it first)")
}

/// The reason why the file `path` is not read; `None` if it is. `prefix` are its first decompressed
/// bytes; the text of a table is in the column `text_field`.
///
/// The reason names the format of the file and, if possible, how to convert it.
pub(super) fn why_unread(path: &Path, prefix: &[u8], text_field: &str) -> Option<String> {
    if let Some(what) = binary_format(prefix) {
        return Some(what.to_owned());
    }
    if prefix.starts_with(ISO_2022_KR) {
        return Some(
            "text in ISO-2022-KR (convert it with iconv -f ISO-2022-KR -t UTF-8)".to_owned(),
        );
    }
    let bare = prefix.strip_prefix(b"\xef\xbb\xbf").unwrap_or(prefix);
    let bare = bare.trim_ascii_start();
    if bare.starts_with(b"WARC/") {
        return is_wat(bare).then(|| {
            "a WAT file, which holds metadata and no text (use the WARC or WET file)".to_owned()
        });
    }
    if let Some(wide) = Wide::of(prefix) {
        return structured_wide(wide, prefix);
    }
    let files = match path.as_os_str() == STANDARD_INPUT {
        true => "",
        false => " FILE > FILE.jsonl",
    };
    if is_array(bare) {
        return Some(format!(
            "a JSON array, not JSON Lines (convert it with jq -c '.[]'{files}, one of strings with \
             jq -c '.[] | {{text: .}}')"
        ));
    }
    if has_extension(path, &["ipynb"]) && bare.starts_with(b"{") {
        return Some(notebook());
    }
    if let Some(why) = why_no_line(bare, text_field, files) {
        return Some(why);
    }
    if mail::is_mailbox(prefix) {
        return Some(mail::description());
    }
    if has_extension(path, &["csv", "tsv"]) || is_table(bare, text_field) {
        return Some(table(bare, files));
    }
    is_mostly_control(prefix).then(|| {
        "binary data, or text in a character set that is not recognised (convert text with iconv)"
            .to_owned()
    })
}

/// A description of a table in text form, and how to convert it. Its separator is the most frequent
/// one in its first line.
fn table(prefix: &[u8], files: &str) -> String {
    let first = prefix.split(|&byte| byte == b'\n').next().unwrap_or(prefix);
    let count = |separator: u8| first.iter().filter(|&&byte| byte == separator).count();
    let (tabs, semicolons, commas) = (count(b'\t'), count(b';'), count(b','));
    let (what, flags) = if tabs > commas.max(semicolons) {
        ("a table with tabs (TSV)", "--itsv")
    } else if semicolons > commas {
        ("a CSV table with semicolons", "--icsv --ifs ';'")
    } else {
        ("a CSV table", "--icsv")
    };
    format!(
        "{what}, which is not supported (convert it to JSON Lines with mlr {flags} --ojsonl \
         cat{files}, or to Parquet)"
    )
}

/// Whether a file name has one of `extensions`, before that of a compression if any.
pub(super) fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    let is_one = |path: &Path, among: &[&str]| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        extension.is_some_and(|found| among.iter().any(|one| found.eq_ignore_ascii_case(one)))
    };
    let name = Path::new(path.file_name().unwrap_or_default());
    let bare = match is_one(name, &["gz", "zst"]) {
        true => Path::new(name.file_stem().unwrap_or_default()),
        false => name,
    };
    is_one(bare, extensions)
}

/// Whether the first records of an archive are those of a WAT file: metadata as JSON, and no
/// documents.
fn is_wat(prefix: &[u8]) -> bool {
    let has = |text: &[u8]| memmem::find(prefix, text).is_some();
    has(b"WARC-Type: metadata")
        && has(b"Content-Type: application/json")
        && [&b"response"[..], b"resource", b"conversion"]
            .iter()
            .all(|kind| !has(&[b"WARC-Type: ", *kind].concat()))
}

/// Whether the first line is the header of a table, and another line has its separator. A header has
/// at least two names, among them `text_field`.
fn is_table(prefix: &[u8], text_field: &str) -> bool {
    let Some(end) = memchr(b'\n', prefix) else {
        return false;
    };
    let (header, rows) = (prefix[..end].trim_ascii(), &prefix[end..]);
    [b',', b';', b'\t'].into_iter().any(|separator| {
        let names: Vec<&[u8]> = header
            .split(|&byte| byte == separator)
            .map(|name| {
                let inner = name
                    .strip_prefix(b"\"")
                    .and_then(|name| name.strip_suffix(b"\""));
                inner.unwrap_or(name)
            })
            .collect();
        let is_name = |name: &&[u8]| {
            let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
            !name.is_empty() && name.iter().all(is_part)
        };
        names.len() > 1
            && rows.contains(&separator)
            && names.iter().all(is_name)
            && names.contains(&text_field.as_bytes())
    })
}

/// Whether `bytes` begin with a JSON array: of objects, or an empty one or one of arrays or strings
/// if all of `bytes` [are JSON](is_json).
fn is_array(bytes: &[u8]) -> bool {
    let Some(rest) = bytes.strip_prefix(b"[") else {
        return false;
    };
    match rest.trim_ascii_start().first() {
        Some(b'{') => true,
        Some(b'"' | b'[' | b']') => is_json(bytes),
        _ => false,
    }
}

/// The reason why a file that begins with the JSON object `bytes`, and has nothing else, is not read as
/// JSON Lines: the object is on several lines, or it lacks the field `text_field`, such as a source
/// map.
pub(super) fn why_no_line(bytes: &[u8], text_field: &str, files: &str) -> Option<String> {
    let object = match bytes.starts_with(b"{") {
        true => FirstObject::of(bytes, text_field).filter(|object| object.is_alone)?,
        false => return None,
    };
    let is_one_line = memchr(b'\n', bytes.trim_ascii_end()).is_none();
    match (object.has_field, is_one_line) {
        (true, true) => None,
        (true, false) => Some(format!(
            "JSON that is not one object per line (convert it with jq -c .{files})"
        )),
        (false, true) => Some(format!(
            "a JSON object without the field `{text_field}` in its first 64 KiB (--text-field names \
             another)"
        )),
        (false, false) => Some(format!(
            "JSON that is not one object per line, without the field `{text_field}` in its first 64 \
             KiB (if another field has the text, name it with --text-field, and convert the file \
             with jq -c .{files})"
        )),
    }
}

/// A description of a Jupyter notebook, and how to convert notebooks: the cells of each become one
/// document.
fn notebook() -> String {
    format!("a Jupyter notebook (convert notebooks with {CONVERT_NOTEBOOKS})")
}

/// Writes a line for each notebook, with its name and the text of its cells.
const CONVERT_NOTEBOOKS: &str = r#"jq -c '{id: input_filename, text: [.cells[].source | if type == "array" then join("") else . end] | join("\n\n")}' FILE... > notebooks.jsonl"#;

/// Whether `bytes` are valid JSON except for a missing end.
fn is_json(bytes: &[u8]) -> bool {
    match serde_json::from_slice::<IgnoredAny>(bytes) {
        Ok(_) => true,
        Err(error) => error.is_eof(),
    }
}

/// The reason to refuse JSON and pages in UTF-16 or UTF-32, which would be read as one document.
fn structured_wide(wide: Wide, prefix: &[u8]) -> Option<String> {
    let mut buffer = String::new();
    let text = charset::decode(prefix, b"", false, &mut buffer).text;
    let begin = text.trim_start();
    let what = match begin.as_bytes().first() {
        Some(b'{' | b'[') => "JSON",
        _ if text.contains('\x0c') => "pages between form feeds",
        _ => return None,
    };
    let name = wide.name();
    Some(format!(
        "{what} in {name} (convert it with iconv -f {name} -t UTF-8)"
    ))
}

fn is_mostly_control(prefix: &[u8]) -> bool {
    // Whether more than one in `share` bytes is such a byte.
    let has_more = |is: fn(u8) -> bool, share: usize| {
        prefix.iter().filter(|byte| is(**byte)).count() * share > prefix.len()
    };
    prefix.len() >= MIN_BYTES
        && has_more(is_control, CONTROL_SHARE)
        && (has_more(|byte| byte == 0, ZERO_SHARE) || has_more(|byte| !byte.is_ascii(), HIGH_SHARE))
}

/// Whether there is a control character that texts do not have.
pub(super) fn has_control(prefix: &[u8]) -> bool {
    prefix.iter().any(|byte| is_control(*byte))
}

fn is_control(byte: u8) -> bool {
    byte.is_ascii_control() && !matches!(byte, b'\t'..=b'\r' | b'\x1b')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(name: &str, prefix: &[u8]) -> String {
        why_unread(Path::new(name), prefix, "text").unwrap_or_default()
    }

    fn utf_16(text: &str) -> Vec<u8> {
        let units = "\u{feff}".encode_utf16().chain(text.encode_utf16());
        units.flat_map(u16::to_le_bytes).collect()
    }

    /// Promise (Deduplication): Binary files and unsupported formats are …
    #[test]
    fn unsupported_files_are_named() {
        let noise: Vec<u8> = (0..1000u32)
            .map(|number| (number.wrapping_mul(2_654_435_761) >> 13) as u8)
            .collect();
        // An old mail, and a page of a manual for a printer.
        for text in ["ab\u{2} cd".repeat(100), "N\u{8}NA\u{8}AME ".repeat(100)] {
            assert_eq!(why("a", text.as_bytes()), "", "{text}");
        }
        let tar = [&[b'a'; 257][..], b"ustar\0"].concat();
        let wat = b"WARC/1.0\r\nWARC-Type: metadata\r\nContent-Type: application/json\r\n\r\n{}";
        let cases: [(&str, &[u8], &str); 31] = [
            ("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0", "Office"),
            ("a.json", b"[]\n", "a JSON array"),
            ("a.css.map", b"{\"version\":3,\"a\":[]}", "the field `text`"),
            (
                "a.map",
                b"{\"version\":3,\"sources\":[\"cut o",
                "the field `text`",
            ),
            ("a.json", b"{}\n", "the field `text`"),
            (
                "a",
                b"{\"names\": [\"text\"], \"a\": {\"text\": 1}}",
                "the field `text`",
            ),
            (
                "a",
                b"{\n \"name\": \"text\"\n}",
                "without the field `text`",
            ),
            (
                "a.ipynb",
                b"{\n \"cells\": [\n  {\"source\": \"text\"}",
                "notebook",
            ),
            (
                "a",
                b"From a Thu Nov 26 13:43:11 2026\nTo: b\n\na\n\nFrom b 13:44\nTo: a\n\nb",
                "mailbox",
            ),
            ("a", b"ORC\n\x03\0\0", "ORC"),
            ("a", b"RIFF\x24\x08\0\0WAVE", "RIFF"),
            ("a", b"id,text\n1,\"a, b\"\n", "mlr --icsv --ojsonl"),
            ("a", b"\"id\"\t\"text\"\r\n1\ta\n", "mlr --itsv --ojsonl"),
            (
                "a",
                b"[\"one text\",\n \"another\"]\n",
                "a JSON array, not JSON Lines",
            ),
            ("a", b"[\"one text\", \"cut of", "jq -c '.[] | {text: .}'"),
            ("a", b"[[1, 2], [3]]", "a JSON array"),
            ("a", b"[{\"text\": broken", "a JSON array"),
            ("a", b"{\n \"text\": 1\n}", "jq -c . FILE"),
            ("a.txt", b"\x89PNG\r\n\x1a\n...", "PNG"),
            ("a", b"%PDF-1.7", "PDF"),
            ("a", b"PK\x03\x04", "ZIP"),
            ("a", b"SQLite format 3\0", "SQLite"),
            ("a", &tar, "tar"),
            ("a", &noise, "binary"),
            ("a.CSV.gz", b"id,text\n", "mlr --icsv --ojsonl"),
            ("a.tsv", b"id\ttext\n1\ta, b, c\n", "mlr --itsv --ojsonl"),
            ("a.csv", b"id;text\n1;a, b, c\n", "mlr --icsv --ifs ';'"),
            ("a", b" [\n {\"text\": 1}]", "jq -c '.[]'"),
            ("a", b"{\n \"text\": 1\n}", "jq"),
            ("a.warc.wat.gz", wat, "WET"),
            ("a", &utf_16("{\"text\": 1}\n"), "iconv"),
        ];
        for (name, prefix, word) in cases {
            assert!(
                why(name, prefix).contains(word),
                "{name} {}",
                why(name, prefix)
            );
        }
        assert!(why("a", &utf_16("a\nb\x0cc\nd")).contains("form feeds"));
        let wide: Vec<u8> = "[{\"text\": \"汉字\"}]"
            .chars()
            .flat_map(|character| u32::from(character).to_be_bytes())
            .collect();
        assert!(
            why("a", &wide).contains("iconv -f UTF-32BE"),
            "{}",
            why("a", &wide)
        );
        assert!(why("a", b"\x1b$)C\x0e0!\x0f").contains("ISO-2022-KR"));
    }

    #[test]
    fn texts_are_read() {
        let response =
            b"WARC/1.0\r\nWARC-Type: metadata\r\nContent-Type: application/json\r\n\r\n{}\
            \r\n\r\nWARC/1.0\r\nWARC-Type: response\r\n";
        let cases: [(&str, &[u8]); 23] = [
            ("a", b"ORC tales\nof two kinds"),
            ("a", b"RIFF"),
            ("a", b"ID3 is how tags of sounds begin"),
            ("a", b"GIF89a is a format"),
            ("a", b"text\nof two, or three lines"),
            ("a", b"id,text"),
            ("a", b"id,body\n1,a\n"),
            ("a", b"A title, text\nand more\n"),
            ("a", b"[\"Yes\", she said.]"),
            ("a", b"[[a link]] of a wiki"),
            ("a", b""),
            ("a", b"\0"),
            ("a.csvx", b"id,text\n"),
            ("a", b"{\"text\": 1}\n{\"text\": 2}"),
            ("a", b"{ x }"),
            ("a", b"[1] Smith, J.: A text."),
            ("a", b"page\n\0 one NUL in a text of some length is no reason to leave it out\x0cb\n"),
            ("a", b"\x1b[1mcolours\x1b[0m of a terminal, tabs\tand\rreturns, of which there are a few"),
            ("a", "größer 近重复文本检测".as_bytes()),
            ("a", &utf_16("plain text")),
            ("a", &utf_16("近重复文本检测的目标是找出内容几乎相同的页面，然后只保留其中的一个。")[2..]),
            ("a", b"\xff\xfe\0\0a\0\0\0b\0\0\0"),
            ("a.warc", response),
        ];
        for (name, prefix) in cases {
            assert_eq!(why_unread(Path::new(name), prefix, "text"), None, "{name}");
        }
    }
}
