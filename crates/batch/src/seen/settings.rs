//! The settings of an index, stored when it is made: method, tokenizer, which part of an HTML page
//! is its text, stop words, and corpus statistics.
//!
//! They are in a file next to the manifest of the index; `docs/reference/index-format.md` describes its format. The
//! file is named after the hash of its bytes, and the manifest refers to it by that name. So the
//! file cannot be confused with another one, and a process with other settings writes to another
//! file name instead of replacing this file.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::keep_key::keep_fields;
use crate::dedup::{
    DEFAULT_METHOD, DEFAULT_THOUSANDTHS, EXACT, NORMALIZED, Verification, spec_for_verification,
};
use crate::{Error, ErrorKind, Result};
use simtool_core::dedup::keep::KeepOrder;
use simtool_core::kernel::Level;
use simtool_core::sketch::registry::Spec;
use simtool_core::sketch::{SetForm, SignatureSettings, SignedMethod};
use simtool_core::text::{Choice, LeastSimilarity, WordSet};
use simtool_core::vocabulary::Frequencies;
use simtool_corpus::HtmlText;
use simtool_engine::collection::{InputSettings, Inputs};
use simtool_engine::methods::{self, Common};
use simtool_files::{Faults, PagedFile, directory};
use simtool_index::BESIDE;

/// The version of the file's format. Those before it were of unreleased programs.
const VERSION: u32 = 5;
/// The text that precedes the file's name in the manifest.
const MANIFEST_SEPARATOR: &str = "; settings ";

/// The settings that determine the sketches of an index.
#[derive(Clone, Debug)]
pub struct IndexSettings {
    /// The method with its parameters.
    pub spec: Spec,
    /// What a word is.
    pub tokenizer: Choice,
    /// Which part of an HTML page is its text.
    pub html: HtmlText,
    /// The words that methods with stop words leave out.
    pub stop_words: WordSet,
    /// What the sets of shingles at the end of the sketches, or their signatures, verify. `None` if
    /// there are none: the method stores all shingles or compares for equality.
    pub signatures: Option<SignatureSettings>,
    /// Which of several copies is the best. It does not change which one is kept: the first.
    pub keep: KeepOrder,
    frequencies: Vec<Frequencies>,
}

/// Required settings; those that are `None` may have any value.
#[derive(Clone, Debug, Default)]
pub struct ExpectedSettings {
    /// The method.
    pub spec: Option<Spec>,
    /// The tokenizer.
    pub tokenizer: Option<Choice>,
    /// The part of an HTML page that is its text.
    pub html: Option<HtmlText>,
    /// The stop words.
    pub stop_words: Option<WordSet>,
    /// The least similarity of a match in thousandths, in place of the stored one.
    pub similarity: Option<u16>,
    /// Whether similarities have to be [estimates](IndexSettings::estimates).
    pub signatures: bool,
    /// Which copy is the best.
    pub keep: Option<KeepOrder>,
}

/// The first line of the file.
#[derive(Serialize, Deserialize)]
struct Head {
    simtool_settings: u32,
    method: String,
    tokenizer: String,
    html: HtmlText,
    stop_words: u64,
    frequencies: Vec<FrequencyHead>,
    /// The version of the tokenizer's definition of words; the first one was not stored.
    #[serde(default = "first_definition")]
    words: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signatures: Option<SignatureHead>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    keep: Option<String>,
}

fn first_definition() -> u32 {
    1
}

/// Words in a shingle, thousandths of similarity, and whether it is estimated from signatures.
#[derive(Serialize, Deserialize)]
struct SignatureHead {
    shingle: u8,
    similarity: u16,
    estimated: bool,
}

/// The header of a list of document frequencies: the number of documents counted, and the length of
/// the list.
#[derive(Serialize, Deserialize)]
struct FrequencyHead {
    documents: u64,
    features: u64,
}

