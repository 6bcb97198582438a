//! Inputs that are source code by their names.

use simtool_core::text::Choice;
use simtool_corpus::Source;

use super::job::{DedupJob, EXACT};
use super::url_rule::UrlRule;
use crate::scope::Scope;

/// Extensions of files of programming languages.
const EXTENSIONS: &str = " asm bash c cc clj cljs cpp cs cu cuh cxx dart erl ex exs f f90 f95 fs fsx \
                          go groovy h hh hpp hs hxx java jl js jsx kt kts lua mjs ml mli mm php pl \
                          pm ps1 py pyw r rb rs s scala sh sql swift sv ts tsx v vb vhd vhdl zig ";
/// At least one file in this many has to be source code for a warning.
const FILES: usize = 10;

/// A warning if the job compares words of prose, and at least a tenth of the files are source code by
/// their names: how many, and what to do.
pub fn source_code(job: &DedupJob, sources: &[Source]) -> Option<(u64, String)> {
    let count = sources.iter().filter(|source| is_code(source)).count();
    let compares_words = job.url != UrlRule::Only && job.method.name() != EXACT;
    let is_prose = compares_words && job.tokenizer == Choice::default();
    if !is_prose || count == 0 || count * FILES < sources.len() {
        return None;
    }
    let languages = match job.within {
        Scope::Global => "; --within extension compares only files of one language",
        _ => "",
    };
    let message = format!(
        "tokenizer: {count} of {} files are source code by their names; operators and brackets are no \
         words by default, so a + b equals a - b (--tokenizer code-and-comments compares them, \
         --tokenizer code leaves comments out{languages})",
        sources.len()
    );
    Some((count as u64, message))
}

/// Whether a source is one document, and has the name of a file of source code.
fn is_code(source: &Source) -> bool {
    let extension = source.path.extension().and_then(|name| name.to_str());
    let is_listed = |name: &str| EXTENSIONS.contains(&format!(" {} ", name.to_ascii_lowercase()));
    source.format.is_whole_file() && extension.is_some_and(is_listed)
}
