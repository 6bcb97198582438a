//! The bound of `--memory` holds for any input: the system refuses private memory beyond the bound
//! and an allowance for code, stacks and the allocator.

use std::fs::File;
use std::io::{Read, Write};

use crate::sandbox::{SIMTOOL, Sandbox};

/// Private memory that is mapped without being used: stacks, and what an allocator keeps.
const BESIDES_MIB: usize = 40;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("stopwords.txt", "");
    sandbox.write("hashvalue.txt", "1011\n");
    sandbox
}

/// Runs `simtool 1 4` with two threads within `mib`, and compares the result with `expected`.
fn check(sandbox: &Sandbox, mib: usize, expected: impl Iterator<Item = Vec<u8>>) {
    let limit = (mib + BESIDES_MIB) << 10;
    let line = format!(
        "ulimit -d {limit} && exec {SIMTOOL} 1 4 --threads 2 --memory {mib}M --output result.txt \
         --log none >screen"
    );
    let mut command = sandbox.command("sh");
    command.args(["-c", &line]).assert().success().stderr("");
    let mut result = File::open(sandbox.path("result.txt")).unwrap();
    let mut found = Vec::new();
    for block in expected {
        found.resize(block.len(), 0);
        result.read_exact(&mut found).unwrap();
        assert!(found == block, "another block");
    }
    assert_eq!(result.read(&mut [0]).unwrap(), 0, "more than expected");
}

/// Promise (Bounded memory): The least memory also suffices for any number of hits and for ids of
/// any length: the tests make the system refuse more memory
#[test]
fn many_hits() {
    let sandbox = sandbox();
    let ids = (0..200_000).map(|page| format!("{page:031}"));
    let articles: String = ids.clone().map(|id| id + "\nw\x0c").collect();
    let listed: String = ids.map(|id| id + " ").collect();
    sandbox.write("article.txt", articles);
    let samples: String = (0..24).map(|page| format!("s{page}\nw\x0c")).collect();
    sandbox.write("sample.txt", samples);
    // With 64 MiB, no hits are held in memory. With 128 MiB, hits are held, but not every block.
    for mib in [64, 128] {
        let block = |page| format!("s{page}\n0:{listed}\n").into_bytes();
        check(&sandbox, mib, (0..24).map(block));
    }
}

/// Promise (Bounded memory): The least memory also suffices for …
#[test]
fn long_ids() {
    // A page without line breaks is only an id.
    const PAGE_BYTES: usize = 20 << 20;
    for pages in [1, 4] {
        let sandbox = sandbox();
        let mut articles = File::create(sandbox.path("article.txt")).unwrap();
        let ids: Vec<Vec<u8>> = (0..pages)
            .map(|page| vec![b'a' + page; PAGE_BYTES / usize::from(pages)])
            .collect();
        for id in &ids {
            articles.write_all(id).unwrap();
            articles.write_all(b"\x0c").unwrap();
        }
        sandbox.write("sample.txt", "s\nw\x0ct\x0cu\x0cv\x0cw\x0cx");
        for mib in [64, 100] {
            let block = |sample: &str| {
                let mut block = format!("{sample}\n0:").into_bytes();
                for id in &ids {
                    block.extend_from_slice(id);
                    block.push(b' ');
                }
                block.push(b'\n');
                block
            };
            check(
                &sandbox,
                mib,
                ["s", "t", "u", "v", "w", "x"].map(block).into_iter(),
            );
        }
    }
}

/// Promise (Bounded memory): The least memory also suffices for …
#[test]
fn a_long_id_of_a_sample() {
    let sandbox = sandbox();
    let id = "i".repeat(30 << 20);
    sandbox.write("article.txt", "a\nw");
    sandbox.write("sample.txt", format!("{id}\nw\x0c{id}\nw"));
    let block = || format!("{id}\n0:a \n").into_bytes();
    check(&sandbox, 64, [block(), block()].into_iter());
}

/// Promise (Bounded memory): The least memory suffices for any …
#[test]
fn a_large_vocabulary() {
    let sandbox = sandbox();
    let letters = |number: u32, digits: std::ops::Range<u32>| -> String {
        let letter = |digit| char::from(b'a' + (number / 26_u32.pow(digit) % 26) as u8);
        digits.map(letter).collect()
    };
    // Half of the words have 30 letters, more than the 25 that a term encodes exactly.
    let word = |number: u32| letters(number, 0..5).repeat(1 + number as usize % 2 * 5);
    let pages = (0..2000).map(|page| {
        let words: Vec<String> = (0..300).map(|index| word(page * 300 + index)).collect();
        format!("page {page}\n{}\n\x0c", words.join(" "))
    });
    sandbox.write("article.txt", pages.collect::<String>());
    sandbox.write("sample.txt", "s\naaaaa");
    let summary = sandbox.stderr("1 4 --memory 4G --output plenty.txt --summary=json");
    assert!(summary.contains("\"ranking_passes\":1,"), "{summary}");
    let plenty = sandbox.read("plenty.txt").into_bytes();
    check(&sandbox, 64, std::iter::once(plenty));
}

/// Pages of very many lines and elements.
/// Promise (Deduplication): Every parser accepts any bytes; memory …
#[test]
fn lines_of_pages_are_bounded() {
    const PAGE_BYTES: usize = 8_000_000;
    /// The allowance for the lines of a page.
    const LINES_MIB: usize = 300;
    let sandbox = Sandbox::new();
    let fonts: String = (0..20).map(|size| format!("<font size={size}>")).collect();
    let numbered: String = (0..40).map(|number| format!(" a{number}=1")).collect();
    for (start, unit) in [
        ("<p>text", "<!>"),
        ("<p>text", "x<!---->"),
        ("<p>text", "</p>"),
        (
            &*format!("<p>{fonts}</p>"),
            "<p>x, and a few words that follow it</p>",
        ),
        ("", &*format!("<p{numbered}>x")),
        ("", "<p>x"),
        ("", "<p>"),
    ] {
        let page = start.to_owned() + &unit.repeat(PAGE_BYTES / unit.len());
        sandbox.write("page.html", page);
        let limit = (240 + BESIDES_MIB + LINES_MIB) << 10;
        let _ = std::fs::remove_dir_all(sandbox.path("out"));
        let line = format!(
            "ulimit -d {limit} && exec {SIMTOOL} dedup page.html -o out --memory 240M \
             --threads 1 --quiet"
        );
        let mut command = sandbox.command("sh");
        command.args(["-c", &line]).assert().success().stderr("");
    }
}
