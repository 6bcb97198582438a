//! Inputs and directories that are not what the flags say.

use crate::sandbox::{OLD, Sandbox};

const GZIP: &[u8] =
    b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00";
const PDF: &[u8] = b"%PDF-1.4\n{\"text\": \"no\"}\nWARC of nothing\n";

/// Promise (Deduplication): Binary files and unsupported formats are …
#[test]
fn the_plain_form_refuses_what_is_not_text() {
    let sandbox = Sandbox::example();
    sandbox.write("result.txt", OLD);
    let files: [(&str, &[u8], &str); 4] = [
        ("a.gz", GZIP, "compressed with gzip"),
        ("a.zst", b"\x28\xb5\x2f\xfd\x00", "compressed with zstd"),
        ("a.parquet", b"PAR1\x15\0..PAR1", "a Parquet file"),
        ("a.pdf", PDF, "a PDF document"),
    ];
    for (name, bytes, what) in files {
        sandbox.write(name, bytes);
        for flag in ["--articles", "--samples"] {
            sandbox.refuse(
                &format!("100 16 {flag} {name}"),
                &[name, what, "plain text"],
            );
        }
    }
}

#[test]
fn a_directory_that_cannot_hold_temporary_files_is_refused_before_anything_is_read() {
    let sandbox = Sandbox::example();
    sandbox.write("a.jsonl", "{\"text\": \"one two three\"}\n");
    sandbox.write("file", "");
    for directory in ["nowhere", "file"] {
        let expected = [directory, "cannot hold temporary files", "--temp-dir"];
        for line in [
            "100 16",
            "dedup a.jsonl -o out",
            "dedup a.jsonl -o out --dry-run",
        ] {
            sandbox.refuse(&format!("{line} --temp-dir {directory}"), &expected);
        }
    }
}

/// Promise (Deduplication): Binary files and unsupported formats are …
#[test]
fn a_binary_file_is_of_no_text_format_whatever_the_flag_says() {
    let sandbox = Sandbox::new();
    sandbox.write("a.pdf", PDF);
    sandbox.write("a.parquet", b"PAR1{\"text\": \"no\"}\nWARC/1.0 PAR1");
    for format in ["form-feed", "html", "jsonl", "arc", "warc"] {
        let not = format!("and not of the format {format}");
        let pdf = ["a.pdf", "is a PDF document", &not];
        sandbox.refuse(&format!("dedup a.pdf -o out --format {format}"), &pdf);
        if format != "warc" {
            let parquet = ["a.parquet", &not];
            sandbox.refuse(
                &format!("dedup a.parquet -o out --format {format}"),
                &parquet,
            );
        }
    }
}

#[test]
fn a_text_field_of_another_type_is_told_before_the_run() {
    let sandbox = Sandbox::new();
    let line = "{\"id\": \"a\", \"text\": [\"one\", \"two\"]}\n";
    sandbox.write("a.jsonl", line.repeat(300));
    let stderr = sandbox.stderr("dedup a.jsonl -o out --dry-run");
    assert!(stderr.contains("has text in --text-field text"), "{stderr}");
}