impl IndexSettings {
    /// Settings without corpus statistics.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] if the method needs corpus statistics; those of
    /// [`check_similarity`].
    pub fn without_collection(
        spec: Spec,
        input_settings: &InputSettings,
        similarity: Option<u16>,
    ) -> Result<IndexSettings> {
        if !spec.required_counts().is_empty() {
            let message = format!(
                "method {}: needs corpus statistics (build the index from documents: `simtool \
                 index build DIR FILES`)",
                spec.name()
            );
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        Self::with(spec, input_settings, similarity, Vec::new())
    }

    /// Settings with corpus statistics of `inputs`, which are counted if the method needs them.
    ///
    /// # Errors
    /// Errors of reading, of temporary files, and of [`check_similarity`].
    pub fn counted(
        spec: Spec,
        inputs: Inputs<'_>,
        similarity: Option<u16>,
    ) -> Result<IndexSettings> {
        let required = spec.required_counts().into_iter();
        let frequencies = required
            .map(|count| inputs.count(count))
            .collect::<Result<_>>()?;
        Self::with(spec, inputs.settings, similarity, frequencies)
    }

    fn with(
        spec: Spec,
        input_settings: &InputSettings,
        similarity: Option<u16>,
        frequencies: Vec<Frequencies>,
    ) -> Result<IndexSettings> {
        check_similarity(&spec, similarity)?;
        Ok(IndexSettings {
            signatures: signatures(&spec, input_settings.tokenizer, similarity),
            spec,
            tokenizer: input_settings.tokenizer,
            html: input_settings.reading.html,
            stop_words: input_settings.stop_words.clone(),
            keep: KeepOrder::default(),
            frequencies,
        })
    }

    /// Builds the method.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for parameters that cannot be combined.
    pub fn method(&self, level: Level) -> Result<SignedMethod> {
        let method = methods::build(&self.spec, self.common(level), &self.frequencies)?;
        Ok(SignedMethod::new(method, self.signatures))
    }

    /// The settings with another least similarity of a match, for one command.
    ///
    /// # Errors
    /// Errors of [`check_similarity`].
    pub fn with_similarity(self, similarity: Option<u16>) -> Result<IndexSettings> {
        check_similarity(&self.spec, similarity)?;
        let signatures = match (similarity, self.signatures) {
            (Some(thousandths), Some(stored)) => Some(SignatureSettings {
                thousandths,
                ..stored
            }),
            (_, stored) => stored,
        };
        Ok(IndexSettings { signatures, ..self })
    }

    /// The settings of an index with signatures of 128 bytes in place of sets of shingles, whose
    /// similarities are estimates.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for a method whose index has no sets.
    pub fn with_signatures(mut self) -> Result<IndexSettings> {
        let Some(signatures) = &mut self.signatures else {
            let message = format!(
                "--signatures has no effect with --method {}: its index stores no sets of shingles \
                 besides its sketches",
                self.spec.name()
            );
            return Err(Error::new(ErrorKind::Parameter, message));
        };
        signatures.form = SetForm::Signature;
        Ok(self)
    }

    /// The settings of an index in which another copy than the first may be the best.
    pub fn with_keep(self, keep: KeepOrder) -> IndexSettings {
        IndexSettings { keep, ..self }
    }

    /// The fields of documents whose values decide which copy is the best.
    pub fn keep_fields(&self) -> Vec<String> {
        keep_fields(&self.keep)
    }

    /// The number of words of a shingle.
    pub(super) fn shingle(&self) -> usize {
        let usual = self.tokenizer.usual_width();
        self.signatures.map_or(usual, |sets| sets.shingle)
    }

    /// Whether similarities of near documents are estimates.
    pub fn estimates(&self) -> bool {
        let form = self.signatures.map(|signatures| signatures.form);
        form == Some(SetForm::Signature)
    }

    /// The least similarity of a match that sets or signatures verify.
    pub fn similarity(&self) -> Option<f64> {
        let thousandths = self.signatures?.thousandths;
        Some(f64::from(thousandths) / 1000.0)
    }

    /// Whether matches are verified: by sets or signatures, or because the method itself is exact.
    pub fn verifies(&self) -> bool {
        self.signatures.is_some() || is_exact(&self.spec)
    }

    /// The settings that all methods of a run share.
    pub fn common(&self, level: Level) -> Common<'_> {
        Common {
            tokenizer: self.tokenizer,
            stop_words: &self.stop_words,
            level,
        }
    }

