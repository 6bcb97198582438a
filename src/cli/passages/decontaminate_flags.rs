//! The flags of `simtool decontaminate`.

use std::path::PathBuf;

use clap::Args;
use simtool::jobs::passages::Action;
use simtool::jobs::passages::decontaminate::{
    EditedRule, LeastWords, MOST_CHARACTERS, NgramClusterRule, Widening,
};
use simtool::text::Choice;
use simtool::{Error, ErrorKind, Result};

use super::{ActionArgs, OutputArgs};
use crate::cli::batch::InputArgs;
use crate::cli::dedup::method_flags::{self, tokenizer};
use crate::cli::reading::reading_flags::DocumentReadingArgs;
use crate::cli::values::number;
use crate::cli::values::{self, Named};

/// Finds and removes parts of evaluation sets in a dump.
///
/// Finds all runs of --min words that documents have in common with an item of the reference,
/// exactly and in bounded memory, and reports or removes them. An item is a record of a reference
/// file. To resume an interrupted run, give the same command again.
#[derive(Args, Clone, Debug)]
#[command(
    about = "Find and remove parts of evaluation sets in a dump",
    after_long_help = EXAMPLES
)]
pub struct DecontaminateArgs {
    #[command(flatten)]
    pub input: InputArgs,

    /// The evaluation sets, in any format of inputs; they do not change
    #[arg(long, value_name = "FILE", num_args = 1.., required = true, help_heading = "Input")]
    pub reference: Vec<PathBuf>,

    /// Field of a reference item that is a part of its text (may be repeated); an item without the
    /// first one is skipped and listed [default: that of --text-field]
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    pub reference_field: Vec<String>,

    /// Field of the id of a reference item [default: that of --id-field]
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    pub reference_id_field: Option<String>,

    #[command(flatten)]
    pub reading: DocumentReadingArgs,

    /// Defaults of the flags below: gpt3, lm-eval or olmo
    #[arg(
        long, value_name = "NAME", value_parser = values::named(&PROFILES),
        help_heading = "Decision"
    )]
    pub profile: Option<Profile>,

    /// The words of an n-gram, which are compared without regard to case and to what is between
    /// them [default: 13w]
    #[arg(long, value_name = "LENGTH", value_parser = length, help_heading = "Decision")]
    pub min: Option<LeastWords>,

    /// Look for a shorter item as a whole, if it has at least this many words [default: 8w]
    #[arg(long, value_name = "LENGTH", value_parser = length, help_heading = "Decision")]
    pub min_item: Option<LeastWords>,

    /// Also find edited items: of at least 13 words, of which a document has at least this share of the
    /// runs of 5 words near each other, weighted by how few items have them; SHARE or none [default: 0.5
    /// with --min 13w and without --profile, --min-share and --max-documents; otherwise none]
    #[arg(
        long, value_name = "SHARE", value_parser = edited_share, help_heading = "Decision"
    )]
    pub edited: Option<EditedShare>,

    /// Only clusters with at least this share of an item count: its n-grams, weighted by how few items
    /// have them [default: each n-gram counts]
    #[arg(
        long, value_name = "SHARE", value_parser = method_flags::thousandths,
        help_heading = "Decision"
    )]
    pub min_share: Option<u32>,

    /// The most places without an n-gram of the item between those of a cluster [default: 10]
    #[arg(
        long, value_name = "COUNT", value_parser = number::within(0, MOST_CHARACTERS),
        help_heading = "Decision"
    )]
    pub max_gap: Option<usize>,

    /// Field with the answer of an item: where an item has one, clusters count only if it is near
    #[arg(long, value_name = "NAME", help_heading = "Decision")]
    pub answer_field: Option<String>,

    /// The words before and after a cluster that count as near for the answer [default: 50w]
    #[arg(long, value_name = "LENGTH", value_parser = length, help_heading = "Decision")]
    pub answer_within: Option<LeastWords>,

    /// Kind of words: auto, ascii, unicode, chars or code
    #[arg(
        long, value_name = "KIND", default_value = "auto",
        value_parser = values::tokenizer(tokenizer), hide_possible_values = true,
        help_heading = "Decision"
    )]
    pub tokenizer: Choice,

    /// Ignore n-grams that are in more documents than this: COUNT or none [default: none]
    #[arg(long, value_name = "COUNT", value_parser = limit, help_heading = "Decision")]
    pub max_documents: Option<Limit>,

    /// Characters before and after each contaminated stretch that go with it [default: 0]
    #[arg(
        long, value_name = "COUNT", value_parser = number::within(0, MOST_CHARACTERS),
        help_heading = "Decision"
    )]
    pub around: Option<usize>,

    /// Pieces with fewer characters between such stretches go, too [default: 0]
    #[arg(
        long, value_name = "COUNT", value_parser = number::within(0, MOST_CHARACTERS),
        help_heading = "Decision"
    )]
    pub min_piece: Option<usize>,

    /// Drop documents that a cut would divide into more pieces than this: COUNT or none
    /// [default: none]
    #[arg(long, value_name = "COUNT", value_parser = limit, help_heading = "Decision")]
    pub max_pieces: Option<Limit>,

    #[command(flatten)]
    pub action: ActionArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}

