//! The flags of `simtool tune`.

use clap::Args;
use simtool::evaluate::Proportion;
use simtool::evaluate::planted::Kind;
use simtool::lab::{Alignment, Question, Setting, grid};
use simtool::text::Choice;
use simtool::{Error, ErrorKind, Result};

use super::evaluate::{self, TruthArgs, edits, methods};
use crate::cli::process::resource_flags::ResourceArgs;
use crate::cli::reading::reading_flags::ReadingArgs;
use crate::cli::screen::log::LogArgs;
use crate::cli::values::{self, Named};

/// Recommend a tokenizer, a method and a threshold for a wanted precision
///
/// Tries tokenizers, lengths of shingles, methods and thresholds on your documents, and prints the
/// command with the best ones. Recall is measured with your own truth, or with edited copies that are
/// made of the documents. Precision is the share of right pairs among those that a setting proposes
/// in your collection: they are sampled by score, and judged by your truth, or, where it says
/// nothing, by exact alignment: a pair is right if the words of the longer text are, for a share of
/// --aligned, those of the other one in the same order. Documents with the same words count once.
///
/// A setting counts by its recall, times the lower bound of its precision where that does not reach
/// the wanted one: few judged pairs show little. Of settings that are worth at least 99 % of the best
/// one, that with the smallest sketches is recommended. For match, settings are left out that compare
/// so many pairs that the cost grows with the square of the collection.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct TuneArgs {
    /// Files, directories or patterns of the documents
    #[arg(value_name = "INPUT", required = true)]
    pub inputs: Vec<std::path::PathBuf>,

    #[command(flatten)]
    pub truth: TruthArgs,

    /// Also plant copies with wrong characters, as of OCR
    #[arg(long, help_heading = "Truth", conflicts_with_all = ["pairs", "clusters"])]
    noise: bool,

    /// A text that is part of a longer one is a duplicate of it: copies of parts are planted,
    /// containment is tried, and --aligned is a share of the shorter text
    #[arg(long, help_heading = "Truth", conflicts_with = "closed_world")]
    contained: bool,

    /// The least share of the words of the longer text that a duplicate has, in the same order; or
    /// as many characters as half-way between this share and 1 [default: 0.8, or 0.5 for match]
    #[arg(
        long, value_name = "SHARE", value_parser = evaluate::share, help_heading = "Truth",
        conflicts_with = "closed_world"
    )]
    aligned: Option<Proportion>,

    /// The command for which a setting is wanted
    #[arg(
        long = "for", value_name = "COMMAND", default_value = "dedup",
        value_parser = values::named(&QUESTIONS), hide_default_value = false
    )]
    pub question: Question,

    /// The minimum share of proposed pairs that must be right
    #[arg(long, value_name = "SHARE", default_value = "0.99", value_parser = evaluate::share)]
    pub precision: Proportion,

    /// A method to try, at all thresholds (may be repeated); for dedup and index, shingles with
    /// parameters [default: those that fit the command, with several lengths of shingles]
    #[arg(long, value_name = "METHOD", value_parser = values::method(), hide_possible_values = true)]
    method: Vec<String>,

    /// Try these values of a parameter with every method that has it: shingle=3..7
    #[arg(long, value_name = "NAME=VALUES", requires = "method")]
    sweep: Vec<String>,

    #[command(flatten)]
    pub reading: ReadingArgs,

    #[command(flatten)]
    pub resources: ResourceArgs,

    #[command(flatten)]
    pub log: LogArgs,

    /// No progress
    #[arg(long)]
    pub quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  simtool tune crawl/*.wet.gz --planted
          The settings of dedup that find most edited copies, with 99 % of what they propose in this
          collection right
  simtool tune scans.jsonl --planted --noise --aligned 0.5
          The same for copies with wrong characters, of which half of the words may differ
  simtool tune docs.jsonl --pairs pairs.tsv --precision 0.95 --for match
          With a truth of your own: any method, for near documents of samples
  simtool tune docs.jsonl --planted --contained
          For documents that are part of others
  simtool tune docs.jsonl --planted --for match --method simhash --sweep features=1..5
          Settings of one method";

/// The values of --for.
const QUESTIONS: [Named<Question>; 3] = [
    (
        "dedup",
        "Duplicates are removed: pairs are compared by their shingles",
        Question::Dedup,
    ),
    (
        "match",
        "Near documents are listed, by any method",
        Question::Match,
    ),
    (
        "index",
        "Seen documents are recognised: they are compared by signatures of shingles",
        Question::Index,
    ),
];

impl TuneArgs {
    /// Which pairs are right where the truth says nothing.
    pub fn alignment(&self) -> Alignment {
        let by_default = match (self.question, self.contained) {
            (Question::Match, false) => 500,
            _ => 800,
        };
        let share = self.aligned.and_then(Proportion::value);
        let thousandths = share.map_or(by_default, |share| (share * 1000.0).round() as u32);
        Alignment {
            thousandths: thousandths.max(1),
            contained: self.contained,
        }
    }

    /// The edits of planted copies.
    pub fn edits(&self) -> Vec<(Kind, u32)> {
        let is_planted = |kind: &&Kind| self.noise || **kind != Kind::Characters;
        let kinds: Vec<Kind> = Kind::ALL.iter().filter(is_planted).copied().collect();
        let mut all = edits(&kinds);
        if self.contained {
            all.extend([50, 75, 90].map(|percent| (Kind::Truncate, percent)));
        }
        all
    }

    /// The tokenizers and settings to try. Containment is tried where a truth may have it.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for methods and flags that do not fit the command.
    pub fn settings(&self) -> Result<Vec<(Choice, Vec<Setting>)>> {
        if self.contained && self.question == Question::Index {
            return Err(Error::new(
                ErrorKind::Parameter,
                "--contained has no effect with --for index: an index compares texts by resemblance",
            ));
        }
        if !self.method.is_empty() {
            let specs = methods(&self.method, &self.sweep)?;
            let any = |spec| Setting { spec, least: 0 };
            let other = specs.iter().find(|spec| spec.name() != "shingles");
            return match other {
                Some(other) if self.question != Question::Match => Err(Error::new(
                    ErrorKind::Parameter,
                    format!(
                        "--method {}: {} compares shingles, whatever proposes a pair (use \
                         shingles, or --for match)",
                        other.name(),
                        question_name(self.question),
                    ),
                )),
                _ => Ok(vec![(
                    self.reading.tokenizer(),
                    specs.into_iter().map(any).collect(),
                )]),
            };
        }
        let contained = self.contained || !self.truth.planted;
        grid(self.question, self.reading.tokenizer, contained)
    }
}

/// The name of a question: that of its command.
pub fn question_name(question: Question) -> &'static str {
    let found = QUESTIONS.iter().find(|(.., known)| *known == question);
    found.map_or("", |(name, ..)| name)
}
