//! The flags of `simtool dedup` that find and verify candidates.

use clap::Args;
use simtool::jobs::dedup::{
    CONTAINMENT_METHOD, DEFAULT_METHOD, DEFAULT_THOUSANDTHS, EXACT, URL, UrlRule, Verification,
    spec_for_verification,
};
use simtool::sketch::registry::Spec;
use simtool::text::{Choice, LeastSimilarity};
use simtool::{Error, ErrorKind, Result};

use crate::cli::values::effect::no_effect;
use crate::cli::values::{self, number};

/// How candidates are found and verified.
#[derive(Args, Clone, Debug)]
pub struct MethodArgs {
    /// How candidates are found: NAME or NAME:parameter=value,...; simtool methods lists them. Or
    /// url, by which the newest document of each URL stays, alone or before another one: 'url then
    /// minhash' [default: minhash, or that of the index; shingles with containment]
    #[arg(
        long, value_name = "METHOD", value_parser = values::method(),
        hide_possible_values = true, help_heading = "Method"
    )]
    pub method: Option<String>,

    /// Least similarity of duplicates: the share of shingles in common, |A ∩ B| / |A ∪ B|, or with
    /// containment:SHARE, the share of the shingles of the dropped document that the kept one has,
    /// |A ∩ B| / |B|. The document with more shingles is kept then; --keep decides among those with
    /// equally many [default: 0.8]
    #[arg(
        long, value_name = "SHARE", value_parser = least_similarity, help_heading = "Method"
    )]
    pub similarity: Option<LeastSimilarity>,

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

    /// Share of the pairs of the given similarity that MinHash has to propose [default: 0.99]
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
        if self.url_rule() == UrlRule::Only {
            self.refuse_texts()?;
            return Spec::parse(EXACT);
        }
        let by_default = match self.similarity().is_containment() {
            true => CONTAINMENT_METHOD,
            false => DEFAULT_METHOD,
        };
        let method = self.without_url()?.unwrap_or(by_default);
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
        spec_for_verification(&text, self.verification(tokenizer))
    }

    /// How URLs decide.
    pub fn url_rule(&self) -> UrlRule {
        let method = self.method.as_deref().unwrap_or_default();
        match (method.trim() == URL, after_url(method)) {
            (true, _) => UrlRule::Only,
            (_, Some(_)) => UrlRule::First,
            (_, None) => UrlRule::Ignored,
        }
    }

    /// The requested method, without the rule of URLs before it.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] if the rule stands anywhere else, or before nothing.
    fn without_url(&self) -> Result<Option<&str>> {
        let Some(given) = self.method.as_deref() else {
            return Ok(None);
        };
        let behind = after_url(given);
        let method = behind.unwrap_or(given);
        let mut words = method.split_whitespace();
        match behind.is_some_and(str::is_empty) || words.any(|word| word == URL) {
            true => Err(Error::new(
                ErrorKind::Parameter,
                format!(
                    "method {given:?}: {URL} stands alone, or before then and a method: \
                     '{URL} then minhash'"
                ),
            )),
            false => Ok(Some(method)),
        }
    }

    /// Refuses flags about texts, which are not compared.
    fn refuse_texts(&self) -> Result<()> {
        let of_texts = [
            ("--similarity", self.similarity.is_some()),
            ("--shingle", self.shingle.is_some()),
        ];
        let of_texts = of_texts.into_iter().filter(|(_, is_given)| *is_given);
        let of_texts = of_texts.map(|(flag, _)| flag);
        let mut given = of_texts.chain(self.shorthands().into_iter().map(|(flag, ..)| flag));
        match given.next() {
            Some(flag) => Err(no_effect(flag, URL, "it compares no texts")),
            None => Ok(()),
        }
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

    /// The method that an index with the method `frozen` and the words of `tokenizer` must have; `None`
    /// if no flag sets one.
    ///
    /// # Errors
    /// Errors of [`spec`](Self::spec); [`ErrorKind::Parameter`] for `--shingle` with `against_only`, as
    /// an index stores no texts.
    #[cfg(feature = "index")]
    pub fn wanted(
        &self,
        frozen: &Spec,
        tokenizer: Choice,
        against_only: bool,
    ) -> Result<Option<Spec>> {
        if self.shingle.is_some() && against_only {
            let message = "--shingle: an index stores no texts to compare, but shingles of a fixed \
                           length (leave the flag out)";
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        if let Some(method) = &self.method {
            let method = self.with_shorthands(method)?;
            let spec = |similarity| {
                simtool::jobs::seen::spec_of_new_index(Some(&method), tokenizer, similarity)
            };
            let similarity = self.similarity.map(|least| least.thousandths as u16);
            // A similarity may be that of this command alone.
            let usual = spec(None)?;
            return match usual.to_string() == frozen.to_string() {
                true => Ok(Some(usual)),
                false => spec(similarity).map(Some),
            };
        }
        let mut wanted = None;
        for (flag, parameter, value) in self.shorthands() {
            check_parameter(&frozen.name(), flag, &parameter)?;
            wanted = Some(wanted.as_ref().unwrap_or(frozen).with(&parameter, &value)?);
        }
        Ok(wanted)
    }

    /// The least similarity of duplicates.
    pub fn similarity(&self) -> LeastSimilarity {
        let by_default = LeastSimilarity::resemblance(DEFAULT_THOUSANDTHS);
        self.similarity.unwrap_or(by_default)
    }

    /// How candidates are verified, by the words of `tokenizer`.
    pub fn verification(&self, tokenizer: Choice) -> Verification {
        Verification {
            shingle: self.shingle.unwrap_or_else(|| tokenizer.usual_width()),
            least: self.similarity(),
        }
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

/// The method after `url then`.
fn after_url(method: &str) -> Option<&str> {
    let rest = method.trim_start().strip_prefix(URL)?;
    let method = rest.trim_start().strip_prefix("then")?;
    let is_separated = |rest: &str| rest.is_empty() || rest.starts_with(char::is_whitespace);
    (is_separated(method) && rest.starts_with(char::is_whitespace)).then(|| method.trim_start())
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
    let takes = |name: &str| -> Result<Vec<String>> {
        let list = Spec::parse(name)?.list();
        Ok(list.into_iter().map(|(name, _)| name).collect())
    };
    let has = |known: &[String]| known.iter().any(|name| name == parameter);
    let known = takes(name)?;
    if has(&known) {
        return Ok(());
    }
    let mut message = format!("{flag} has no effect with --method {name} (it ");
    message += &match known.as_slice() {
        [] => "has no parameters".to_owned(),
        known => format!("takes: {}", known.join(", ")),
    };
    // Most flags of methods are for fingerprints.
    if has(&takes("simhash")?) {
        message += "; for fingerprints, add --method simhash";
    }
    Err(Error::new(ErrorKind::Parameter, message + ")"))
}

/// Parses the value of --tokenizer; the message is for clap.
pub fn tokenizer(text: &str) -> std::result::Result<Choice, String> {
    text.parse().map_err(|error: Error| error.to_string())
}

/// Parses a share in thousandths; the message is for clap.
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

/// Parses the value of --similarity, a share or `containment:` and a share; the message is for clap.
pub fn least_similarity(text: &str) -> std::result::Result<LeastSimilarity, String> {
    match text.strip_prefix("containment:") {
        Some(share) => thousandths(share).map(LeastSimilarity::containment),
        None => thousandths(text).map(LeastSimilarity::resemblance),
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

    #[test]
    fn similarities_are_shares_of_either_kind() {
        let parsed = |text| least_similarity(text).map(|least| least.to_string());
        for text in ["containment:0.95", "1", "0.001", "containment:1"] {
            assert_eq!(parsed(text), Ok(text.to_owned()));
        }
        for refused in ["containment:", "containment:2", "jaccard:0.5", "0"] {
            assert!(parsed(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn urls_come_alone_or_first() {
        let read = |text: &str| {
            let args = MethodArgs {
                method: Some(text.to_owned()),
                ..args("")
            };
            let spec = args.spec(Choice::Auto).map_err(|error| error.to_string());
            (args.url_rule(), spec.map(|spec| spec.name()))
        };
        let name = |name: &str| Ok(name.to_owned());
        assert_eq!(read(" url "), (UrlRule::Only, name("exact")));
        assert_eq!(read("minhash"), (UrlRule::Ignored, name("minhash")));
        for (text, rest) in [
            ("url then simhash", "simhash"),
            ("url\tthen  minhash:recall=0.9", "minhash"),
            ("url then minhash or simhash", "minhash or simhash"),
        ] {
            assert_eq!(read(text), (UrlRule::First, name(rest)), "{text}");
        }
        for text in [
            "url then",
            "url then url",
            "url and simhash",
            "url thensimhash",
        ] {
            let message = read(text).1.unwrap_err();
            assert!(message.contains("url stands alone"), "{text}");
        }
        let message = read("urlthen simhash").1.unwrap_err();
        assert!(message.contains("expected one of"), "{message}");
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

    /// Promise (Deduplication): An option that the method ignores …
    #[test]
    fn flags_set_parameters() {
        let spec = |line| args(line).spec(Choice::Auto).map(|spec| spec.to_string());
        let same =
            |line, text| assert_eq!(spec(line).unwrap(), Spec::parse(text).unwrap().to_string());
        same("", "minhash");
        same(
            "--method simhash --bits 128 --distance 12",
            "simhash:bits=128,distance=12",
        );
        same(
            "--method simhash --weights top:50 --keep-stop-words",
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
        same(
            "--similarity containment:0.95 --shingle 4",
            "shingles:measure=containment,similarity=0.95,shingle=4",
        );
        same(
            "--similarity containment:0.5 --method shingles:similarity=0.25",
            "shingles:measure=containment,similarity=0.25,shingle=5",
        );
        let message = |line| spec(line).unwrap_err().to_string();
        assert_eq!(
            message("--method minhash --bits 64"),
            "--bits has no effect with --method minhash (it takes: similarity, recall, shingle; for \
             fingerprints, add --method simhash)"
        );
        assert_eq!(message("--bits 64"), message("--method minhash --bits 64"));
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
        assert!(
            message("--method simhash --distance 65")
                .ends_with("distance \"65\": expected 0 to 64")
        );
        assert!(message("--method simhash --weights idf").contains("weights \"idf\": expected tf"));
    }
}
