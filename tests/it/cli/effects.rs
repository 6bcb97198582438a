//! A flag without effect is refused, for every flag of every command.
//!
//! The flags are those of the help, which clap makes from its table. Each of them is declared here:
//! as one that always may have an effect, or with a command line where it has none and with what has
//! to be added there.

use std::collections::BTreeSet;

use crate::sandbox::Sandbox;

/// Flags that may have an effect whatever else is given: commands, then flags.
const ALWAYS: &str = "
main dedup lines spans decontaminate match evaluate tune explain generate methods help completions man: help version
main dedup lines spans decontaminate match evaluate tune explain: cache
main: articles dir distance hashes log memory output quiet samples scaling stopwords summary temp-dir threads timings
dedup lines spans decontaminate match evaluate tune explain: text-field id-field url-field format html max-document exclude
dedup lines spans decontaminate match evaluate tune explain: include
dedup lines spans decontaminate: output files-from no-page restart memory threads temp-dir summary timings scaling log quiet max-skipped dry-run
dedup: date-field against method similarity recall shingle keep within keep-copies min-sources cluster write pairs refused refuse-above tokenizer
lines: against unit normalize above in-documents within keep remove-listed action list
spans: against min tokenizer keep snap action list
decontaminate: reference reference-field reference-id-field profile min min-item edited min-share tokenizer max-documents around min-piece action
match: date-field articles against samples method tokenizer stop-words output summary timings scaling memory threads temp-dir log quiet
evaluate: date-field planted pairs clusters matches method sweep precision mistakes draws seed json output tokenizer timings scaling memory threads temp-dir log quiet listed-only
tune: date-field planted pairs clusters method for precision seed tokenizer memory threads temp-dir log quiet
explain: date-field id pair in hit method similarity shingle distance recall tokenizer stop-words keep-stop-words json full width
generate: columns dir documents duplicates exponent language rare-share rows samples seed size stopwords strength vocabulary words-per-document
index-build: cache date-field dump exclude format help html id-field include keep log max-document memory method payload quiet scaling similarity skipped-report temp-dir text-field threads tokenizer url-field version
index-add: cache date-field dump exclude format help html id-field include keep limit log max-document memory method output payload quiet signatures similarity skipped-report stop-words temp-dir text-field threads tokenizer url-field version
index-query: cache date-field exclude format help html id-field include keep limit log max-document memory method output quiet signatures similarity skipped-report stop-words summary temp-dir text-field threads tokenizer url-field version
index-remove index-check index-compact index-copy index-rescue index-export: help log quiet version
index-remove: dump ids
index-export: kept min-sources output temp-dir
index-info: help id json version
serve: copies dump grace header-timeout help html insecure keep listen log max-bodies max-body max-connections max-requests method read-only request-timeout signatures similarity stop-words threads token-file tokenizer version
";

