//! The flags of `simtool dedup` that find and verify candidates.

use clap::Args;
use simtool::jobs::dedup::{DEFAULT_METHOD, DEFAULT_THOUSANDTHS, spec_for_verification};
use simtool::sketch::registry::Spec;
use simtool::text::Choice;
use simtool::{Error, ErrorKind, Result};

use super::effect::no_effect;
use super::{number, values};

/// How candidates are found and verified.
#[derive(Args, Clone, Debug)]
pub struct MethodArgs {
    /// How candidates are found: NAME or NAME:parameter=value,...; simtool methods lists them
    /// [default: simhash, or that of the index]
    #[arg(
        long, value_name = "METHOD", value_parser = values::method(),
        hide_possible_values = true, help_heading = "Method"
    )]
    pub method: Option<String>,

    /// Least similarity of duplicates: the share of shingles in common, |A ∩ B| / |A ∪ B|
    /// [default: 0.8]
    #[arg(
        long, value_name = "SHARE", value_parser = thousandths, help_heading = "Method"
    )]
    pub similarity: Option<u32>,

    /// Words in the shingles that are compared [default: 5, or 9 characters]
    #[arg(
        long, value_name = "WORDS", value_parser = number::within(1, 100),
        help_heading = "Method"
    )]
    pub shingle: Option<usize>,

    /// Bits of a SimHash fingerprint: 32, 64, 128 or 256 [default: 64]
    #[arg(
        long, value_name = "BITS", value_parser = values::bits(), hide_possible_values = true,
        help_heading = "Method"
    )]
    pub bits: Option<String>,

    /// Largest Hamming distance of candidates [default: 6]
    #[arg(long, value_name = "K", help_heading = "Method")]
    pub distance: Option<String>,

    /// Words in a feature of a SimHash [default: 1]
    #[arg(long, value_name = "WORDS", help_heading = "Method")]
    pub features: Option<String>,

    /// Weight of a feature of a SimHash: tf, log-tf, tf-idf, once, or top:N, which counts only the
    /// N most frequent ones of all documents [default: tf]
    #[arg(
        long, value_name = "WEIGHTS", value_parser = values::weights(),
        hide_possible_values = true, help_heading = "Method"
    )]
    pub weights: Option<String>,

    /// Count the common words of nine languages, which are left out otherwise; then a distance of 3
    /// is enough for a SimHash
    #[arg(long, help_heading = "Method")]
    pub keep_stop_words: bool,

    /// Share of the pairs of the given similarity that MinHash has to propose [default: 0.95]
    #[arg(long, value_name = "SHARE", help_heading = "Method")]
    pub recall: Option<String>,
}

impl MethodArgs {
    /// The requested method, with the parameters of flags besides --method.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for an unknown method, parameter or value, and for flags of another
    /// method.
    pub fn spec(&self, tokenizer: Choice) -> Result<Spec> {
        let method = self.method.as_deref().unwrap_or(DEFAULT_METHOD);
        let text = self.with_shorthands(method)?;
        let name = Spec::parse(method)?.name();
        let of_texts = [
            ("--similarity", self.similarity.is_some()),
            ("--shingle", self.shingle.is_some()),
        ];
        let given = of_texts.iter().find(|(_, is_given)| *is_given);
        if let Some((flag, _)) = given {
            check_verification(flag, &name)?;
        }
        spec_for_verification(&text, self.similarity(), self.verified_shingle(tokenizer))
    }

    /// `method` with the parameters of flags.
    fn with_shorthands(&self, method: &str) -> Result<String> {
        let name = Spec::parse(method)?.name();
        let mut text = method.to_owned();
        for (flag, parameter, value) in self.shorthands() {
            check_parameter(&name, flag, &parameter)?;
            add(&mut text, &parameter, &value);
        }
        Ok(text)
    }

