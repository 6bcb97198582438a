//! What one thread works alone, so that more threads cannot shorten it: no stage has a large share.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// The number of documents, of about 1 kB each.
const DOCUMENTS: u64 = 12_000;
/// Of as many runs, the smallest share counts: other processes can only increase it.
const RUNS: usize = 3;
/// The most that a stage may have of the processor time of the run, in thousandths. With optimised
/// programs and large inputs, it is 20 in all stages but one (docs/measurements/performance.md); here, one reader of the small file, lists and
/// starting count.
const MOST: u64 = 100;
/// More than there are processors: then a thread that works alone differs from threads that get unequal
/// parts of the processors.
const THREADS: usize = 8;

/// Documents of which every third is an earlier one with another word.
fn documents() -> String {
    let mut state = 1u64;
    let mut random = move |below: u64| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    let (mut texts, mut lines): (Vec<String>, _) = (Vec::new(), String::new());
    for number in 0..DOCUMENTS {
        let mut text = String::new();
        if number % 3 == 2 {
            text = texts[random(texts.len() as u64) as usize].clone();
            text.push_str(" edited");
        } else {
            for word in 0..160 {
                // Frequent words and rare ones.
                let most = 1 << random(15);
                let rank = random(most);
                let end = if word % 12 == 11 { '\n' } else { ' ' };
                write!(text, "w{rank:x}{end}").unwrap();
            }
        }
        let line = json!({"id": format!("d{number}"), "text": text});
        writeln!(lines, "{line}").unwrap();
        texts.push(text);
    }
    lines
}

/// By stage, the thousandths of the processor time of a run that one thread worked alone there.
fn shares(timings: &Value) -> BTreeMap<String, u64> {
    let stages = timings["stages"].as_array().unwrap();
    let seconds = |stage: &Value, name: &str| stage[name].as_f64().unwrap();
    let all: f64 = stages
        .iter()
        .map(|stage| seconds(stage, "processor_seconds"))
        .sum();
    let share = |stage: &Value| {
        let alone = 1000.0 * seconds(stage, "one_thread_seconds") / all;
        (stage["stage"].as_str().unwrap().to_owned(), alone as u64)
    };
    stages.iter().map(share).collect()
}

#[test]
fn no_stage_is_the_work_of_one_thread() {
    let sandbox = Sandbox::new();
    let all = documents();
    sandbox.write("in.jsonl", &all);
    let items: Vec<&str> = all.lines().step_by(100).collect();
    sandbox.write("items.jsonl", items.join("\n"));
    let mut wrong = Vec::new();
    for command in [
        "dedup in.jsonl --write kept",
        "lines in.jsonl --unit line --action cut",
        "spans in.jsonl --action cut",
        "decontaminate in.jsonl --reference items.jsonl --action cut",
    ] {
        let mut least: BTreeMap<String, u64> = BTreeMap::new();
        for _ in 0..RUNS {
            sandbox
                .run(&format!(
                    "{command} -o out --threads {THREADS} --restart --no-page"
                ))
                .success();
            let timings = serde_json::from_str(&sandbox.read("out/timings.json")).unwrap();
            for (stage, share) in shares(&timings) {
                let known = least.entry(stage).or_insert(share);
                *known = share.min(*known);
            }
        }
        println!("{command}: {least:?}");
        let name = command.split(' ').next().unwrap();
        for (stage, share) in least {
            if share > MOST {
                wrong.push(format!("{name}: {stage} {share}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