/// Flags with a condition: the command line where they have no effect | the flag | what has to be
/// added.
const CONDITIONS: &str = "
1 1 | --cache-size 1M | --cache cache
dedup in.jsonl -o out --dry-run | --cache-size 1M | --cache cache
dedup -o out --dry-run in.jsonl | --take 0..1 | --files-from list
dedup in.jsonl -o out --dry-run | --bits 64 | --method simhash
dedup in.jsonl -o out --dry-run | --distance 3 | --method simhash
dedup in.jsonl -o out --dry-run | --features 9 | --method simhash
dedup in.jsonl -o out --dry-run | --weights tf | --method simhash
dedup in.jsonl -o out --dry-run | --keep-stop-words | --method simhash
dedup in.jsonl -o out --dry-run | --stop-words words | --method simhash
dedup in.jsonl -o out --dry-run | --against-only | --against b.jsonl
dedup in.jsonl -o out --dry-run | --skipped drop | --write kept
dedup in.jsonl -o out --dry-run | --empty-files | --write kept
dedup in.jsonl -o out --dry-run | --compression-level 3 | --write kept
dedup in.jsonl -o out --dry-run | --write-format jsonl | --write kept
dedup in.jsonl -o out --dry-run --write kept | --shard-size 1M | --write-format jsonl
dedup in.jsonl -o out --dry-run --write kept | --shard-name n-{number} | --write-format jsonl
dedup in.jsonl -o out --dry-run --write kept | --source-field from | --write-format jsonl
dedup in.jsonl -o out --dry-run --write kept | --guess-language | --write-format jsonl
lines in.jsonl -o out --dry-run --unit line | --tokenizer ascii | --action cut --min-words 2
decontaminate --reference b.jsonl -o out --dry-run in.jsonl | --max-gap 3 | --min-share 0.5
decontaminate --reference b.jsonl -o out --dry-run in.jsonl | --answer-field id | --min-share 0.5
decontaminate --reference b.jsonl -o out --dry-run in.jsonl | --answer-within 5w | --min-share 0.5 --answer-field id
decontaminate --reference b.jsonl -o out --dry-run in.jsonl | --max-pieces 3 | --action cut
match --articles in.jsonl --samples b.jsonl | --cache-size 1M | --cache cache
evaluate in.jsonl --planted | --cache-size 1M | --cache cache
evaluate in.jsonl --pairs pairs | --copied 9 | !
evaluate in.jsonl --planted | --closed-world | !
evaluate in.jsonl --planted --method minhash | --stop-words words | !
tune in.jsonl --planted | --cache-size 1M | --cache cache
tune in.jsonl --planted | --sweep shingle=3 | --method shingles
tune in.jsonl --pairs pairs | --noise | !
tune in.jsonl --pairs pairs --closed-world | --aligned 0.5 | !
tune in.jsonl --pairs pairs --closed-world | --contained | !
tune in.jsonl --pairs pairs | --copied 9 | !
tune in.jsonl --planted | --closed-world | !
tune in.jsonl --planted --for match --method minhash | --stop-words words | !
explain in.jsonl b.jsonl | --cache-size 1M | --cache cache
explain in.jsonl b.jsonl | --range 1 | !
index-build new in.jsonl | --cache-size 1M | --cache cache
index-build new in.jsonl --method minhash | --stop-words words | !
index-build new in.jsonl --method shingles | --layout compact | !
index-build new in.jsonl --method exact | --signatures | !
index-add seen in.jsonl | --cache-size 1M | !
index-query seen in.jsonl | --cache-size 1M | !
";

/// The rows of every command that searches for passages, which stands for `COMMAND`.
const OF_PASSAGES: &str = "
COMMAND -o out --dry-run in.jsonl | --take 0..1 | --files-from list
COMMAND -o out --dry-run in.jsonl | --cache-size 1M | --cache cache
COMMAND -o out --dry-run --action cut in.jsonl | --date-field day | --write-format parquet
COMMAND -o out --dry-run in.jsonl | --min-words 2 | --action cut
COMMAND -o out --dry-run in.jsonl | --min-sentences 2 | --action cut
COMMAND -o out --dry-run in.jsonl | --skipped drop | --action cut
COMMAND -o out --dry-run in.jsonl | --empty-files | --action cut
COMMAND -o out --dry-run in.jsonl | --compression-level 3 | --action cut
COMMAND -o out --dry-run in.jsonl | --write-format jsonl | --action cut
COMMAND -o out --dry-run --action cut in.jsonl | --shard-size 1M | --write-format jsonl
COMMAND -o out --dry-run --action cut in.jsonl | --shard-name n-{number} | --write-format jsonl
COMMAND -o out --dry-run --action cut in.jsonl | --source-field from | --write-format jsonl
COMMAND -o out --dry-run --action cut in.jsonl | --guess-language | --write-format jsonl
";

/// A flag with a condition.
struct Condition {
    /// The command line, the flag with its value, and what has to be added, if anything helps.
    without: String,
    flag: String,
    added: Option<String>,
}

impl Condition {
    /// The command.
    fn command(&self) -> String {
        let first = self.without.split(' ').next().unwrap();
        match first.parse::<u32>() {
            Ok(_) => "main".to_owned(),
            Err(_) => first.to_owned(),
        }
    }

    fn name(&self) -> &str {
        self.flag.split(' ').next().unwrap()
    }

    fn line(&self, added: &str) -> String {
        let line = format!("{} {} {added}", self.without, self.flag);
        line.trim_end().replacen("index-", "index ", 1)
    }
}

fn conditions() -> Vec<Condition> {
    let commands = ["lines", "spans", "decontaminate --reference b.jsonl"];
    let of_passages = commands.map(|command| OF_PASSAGES.replace("COMMAND", command));
    let all = [CONDITIONS, &of_passages.concat()].concat();
    let lines = all.lines().filter(|line| !line.is_empty());
    let parts = lines.map(|line| line.split(" | ").map(str::to_owned).collect::<Vec<_>>());
    let condition = |parts: Vec<String>| {
        let [without, flag, added] = <[String; 3]>::try_from(parts).unwrap();
        Condition {
            without,
            flag,
            added: Some(added).filter(|added| added != "!"),
        }
    };
    parts.map(condition).collect()
}