    /// Fails if `wanted` differs from the stored settings of `index`.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`], naming both values.
    pub fn expect(&self, index: &Path, wanted: &ExpectedSettings) -> Result<()> {
        let method = wanted.spec.as_ref().map(Spec::to_string);
        let tokenizer = wanted.tokenizer.map(|choice| choice.to_string());
        let html = wanted.html.map(|part| format!("{part:?}").to_lowercase());
        let stop_words = wanted.stop_words.as_ref().map(WordSet::to_string);
        let keep = wanted.keep.as_ref().map(KeepOrder::to_string);
        let all = [
            ("method", self.spec.to_string(), method),
            ("tokenizer", self.tokenizer.to_string(), tokenizer),
            ("html", format!("{:?}", self.html).to_lowercase(), html),
            ("stop words", self.stop_words.to_string(), stop_words),
            ("--keep", self.keep.to_string(), keep),
        ];
        for (what, stored, wanted) in all {
            if let Some(wanted) = wanted.filter(|wanted| *wanted != stored) {
                let message = format!(
                    "was made with {what} {stored}, not {wanted} (leave the flag out, or build \
                     another index)"
                );
                return Err(Error::new(ErrorKind::Parameter, message).in_file(index));
            }
        }
        if wanted.signatures && !self.estimates() {
            let message = "stores whole sets of shingles (leave --signatures out, or build another \
                           index)";
            return Err(Error::new(ErrorKind::Parameter, message).in_file(index));
        }
        Ok(())
    }

    /// The text for the manifest of the index.
    ///
    /// # Errors
    /// Errors of serialisation, which are not expected.
    pub fn manifest(&self) -> Result<String> {
        Ok(format!(
            "{self}{MANIFEST_SEPARATOR}{}",
            name_of(&self.encode()?)
        ))
    }

    /// Writes the file to the directory `index`.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] if that fails.
    pub fn write(&self, index: &Path, faults: &Faults) -> Result<()> {
        let bytes = self.encode()?;
        directory::write(&index.join(name_of(&bytes)), &bytes, faults)
    }

    /// Reads the file that `manifest` names in the directory `index`.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] if the manifest names no settings file, as in indexes made through
    /// the library, or if this program does not support a setting; [`ErrorKind::Content`] if the
    /// file is damaged or has another version; [`ErrorKind::Read`] if it is missing.
    pub fn read(index: &Path, manifest: &str) -> Result<IndexSettings> {
        let Some((_, name)) = manifest
            .rsplit_once(MANIFEST_SEPARATOR)
            .filter(|(_, name)| is_name(name))
        else {
            let message = format!(
                "was made through the library, with the description {manifest:?} (open it with \
                 the program that made it)"
            );
            return Err(Error::new(ErrorKind::Parameter, message).in_file(index));
        };
        let path = index.join(name);
        let bytes = PagedFile::read_all(&path)?;
        let damaged = || {
            let message = "is damaged (restore it from a copy of the index)";
            Error::new(ErrorKind::Content, message).in_file(&path)
        };
        if name_of(&bytes) != name {
            return Err(damaged());
        }
        Self::decode(&bytes)
            .map_err(|error| error.in_file(&path))?
            .ok_or_else(damaged)
    }

