//! `html_text PART ROUNDS FILE...`: extracts the text of HTML files ROUNDS times, and prints each file
//! as a line of JSON: its name and its text. With ROUNDS 0, it only reads the files.
//!
//! `lab/main-text` uses it to measure the quality and the speed of extractors.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::process::ExitCode;

use serde_json::json;
use simtool::corpus::HtmlText;
use simtool::corpus::web::html;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [part, rounds, files @ ..] = &*arguments else {
        eprintln!("usage: html_text PART ROUNDS FILE...");
        return ExitCode::from(2);
    };
    let part: HtmlText = serde_json::from_value(json!(part)).expect("a part of a page");
    let rounds: usize = rounds.parse().expect("a number of rounds");
    let pages = files.iter().map(|file| {
        let page = std::fs::read(file).expect("a readable file");
        (file, String::from_utf8_lossy(&page).into_owned())
    });
    let pages: Vec<(&String, String)> = pages.collect();
    let mut text = Vec::new();
    for round in 1..=rounds {
        for (file, page) in &pages {
            text.clear();
            html::text(page, part, &mut text);
            if round == rounds {
                println!("{}", json!([file, String::from_utf8_lossy(&text)]));
            }
        }
    }
    ExitCode::SUCCESS
}