/// A published rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// That of GPT-3.
    Gpt3,
    /// That of lm-evaluation-harness.
    LmEval,
    /// That of the decontamination of OLMo.
    Olmo,
}

const PROFILES: [Named<Profile>; 3] = [
    (
        "gpt3",
        "--min 13w --max-documents 10 --around 200 --min-piece 200 --max-pieces 10",
        Profile::Gpt3,
    ),
    ("lm-eval", "--min 13w --min-item 13w", Profile::LmEval),
    (
        "olmo",
        "--min 5w --min-item 5w --min-share 0.7 --max-gap 15",
        Profile::Olmo,
    ),
];

/// A number, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit(Option<u32>);

/// The share of an edited item in thousandths, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EditedShare(Option<u32>);

/// What is searched and what goes: the flags, with the defaults of the profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The words of an n-gram.
    pub min: LeastWords,
    /// The least words of a shorter item.
    pub min_item: LeastWords,
    /// Which clusters count.
    pub clusters: Option<NgramClusterRule>,
    /// Which edited items are found.
    pub edited: Option<EditedRule>,
    /// The most documents of an n-gram.
    pub max_documents: Option<u32>,
    /// What goes with contaminated stretches.
    pub widening: Widening,
    /// The most pieces of a document.
    pub max_pieces: Option<u32>,
}