/// All commands, `main` the first.
fn commands(sandbox: &Sandbox) -> Vec<String> {
    let refused = sandbox.run("help no-command").code(2);
    let message = crate::sandbox::stderr(&refused);
    let (_, names) = message.trim().split_once("one of ").unwrap();
    let mut names: Vec<String> = names.split(", ").map(str::to_owned).collect();
    names.retain(|name| name != "index");
    if cfg!(feature = "index") {
        let help = sandbox.stdout("help index");
        let (_, operations) = help.split_once("Commands:\n").unwrap();
        let lines = operations.lines().take_while(|line| !line.is_empty());
        names.extend(lines.map(|line| format!("index-{}", line.trim().split(' ').next().unwrap())));
    }
    names.insert(0, "main".to_owned());
    names
}

/// The flags that the help of a command has.
fn flags(sandbox: &Sandbox, command: &str) -> BTreeSet<String> {
    let line = match command {
        "main" => "--help".to_owned(),
        _ => format!("{} --help", command.replacen('-', " ", 1)),
    };
    let help = sandbox.stdout(&line);
    // What a flag does is indented further.
    let words = help.lines().filter_map(|line| {
        let flag = line.strip_prefix("      --");
        flag.or_else(|| {
            line.strip_prefix("  -")?
                .split_once(", --")
                .map(|(_, flag)| flag)
        })
    });
    let name = |word: &str| {
        let end = word.find(|c: char| !c.is_ascii_lowercase() && c != '-');
        format!("--{}", &word[..end.unwrap_or(word.len())])
    };
    words.map(name).collect()
}

/// Promise (Deduplication): Each flag of each command may have an effect in every run, or is
/// refused where it has none and accepted with what it needs
#[test]
fn every_flag_is_declared_once() {
    let sandbox = Sandbox::new();
    let conditions = conditions();
    for command in commands(&sandbox) {
        let mut declared: Vec<String> = Vec::new();
        for line in ALWAYS.lines().filter(|line| !line.is_empty()) {
            let (commands, flags) = line.split_once(": ").unwrap();
            if commands.split(' ').any(|name| name == command) {
                declared.extend(flags.split(' ').map(|flag| format!("--{flag}")));
            }
        }
        let own = conditions
            .iter()
            .filter(|condition| condition.command() == command);
        declared.extend(own.map(|condition| condition.name().to_owned()));
        if command == "serve" && cfg!(feature = "tls") {
            declared.extend(["--tls-cert", "--tls-key"].map(str::to_owned));
        }
        declared.sort();
        let all: Vec<String> = flags(&sandbox, &command).into_iter().collect();
        assert_eq!(declared, all, "{command}: declared, and in its help");
    }
}

/// Promise (Deduplication): Each flag of each command may …
#[test]
fn a_flag_without_effect_is_refused_and_with_its_condition_it_is_not() {
    let sandbox = Sandbox::new();
    let names = commands(&sandbox);
    let text = "one two three four five six seven";
    sandbox.write(
        "in.jsonl",
        format!("{{\"id\":\"1\",\"text\":\"{text}\"}}\n"),
    );
    sandbox.write("b.jsonl", "{\"id\":\"2\",\"text\":\"one two three\"}\n");
    sandbox.write("list", "in.jsonl\n");
    sandbox.write("words", "the");
    sandbox.write("pairs", "1\t2\t1\n");
    for condition in conditions() {
        if !names.contains(&condition.command()) {
            continue;
        }
        let line = condition.line("");
        let _ = std::fs::remove_dir_all(sandbox.path("new"));
        let refused = sandbox.run(&line);
        let refused = refused.code(2);
        let message = crate::sandbox::stderr(&refused);
        let named = |part: &str| message.contains(part);
        let added = condition.added.as_deref().unwrap_or_default();
        let is_missing = |flag: &str| flag.starts_with("--") && named(&format!("  {flag} <"));
        let is_needed = added.split(' ').any(is_missing)
            || line.contains("--cache-size") && named("  --cache <");
        let has_none =
            named("has an effect only") || named("has no effect") || named("cannot be used with");
        assert!(
            is_needed || has_none && named(condition.name()),
            "{line}: {message}"
        );
        assert!(!sandbox.path("out").exists(), "{line}");
        // A list replaces the inputs.
        let line = condition.line(added).replace(
            if condition.name() == "--take" {
                " in.jsonl"
            } else {
                "\0"
            },
            "",
        );
        if condition.added.is_some() && condition.command() != "main" {
            let accepted = crate::sandbox::stderr(&sandbox.run(&line).success());
            assert!(!accepted.contains("effect"), "{line}: {accepted}");
        }
    }
}