    fn encode(&self) -> Result<Vec<u8>> {
        let counted = |counts: &Frequencies| FrequencyHead {
            documents: counts.documents(),
            features: counts.features().len() as u64,
        };
        let head = Head {
            simtool_settings: VERSION,
            method: self.spec.to_string(),
            tokenizer: self.tokenizer.to_string(),
            html: self.html,
            stop_words: self.stop_words.len() as u64,
            frequencies: self.frequencies.iter().map(counted).collect(),
            words: self.tokenizer.definition(),
            signatures: self.signatures.map(|signatures| SignatureHead {
                shingle: signatures.shingle as u8,
                similarity: signatures.thousandths,
                estimated: signatures.form == SetForm::Signature,
            }),
            keep: (!self.keep.is_input_order()).then(|| self.keep.to_string()),
        };
        let mut bytes = serde_json::to_vec(&head)
            .map_err(|cause| Error::new(ErrorKind::Parameter, cause.to_string()))?;
        bytes.push(b'\n');
        let hashes = self.stop_words.hashes().iter().copied();
        let counts = self.frequencies.iter().flat_map(Frequencies::iter);
        let counts = counts.flat_map(|(feature, count)| [feature, count]);
        for number in hashes.chain(counts) {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        Ok(bytes)
    }

    /// Parses the settings. `None` if the file is malformed: no valid head, or not of the length
    /// that the head implies.
    ///
    /// # Errors
    /// Errors of another version of the format, and of settings that this program does not support.
    fn decode(bytes: &[u8]) -> Result<Option<IndexSettings>> {
        let Some(end) = memchr::memchr(b'\n', bytes) else {
            return Ok(None);
        };
        let (head, numbers) = (&bytes[..end], &bytes[end + 1..]);
        let Ok(head) = serde_json::from_slice::<Head>(head) else {
            return Ok(None);
        };
        if head.simtool_settings != VERSION {
            let message = format!(
                "has format {}, and this version of simtool reads format {VERSION} (build the index \
                 again, or use the simtool that made it)",
                head.simtool_settings
            );
            return Err(Error::new(ErrorKind::Content, message));
        }
        if head.tokenizer == "chinese" {
            let message = "was made with the tokenizer `chinese`, which simtool has no more (build \
                           the index again, or use the simtool that made it)";
            return Err(Error::new(ErrorKind::Content, message));
        }
        let tokenizer: Choice = head.tokenizer.parse()?;
        if head.words != tokenizer.definition() {
            let message = format!(
                "has words of version {}, and this version of simtool finds words of version {} in \
                 a text (build the index again, or use the simtool that made it)",
                head.words,
                tokenizer.definition()
            );
            return Err(Error::new(ErrorKind::Content, message));
        }
        let spec = Spec::parse(&head.method)?;
        if head.signatures.is_some() == is_exact(&spec) {
            return Ok(None);
        }
        let (numbers, rest) = numbers.as_chunks::<8>();
        let mut numbers = numbers.iter().map(|bytes| u64::from_le_bytes(*bytes));
        let mut claimed = u128::from(head.stop_words);
        let features = head.frequencies.iter().map(|counted| counted.features);
        claimed += features.map(|count| 2 * u128::from(count)).sum::<u128>();
        if claimed != numbers.len() as u128 || !rest.is_empty() {
            return Ok(None);
        }
        let stop_words = WordSet::new(numbers.by_ref().take(head.stop_words as usize));
        let frequencies = head.frequencies.iter().map(|counted| {
            let pairs = (0..counted.features).filter_map(|_| numbers.next().zip(numbers.next()));
            Frequencies::new(counted.documents, pairs.collect::<Vec<_>>())
        });
        let signatures = head.signatures.map(|head| SignatureSettings {
            form: match head.estimated {
                true => SetForm::Signature,
                false => SetForm::Exact,
            },
            shingle: head.shingle.into(),
            thousandths: head.similarity,
        });
        Ok(Some(IndexSettings {
            signatures,
            frequencies: frequencies.collect(),
            spec,
            tokenizer,
            html: head.html,
            stop_words,
            keep: match head.keep {
                Some(order) => KeepOrder::parse(&order)?,
                None => KeepOrder::default(),
            },
        }))
    }
}

impl fmt::Display for IndexSettings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let html = format!("{:?}", self.html).to_lowercase();
        write!(
            out,
            "{}; tokenizer {}; html {html}",
            self.spec, self.tokenizer
        )
    }
}

/// Whether the scores of the method are exact similarities of texts, so that nothing is left to
/// verify.
pub(super) fn is_exact(spec: &Spec) -> bool {
    ["shingles", EXACT, NORMALIZED].contains(&spec.name().as_str())
}

/// The method of a new index: the one that `dedup` takes for the same name, or without one, the same
/// words and the same least similarity, in thousandths.
///
/// # Errors
/// Errors of [`Spec::parse`].
pub fn spec_of_new_index(
    method: Option<&str>,
    tokenizer: Choice,
    similarity: Option<u16>,
) -> Result<Spec> {
    let thousandths = similarity.map_or(DEFAULT_THOUSANDTHS, u32::from);
    let verification = Verification {
        shingle: tokenizer.usual_width(),
        least: LeastSimilarity::resemblance(thousandths),
    };
    spec_for_verification(method.unwrap_or(DEFAULT_METHOD), verification)
}

