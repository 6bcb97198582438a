//! `simtool generate`: a synthetic corpus with known duplicates.

use std::path::PathBuf;

use clap::Args;
use simtool::engine::Workers;
use simtool::evaluate::synthetic::{
    Corpus, CorpusSettings, CorpusSummary, Extent, Language, Millionths, write_directory_while,
};
use simtool::io::remote::Client;
use simtool::{Error, ErrorKind, Result};

use crate::cli::process::machine::all_cores;
use crate::cli::process::session::Session;
use crate::cli::screen::log::Log;
use crate::cli::screen::message;
use crate::cli::values::size::parse_size;
use crate::cli::values::{self, Named};

/// Write a synthetic corpus with planted near-duplicates
///
/// It consists of article.txt, sample.txt, stopwords.txt, hashvalue.txt, and truth.tsv, which lists
/// the planted duplicates. The same flags give the same bytes on any machine.
#[derive(Args, Clone, Debug)]
pub struct GenerateArgs {
    /// Directory for the five files; created if missing
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,

    /// Seed of all random choices
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Size of article.txt, for example 200M or 1G [default: given by --documents]
    #[arg(long, value_name = "BYTES", value_parser = parse_size, conflicts_with = "documents")]
    size: Option<u64>,

    /// Number of pages in article.txt
    #[arg(long, value_name = "COUNT", default_value_t = 1000)]
    documents: u64,

    /// Mean number of words (in Chinese: characters) of a page
    #[arg(long, value_name = "COUNT", default_value_t = 530)]
    words_per_document: u64,

    /// Number of English words that follow Zipf's law
    #[arg(long, value_name = "COUNT", default_value_t = 1_750_000)]
    vocabulary: u64,

    /// Exponent of Zipf's law: how steeply the frequencies fall; 0 makes them equal
    #[arg(long, value_name = "NUMBER", default_value = "1.1")]
    exponent: Millionths,

    /// Share of words drawn evenly from 2^29 words beyond the vocabulary
    #[arg(long, value_name = "SHARE", default_value = "0.001")]
    rare_share: Millionths,

    /// Number of pages in sample.txt
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    samples: u64,

    /// Share of articles that repeat another article, at most 0.5
    #[arg(long, value_name = "SHARE", default_value = "0.1")]
    duplicates: Millionths,

    /// Shares of words edited in planted repetitions, taken in turn
    #[arg(
        long,
        value_name = "SHARE,...",
        value_delimiter = ',',
        default_value = "0,0.02,0.1,0.3"
    )]
    strength: Vec<Millionths>,

    /// Language of the pages
    #[arg(long, default_value = "english", value_parser = values::named(&LANGUAGES))]
    language: Language,

    /// Number of rows of hashvalue.txt
    #[arg(long, value_name = "COUNT", default_value_t = 10_000)]
    rows: u64,

    /// Number of digits in a row of hashvalue.txt
    #[arg(long, value_name = "COUNT", default_value_t = 128)]
    columns: u64,

    /// Number of the most frequent words that stopwords.txt lists
    #[arg(long, value_name = "COUNT", default_value_t = 160)]
    stopwords: u64,
}

/// The values of --language.
const LANGUAGES: [Named<Language>; 3] = [
    (
        "english",
        "Function words and made-up words",
        Language::English,
    ),
    (
        "chinese",
        "Chinese characters in no meaningful order",
        Language::Chinese,
    ),
    ("mixed", "Sentences of either", Language::Mixed),
];

/// Writes the corpus, and its counts on standard error.
///
/// # Errors
/// Errors of [`write_directory_while`]; a parameter out of range is named by its flag.
pub fn run(args: &GenerateArgs) -> Result<()> {
    let run = Session::new(Log::SILENT, &Client::new()).run(|progress| {
        let corpus = Corpus::new(&args.settings())?;
        let workers = Workers::new(all_cores())?;
        workers.install(|| write_directory_while(&corpus, &args.dir, &|| progress.check()))
    });
    let summary = run.map_err(name_flag)?;
    let CorpusSummary {
        documents,
        article_bytes,
        duplicates,
        samples,
    } = summary;
    message::say(&format!(
        "{}: {documents} articles ({article_bytes} bytes), {duplicates} of them repeat another \
         one; {samples} samples",
        args.dir.display()
    ));
    Ok(())
}

impl GenerateArgs {
    /// The settings of these flags.
    fn settings(&self) -> CorpusSettings {
        CorpusSettings {
            seed: self.seed,
            extent: self
                .size
                .map_or(Extent::Documents(self.documents), Extent::Bytes),
            words_per_document: self.words_per_document,
            language: self.language,
            vocabulary: self.vocabulary,
            exponent: self.exponent,
            rare_share: self.rare_share,
            samples: self.samples,
            duplicates: self.duplicates,
            strengths: self.strength.clone(),
            rows: self.rows,
            columns: self.columns,
            stop_words: self.stopwords,
        }
    }
}

/// Adds `--` to the name of a parameter, which is also the name of its flag.
fn name_flag(error: Error) -> Error {
    match error.kind() {
        ErrorKind::Parameter => Error::new(ErrorKind::Parameter, format!("--{error}")),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory, Parser};

    #[derive(Parser)]
    struct Generate {
        #[command(flatten)]
        args: GenerateArgs,
    }

    fn parse(flags: &[&str]) -> std::result::Result<GenerateArgs, clap::Error> {
        let program = ["generate", "--dir", "made"];
        Generate::try_parse_from(program.iter().chain(flags)).map(|parsed| parsed.args)
    }

    #[test]
    fn the_flags_are_consistent_and_their_defaults_are_the_library_s() {
        Generate::command().debug_assert();
        assert_eq!(parse(&[]).unwrap().settings(), CorpusSettings::default());
    }

    #[test]
    fn flags_become_settings() {
        let flags = ["--size", "3M", "--strength", "0,0.5", "--language", "mixed"];
        let settings = parse(&flags).unwrap().settings();
        assert_eq!(settings.extent, Extent::Bytes(3 << 20));
        assert_eq!(settings.strengths, [Millionths(0), Millionths(500_000)]);
        assert_eq!(settings.language, Language::Mixed);
        assert!(parse(&["--size", "3M", "--documents", "5"]).is_err());
        assert!(parse(&["--size", "3X"]).is_err());
    }

    #[test]
    fn a_parameter_out_of_range_is_named_by_its_flag() {
        let error = run(&parse(&["--duplicates", "0.6"]).unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "--duplicates 0.6: expected 0 to 0.5");
    }

    #[test]
    fn the_command_in_testdata_makes_the_example() {
        let readme = include_str!("../../../testdata/README.md");
        let command = readme
            .lines()
            .find_map(|line| line.trim().strip_prefix("simtool "))
            .unwrap();
        let mut args = Generate::try_parse_from(command.split(' ')).unwrap().args;
        let kept = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/example");
        let made = tempfile::tempdir().unwrap();
        args.dir = made.path().to_owned();
        run(&args).unwrap();
        for file in std::fs::read_dir(made.path()).unwrap() {
            let path = file.unwrap().path();
            let expected = std::fs::read(kept.join(path.file_name().unwrap())).unwrap();
            assert!(
                std::fs::read(&path).unwrap() == expected,
                "{}",
                path.display()
            );
        }
    }
}
