//! Refusal of unknown command names, with a suggestion.

use simtool::{Error, ErrorKind};

/// Commands that some builds lack, and the feature that they need.
const OPTIONAL: [(&str, &str); 2] = [("index", "index"), ("serve", "serve")];
/// Words that are commands of other tools, and the flags that correspond to them.
const FLAGS: [(&str, &str); 1] = [("version", "--version")];
/// The least similarity of a name that is suggested.
const MIN_SIMILARITY: f64 = 0.8;

/// The error for `word` if it is not among the command `names`; `None` if it is, or does not begin
/// with a letter, as numbers and flags of the plain form (`simtool N M`).
pub fn refusal(word: &str, names: &[&str]) -> Option<Error> {
    let is_word = word.starts_with(char::is_alphabetic);
    if !is_word || names.contains(&word) {
        return None;
    }
    let of = |list: &[(&str, &'static str)]| {
        let found = list.iter().find(|(name, _)| *name == word);
        found.map(|(_, other)| *other)
    };
    let message = match (of(&OPTIONAL), of(&FLAGS), similar(word, names)) {
        (Some(feature), ..) => format!(
            "this build has no command {word} (build it with the feature {feature}, which is on \
             by default)"
        ),
        (_, Some(flag), _) => format!("there is no command {word}: did you mean simtool {flag}?"),
        (.., Some(name)) => format!("there is no command {word}: did you mean {name}?"),
        _ => format!(
            "there is no command {word}: expected N and M, or {}",
            names.join(", ")
        ),
    };
    Some(Error::new(ErrorKind::Parameter, message))
}

/// The most similar name.
fn similar<'a>(word: &str, names: &[&'a str]) -> Option<&'a str> {
    let likeness = |name: &str| strsim::jaro_winkler(word, name);
    let best = names
        .iter()
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(best) >= MIN_SIMILARITY).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_is_answered_with_a_suggestion() {
        let names = ["dedup", "match", "evaluate", "help"];
        let message = |word| refusal(word, &names).map(|error| error.to_string());
        let expected = |text: &str| Some(text.to_owned());
        assert_eq!(
            message("dedups"),
            expected("there is no command dedups: did you mean dedup?")
        );
        assert_eq!(
            message("version"),
            expected("there is no command version: did you mean simtool --version?")
        );
        assert_eq!(
            message("xyz"),
            expected("there is no command xyz: expected N and M, or dedup, match, evaluate, help")
        );
        assert!(message("serve").is_some_and(|text| text.contains("the feature serve")));
        for fine in ["dedup", "1000", "-5", "--dir", "0x", ""] {
            assert_eq!(message(fine), None, "{fine}");
        }
    }
}