    /// The method that an index with the method `frozen` must have; `None` if no flag sets one.
    ///
    /// # Errors
    /// Those of [`spec`](Self::spec); [`ErrorKind::Parameter`] for `--shingle` with `against_only`, as
    /// an index stores no texts.
    #[cfg(feature = "index")]
    pub fn wanted(&self, frozen: &Spec, against_only: bool) -> Result<Option<Spec>> {
        if self.shingle.is_some() && against_only {
            let message = "--shingle: an index stores no texts to compare, but signatures of shingles \
                           of a fixed length (leave the flag out)";
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        if let Some(method) = &self.method {
            return Spec::parse(&self.with_shorthands(method)?).map(Some);
        }
        let mut wanted = None;
        for (flag, parameter, value) in self.shorthands() {
            check_parameter(&frozen.name(), flag, &parameter)?;
            wanted = Some(wanted.as_ref().unwrap_or(frozen).with(&parameter, &value)?);
        }
        Ok(wanted)
    }

    /// The least similarity of duplicates, in thousandths.
    pub fn similarity(&self) -> u32 {
        self.similarity.unwrap_or(DEFAULT_THOUSANDTHS)
    }

    /// Words in the shingles that are compared.
    pub fn verified_shingle(&self, tokenizer: Choice) -> usize {
        self.shingle.unwrap_or_else(|| tokenizer.usual_width())
    }

    /// Flags that set parameters of the method: flag, parameter, value.
    fn shorthands(&self) -> Vec<(&'static str, String, String)> {
        let given = |flag, parameter: &str, value: &Option<String>| {
            let value = value.clone()?;
            Some((flag, parameter.to_owned(), value))
        };
        let mut all: Vec<_> = [
            given("--bits", "bits", &self.bits),
            given("--distance", "distance", &self.distance),
            given("--features", "features", &self.features),
            given("--recall", "recall", &self.recall),
        ]
        .into_iter()
        .flatten()
        .collect();
        if let Some(weights) = &self.weights {
            let (name, top) = weights.split_once(':').unwrap_or((weights, ""));
            all.push(("--weights", "weights".into(), name.into()));
            if !top.is_empty() {
                all.push(("--weights", "top".into(), top.into()));
            }
        }
        if self.keep_stop_words {
            all.push(("--keep-stop-words", "stop-words".into(), "keep".into()));
        }
        all
    }
}

/// Appends a parameter to a method's specification.
fn add(text: &mut String, parameter: &str, value: &str) {
    text.push(if text.contains(':') { ',' } else { ':' });
    *text += &format!("{parameter}={value}");
}

/// Refuses a flag of verification if the method `name` compares for equality alone.
///
/// # Errors
/// [`ErrorKind::Parameter`], naming the flag and the method.
pub fn check_verification(flag: &str, name: &str) -> Result<()> {
    match name {
        "exact" | "normalized" => Err(no_effect(flag, name, "it drops equal documents only")),
        _ => Ok(()),
    }
}

/// Fails if the method `name` has no such parameter.
fn check_parameter(name: &str, flag: &str, parameter: &str) -> Result<()> {
    let known = Spec::parse(name)?.list();
    let known: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
    if known.contains(&parameter) {
        return Ok(());
    }
    let message = match known.as_slice() {
        [] => format!("{flag} has no effect with --method {name} (it has no parameters)"),
        known => format!(
            "{flag} has no effect with --method {name} (it takes: {})",
            known.join(", ")
        ),
    };
    Err(Error::new(ErrorKind::Parameter, message))
}

/// Thousandths as a decimal number.
/// Parses the value of --tokenizer; the message is for clap.
pub fn tokenizer(text: &str) -> std::result::Result<Choice, String> {
    text.parse().map_err(|error: Error| error.to_string())
}

/// Parses the value of --similarity; the message is for clap.
pub fn thousandths(text: &str) -> std::result::Result<u32, String> {
    let expected = "expected a share from 0.001 to 1 with at most three decimals";
    let share: f64 = text.parse().map_err(|_| expected.to_owned())?;
    let thousandths = (share * 1000.0).round();
    let exact = (thousandths - share * 1000.0).abs() < 1e-9;
    match exact && (1.0..=1000.0).contains(&thousandths) {
        true => Ok(thousandths as u32),
        false => Err(expected.to_owned()),
    }
}

/// Parses the value of --similarity of an index; the message is for clap.
#[cfg(feature = "index")]
pub fn similarity(text: &str) -> std::result::Result<u16, String> {
    thousandths(text).map(|thousandths| thousandths as u16)
}

/// Parses the value of --recall; the message is for clap.
pub fn recall(text: &str) -> std::result::Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.01..=0.9999).contains(&share) => Ok(share),
        _ => Err("expected a share from 0.01 to 0.9999".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_exact() {
        assert_eq!(thousandths("0.8"), Ok(800));
        assert_eq!(thousandths("1"), Ok(1000));
        assert_eq!(thousandths("0.001"), Ok(1));
        for refused in ["0", "1.001", "0.0005", "x", "nan", "-0.5"] {
            assert!(thousandths(refused).is_err(), "{refused}");
        }
    }

    fn args(line: &str) -> MethodArgs {
        #[derive(clap::Parser)]
        struct Alone {
            #[command(flatten)]
            method: MethodArgs,
        }
        let words = std::iter::once("x").chain(line.split_ascii_whitespace());
        <Alone as clap::Parser>::try_parse_from(words)
            .map(|alone| alone.method)
            .unwrap()
    }

    #[test]
    fn flags_set_parameters() {
        let spec = |line| args(line).spec(Choice::Auto).map(|spec| spec.to_string());
        let same =
            |line, text| assert_eq!(spec(line).unwrap(), Spec::parse(text).unwrap().to_string());
        same("", "simhash");
        same("--bits 128 --distance 12", "simhash:bits=128,distance=12");
        same(
            "--weights top:50 --keep-stop-words",
            "simhash:weights=top,top=50,stop-words=keep",
        );
        same(
            "--method simhash:bits=128 --distance 3",
            "simhash:bits=128,distance=3",
        );
        same(
            "--method minhash --similarity 0.7 --shingle 3 --recall 0.9",
            "minhash:similarity=0.7,shingle=3,recall=0.9",
        );
        same("--method minhash:similarity=0.5", "minhash:similarity=0.5");
        let message = |line| spec(line).unwrap_err().to_string();
        assert_eq!(
            message("--method minhash --bits 64"),
            "--bits has no effect with --method minhash (it takes: similarity, recall, shingle)"
        );
        assert_eq!(
            message("--method normalized --recall 0.9"),
            "--recall has no effect with --method normalized (it takes: digest)"
        );
        assert_eq!(
            message("--method exact --similarity 0.5"),
            "--similarity has no effect with --method exact: it drops equal documents only"
        );
        assert_eq!(
            message("--method normalized --shingle 3"),
            "--shingle has no effect with --method normalized: it drops equal documents only"
        );
        assert!(message("--method simhash:bits=64 --bits 128").ends_with("bits is set twice"));
        assert!(message("--distance 65").ends_with("distance \"65\": expected 0 to 64"));
        assert!(message("--weights idf").contains("weights \"idf\": expected tf"));
    }
}