/// Fails if a similarity is given for a method whose matches are not verified by one.
///
/// # Errors
/// [`ErrorKind::Parameter`], naming the method.
pub fn check_similarity(spec: &Spec, similarity: Option<u16>) -> Result<()> {
    if similarity.is_none() || !is_exact(spec) {
        return Ok(());
    }
    let name = spec.name();
    let why = match name.as_str() {
        "shingles" => "its own parameter decides: --method shingles:similarity=SHARE",
        _ => "it finds equal documents only",
    };
    let message = format!("--similarity has no effect with --method {name}: {why}");
    Err(Error::new(ErrorKind::Parameter, message))
}

/// What verifies in a new index: the shingles that `dedup` compares, or those of MinHash.
fn signatures(
    spec: &Spec,
    tokenizer: Choice,
    similarity: Option<u16>,
) -> Option<SignatureSettings> {
    if is_exact(spec) {
        return None;
    }
    let minhash = match spec.name() == "minhash" {
        true => spec.list(),
        false => Vec::new(),
    };
    let own = |wanted: &str| {
        let mut values = minhash.iter().filter(|(name, _)| name == wanted);
        values.find_map(|(_, value)| value.parse::<f64>().ok())
    };
    let own_thousandths = own("similarity").map(|share| (share * 1000.0).floor() as u16);
    Some(SignatureSettings {
        form: SetForm::Exact,
        shingle: own("shingle").map_or(tokenizer.usual_width(), |width| width as usize),
        thousandths: similarity
            .or(own_thousandths)
            .unwrap_or(DEFAULT_THOUSANDTHS as u16),
    })
}

fn name_of(bytes: &[u8]) -> String {
    format!("{BESIDE}{:032x}", xxh3_128(bytes))
}