const EXAMPLES: &str = "\
Examples:
  simtool decontaminate crawl/*.jsonl.zst --reference evals/*.jsonl -o out
          The documents with 13 words of an item in a row, or with an edited item:
          out/spans.jsonl, the items in out/items.jsonl, and for people out/page.html; no input
          changes
  simtool decontaminate crawl/*.jsonl.zst --reference gsm8k.jsonl --reference-field question \\
      --reference-field answer -o out --min 8w
          Items whose text is in two fields; runs of 8 words
  simtool decontaminate crawl/*.jsonl.zst --reference evals/ -o out --profile gpt3 --action cut
          Without these words and 200 characters around them, in out/cut
  simtool decontaminate crawl/*.jsonl.zst --reference mmlu.jsonl --reference-field question \
      --answer-field answer -o out --profile olmo
          By clusters alone: 70 % of an item's runs of 5 words near each other, and its answer
  simtool decontaminate crawl/*.jsonl.zst --reference evals/ -o out --action drop-document:0.1
          Without the documents of which a tenth is contaminated

Exit codes:
  0 complete, 2 an error and nothing published, 3 published but more input was skipped than
  --max-skipped allows, 130 interrupted: the same command resumes.";

/// The share of an edited item that a document needs, in thousandths.
const EDITED_THOUSANDTHS: u32 = 500;

/// The clusters of a share that is given without more.
const CLUSTERS: NgramClusterRule = NgramClusterRule {
    most_gap: 10,
    thousandths: 0,
    answer_within: 50,
};

impl Profile {
    /// The rule without further flags.
    fn rule(profile: Option<Profile>) -> Rule {
        let own = Rule {
            min: LeastWords(13),
            min_item: LeastWords(8),
            clusters: None,
            edited: None,
            max_documents: None,
            widening: Widening::default(),
            max_pieces: None,
        };
        match profile {
            None => own,
            Some(Profile::LmEval) => Rule {
                min_item: LeastWords(13),
                ..own
            },
            Some(Profile::Olmo) => Rule {
                min: LeastWords(5),
                min_item: LeastWords(5),
                clusters: Some(NgramClusterRule {
                    thousandths: 700,
                    most_gap: 15,
                    ..CLUSTERS
                }),
                ..own
            },
            Some(Profile::Gpt3) => Rule {
                max_documents: Some(10),
                widening: Widening {
                    around: 200,
                    least_piece: 200,
                },
                max_pieces: Some(10),
                ..own
            },
        }
    }
}

impl DecontaminateArgs {
    /// Which edited items are found, unless a flag says it: with other n-grams than those it was
    /// measured with, and with rules that say what else counts, none.
    fn usual_edited(&self, rule: &Rule) -> Option<EditedRule> {
        let is_natural = matches!(
            self.tokenizer,
            Choice::Auto | Choice::Ascii | Choice::Unicode
        );
        let is_plain = self.profile.is_none()
            && rule.min == LeastWords(13)
            && rule.clusters.is_none()
            && rule.max_documents.is_none();
        (is_natural && is_plain).then(|| EditedRule::new(EDITED_THOUSANDTHS))
    }

    /// The rule that the flags and the profile give.
    pub fn rule(&self) -> Rule {
        let usual = Profile::rule(self.profile);
        let share = self.min_share.map(|thousandths| NgramClusterRule {
            thousandths,
            ..usual.clusters.unwrap_or(CLUSTERS)
        });
        let clusters = share.or(usual.clusters).map(|rule| NgramClusterRule {
            most_gap: self.max_gap.unwrap_or(rule.most_gap),
            answer_within: self
                .answer_within
                .map_or(rule.answer_within, |words| words.0),
            ..rule
        });
        let limit = |given: Option<Limit>, usual| given.map_or(usual, |Limit(limit)| limit);
        let rule = Rule {
            min: self.min.unwrap_or(usual.min),
            min_item: self.min_item.unwrap_or(usual.min_item),
            clusters,
            edited: None,
            max_documents: limit(self.max_documents, usual.max_documents),
            widening: Widening {
                around: self.around.unwrap_or(usual.widening.around),
                least_piece: self.min_piece.unwrap_or(usual.widening.least_piece),
            },
            max_pieces: limit(self.max_pieces, usual.max_pieces),
        };
        Rule {
            edited: match self.edited {
                Some(EditedShare(share)) => share.map(EditedRule::new),
                None => self.usual_edited(&rule),
            },
            ..rule
        }
    }

    /// Refuses flags without effect.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] naming the flag.
    pub fn check_effect(&self) -> Result<()> {
        let refuse = |message: String| Err(Error::new(ErrorKind::Parameter, message));
        let rule = self.rule();
        if let Some(min_item) = self.min_item
            && min_item > rule.min
        {
            return refuse(format!(
                "--min-item {min_item} has no effect: items of {} are looked for in parts (--min)",
                rule.min
            ));
        }
        let of_clusters = [
            ("--max-gap", self.max_gap.is_some()),
            ("--answer-field", self.answer_field.is_some()),
            ("--answer-within", self.answer_within.is_some()),
        ];
        let given = of_clusters.iter().find(|(_, is_given)| *is_given);
        if let (None, Some((flag, _))) = (rule.clusters, given) {
            return refuse(format!(
                "{flag} has an effect only on clusters: add --min-share or --profile olmo"
            ));
        }
        if let Some(edited) = rule.edited {
            let message = match (rule.clusters, rule.max_documents) {
                (Some(_), _) => {
                    "--edited has no effect on clusters (--min-share, --profile olmo), which find edited \
                     items: leave it out"
                }
                (_, Some(_)) => {
                    "--edited cannot be combined with --max-documents (also that of --profile gpt3): add \
                     --max-documents none"
                }
                _ if rule.min <= edited.least => {
                    "--edited has no effect with --min of 5 words or fewer: each run of them counts"
                }
                _ => "",
            };
            if !message.is_empty() {
                return refuse(message.to_owned());
            }
        }
        if self.answer_within.is_some() && self.answer_field.is_none() {
            let message = "--answer-within has an effect only with --answer-field: add that";
            return refuse(message.to_owned());
        }
        if self.max_pieces.is_some() && self.action.action != Action::Cut {
            let message = "--max-pieces has an effect only with --action cut: add that";
            return refuse(message.to_owned());
        }
        Ok(())
    }
}

/// Parses a number of words; the message is for clap.
fn length(text: &str) -> std::result::Result<LeastWords, String> {
    LeastWords::parse(text).map_err(|error| error.to_string())
}

/// Parses a share or none; the message is for clap.
fn edited_share(text: &str) -> std::result::Result<EditedShare, String> {
    match text {
        "none" => Ok(EditedShare(None)),
        _ => match method_flags::thousandths(text) {
            Ok(share) => Ok(EditedShare(Some(share))),
            Err(message) => Err(format!("{message}, or none")),
        },
    }
}

/// Parses a limit; the message is for clap.
fn limit(text: &str) -> std::result::Result<Limit, String> {
    let most = u32::MAX as usize;
    match text {
        "none" => Ok(Limit(None)),
        _ => match number::within(1, most)(text) {
            Ok(number) => Ok(Limit(u32::try_from(number).ok())),
            Err(message) => Err(format!("{message}, or none")),
        },
    }
}
