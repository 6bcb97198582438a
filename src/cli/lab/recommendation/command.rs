//! The command with the recommended setting.

use simtool::jobs::dedup::Verification;
use simtool::lab::{Question, Trial};
use simtool::text::Choice;

use super::super::tune_flags::{TuneArgs, question_name};

/// The flags of the recommended setting, with their values.
pub fn flags(best: &Trial, question: Question) -> Vec<(&'static str, String)> {
    let mut flags = Vec::new();
    if best.tokenizer != Choice::default() {
        flags.push(("tokenizer", best.tokenizer.to_string()));
    }
    match (best.verification(), question) {
        (Some(verification), Question::Dedup) => {
            flags.push(("shingle", verification.shingle.to_string()));
            flags.push(("similarity", verification.least.to_string()));
        }
        (Some(Verification { shingle, least }), Question::Index) => {
            let method = format!("minhash:similarity={},shingle={shingle}", least.share());
            flags.push(("method", method));
        }
        _ => flags.push(("method", best.spec.to_string())),
    }
    flags
}

/// The command with the recommended setting, each word as a shell reads it.
pub fn command(best: &Trial, args: &TuneArgs) -> Vec<String> {
    let inputs = args.inputs.iter();
    let inputs: Vec<String> = inputs
        .map(|input| match input.to_string_lossy().into_owned() {
            path if path.starts_with('-') => format!("./{path}"),
            path => path,
        })
        .collect();
    let words = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect();
    let mut all: Vec<String> = words(&["simtool", question_name(args.question)]);
    match args.question {
        Question::Dedup => {
            all.extend(inputs);
            all.extend(words(&["-o", "deduplicated"]) as Vec<String>);
        }
        Question::Match => {
            for flag in ["--articles", "--samples"] {
                all.push(flag.to_owned());
                all.extend(inputs.clone());
            }
        }
        Question::Index => {
            all.extend(words(&["build", "index"]) as Vec<String>);
            all.extend(inputs);
        }
    }
    all.extend(args.reading.given());
    if let (Some(path), Question::Match) = (&args.reading.stop_words, args.question) {
        all.extend([
            "--stop-words".to_owned(),
            path.to_string_lossy().into_owned(),
        ]);
    }
    let flags = flags(best, args.question).into_iter();
    all.extend(flags.flat_map(|(name, value)| [format!("--{name}"), value]));
    all.iter().map(|word| quoted(word)).collect()
}

/// A word of a command line, quoted if a shell would change it.
fn quoted(word: &str) -> String {
    let is_plain =
        |character: char| character.is_alphanumeric() || "-_./:=,@%+".contains(character);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_shell_are_quoted() {
        assert_eq!(
            quoted("shingles:shingle=6,similarity=0.350"),
            "shingles:shingle=6,similarity=0.350"
        );
        assert_eq!(quoted("a b.jsonl"), "'a b.jsonl'");
        assert_eq!(quoted("it's*"), r"'it'\''s*'");
        assert_eq!(quoted(""), "''");
    }
}