/// Whether `name` is the name of a settings file, not, say, a path to another directory.
fn is_name(name: &str) -> bool {
    let hash = name.strip_prefix(BESIDE);
    hash.is_some_and(|hash| hash.len() == 32 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use simtool_corpus::Reading;

    fn settings(frequencies: Vec<Frequencies>) -> IndexSettings {
        let input_settings = InputSettings {
            reading: Reading::default(),
            tokenizer: Choice::Unicode,
            stop_words: WordSet::new([5, u64::MAX, 1]),
        };
        IndexSettings::with(
            Spec::parse("simhash:distance=5").unwrap(),
            &input_settings,
            None,
            frequencies,
        )
        .unwrap()
    }

    /// Promise (The index): A new index has the method of `dedup`, if no flag names another one
    #[test]
    fn new_indexes_have_the_method_of_dedup() {
        let spec = |method, tokenizer, similarity| {
            let spec = spec_of_new_index(method, tokenizer, similarity);
            spec.unwrap().to_string()
        };
        let usual = "minhash:similarity=0.8,recall=0.99,shingle=5";
        assert_eq!(spec(None, Choice::Auto, None), usual);
        assert_eq!(spec(Some("minhash"), Choice::Unicode, Some(800)), usual);
        let other = "minhash:similarity=0.75,recall=0.99,shingle=9";
        assert_eq!(spec(None, Choice::Chars, Some(750)), other);
        let own = "minhash:similarity=0.6,recall=0.99,shingle=3";
        let given = Some("minhash:shingle=3,similarity=0.6");
        assert_eq!(spec(given, Choice::Chars, None), own);
        let simhash = Spec::parse("simhash").unwrap().to_string();
        assert_eq!(spec(Some("simhash"), Choice::Chars, Some(500)), simhash);
    }

    #[test]
    fn settings_are_read_back() {
        let directory = tempfile::tempdir().unwrap();
        let counts = vec![
            Frequencies::new(9, [(7, 3), (2, 8)]),
            Frequencies::new(0, []),
        ];
        let made = settings(counts);
        made.write(directory.path(), &Faults::default()).unwrap();
        let manifest = made.manifest().unwrap();
        let read = IndexSettings::read(directory.path(), &manifest).unwrap();
        assert_eq!(read.to_string(), made.to_string());
        assert_eq!(read.stop_words, made.stop_words);
        assert_eq!(read.frequencies, made.frequencies);
        assert_eq!(read.manifest().unwrap(), manifest);

        let (_, name) = manifest.rsplit_once(' ').unwrap();
        let path = directory.path().join(name);
        let mut bytes = std::fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(&path, bytes).unwrap();
        let error = IndexSettings::read(directory.path(), &manifest).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Content);
        for foreign in [
            "simhash",
            "x; settings ../../etc/passwd",
            "x; settings settings-1",
        ] {
            let error = IndexSettings::read(directory.path(), foreign).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Parameter);
        }
    }

    /// Promise (Deduplication): A run that an earlier build began, whose `main` was another
    /// extractor, is not resumed; an index whose settings have another format is refused
    #[test]
    fn settings_of_other_versions_are_refused() {
        for version in [VERSION - 1, VERSION + 1] {
            let head = format!(
                "{{\"simtool_settings\":{version},\"method\":\"exact\",\"tokenizer\":\"auto\",\
                 \"html\":\"main\",\"stop_words\":0,\"frequencies\":[]}}\n"
            );
            let error = IndexSettings::decode(head.as_bytes()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Content);
            let message = error.to_string();
            assert!(message.contains("build the index again"), "{message}");
        }
    }

    #[test]
    fn only_equal_settings_match() {
        let made = settings(Vec::new());
        let index = Path::new("index");
        assert!(made.expect(index, &ExpectedSettings::default()).is_ok());
        let same = ExpectedSettings {
            spec: Some(made.spec.clone()),
            tokenizer: Some(Choice::Unicode),
            html: Some(HtmlText::Main),
            stop_words: Some(made.stop_words.clone()),
            similarity: None,
            signatures: false,
            keep: Some(KeepOrder::default()),
        };
        assert!(made.expect(index, &same).is_ok());
        let refused = |other: ExpectedSettings| {
            let error = made.expect(index, &other).unwrap_err();
            error.to_string()
        };
        let other = refused(ExpectedSettings {
            tokenizer: Some(Choice::Chars),
            ..same.clone()
        });
        assert!(other.contains("tokenizer unicode, not chars"), "{other}");
        let longest = KeepOrder::parse("longest").unwrap();
        let other = refused(ExpectedSettings {
            keep: Some(longest.clone()),
            ..same
        });
        assert!(other.contains("--keep first, not longest"), "{other}");
        let made = made.with_keep(longest);
        let read = IndexSettings::decode(&made.encode().unwrap())
            .unwrap()
            .unwrap();
        assert_eq!(read.keep, made.keep);
    }

    /// Promise (The index): An index whose words are found in another way is refused with the reason
    #[test]
    fn other_words_are_refused() {
        let made = settings(Vec::new()).encode().unwrap();
        let refused = |from: &str, to: &str| {
            let head = memchr::memchr(b'\n', &made).unwrap();
            let text = str::from_utf8(&made[..head]).unwrap();
            assert!(text.contains(from), "{text}");
            let other = [text.replace(from, to).as_bytes(), &made[head..]].concat();
            IndexSettings::decode(&other).unwrap_err().to_string()
        };
        let earlier = refused(r#","words":2"#, "");
        assert!(
            earlier.contains("words of version 1, and this"),
            "{earlier}"
        );
        let chinese = refused(r#""unicode""#, r#""chinese""#);
        assert!(chinese.contains("tokenizer `chinese`"), "{chinese}");
        assert!(IndexSettings::decode(&made).unwrap().is_some());
    }

    #[test]
    fn corpus_statistics_need_documents() {
        let input_settings = InputSettings {
            reading: Reading::default(),
            tokenizer: Choice::Auto,
            stop_words: WordSet::default(),
        };
        let spec = Spec::parse("simhash:weights=tf-idf").unwrap();
        let error = IndexSettings::without_collection(spec, &input_settings, None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Parameter);
    }

    proptest! {
        #[test]
        fn decoding_never_panics(
            bytes in prop::collection::vec(any::<u8>(), 0..100),
            stop_words: u64,
            features: u64,
        ) {
            let _ = IndexSettings::decode(&bytes);
            let mut claimed = format!(
                "{{\"simtool_settings\":1,\"method\":\"simhash\",\"tokenizer\":\"auto\",\
                 \"html\":\"main\",\"stop_words\":{stop_words},\
                 \"frequencies\":[{{\"documents\":1,\"features\":{features}}}]}}\n"
            ).into_bytes();
            claimed.extend(bytes);
            let _ = IndexSettings::decode(&claimed);
        }
    }
}
