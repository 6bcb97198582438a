//! The most frequent English words, in descending order.

use std::sync::LazyLock;

/// Function words, roughly by frequency: the ranks from 0 on of the English lexicon, and the start of
/// stopwords.txt. All differ and are lower-case ASCII letters.
pub(super) static FUNCTION_WORDS: LazyLock<Vec<&str>> =
    LazyLock::new(|| WORDS.split_ascii_whitespace().collect());

const WORDS: &str = "\
    the of and to a in is that it for i you was with on as be are this not have by or at but \
    from they if he his an we can will there which all what one has their do would no about so \
    were more my when had who your some any been out up her she them other than only its like \
    just into then also how me him could may these get because should very does over even many \
    now such most those our use two first after make much where did between being us same both \
    each through before own too might while since must well without under however here off still \
    another against few every down again around though why until never always within himself \
    whether whose yet during upon above below else rather either nor almost often themselves \
    itself myself cannot ever shall whom once perhaps already among per quite toward less";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_differ_and_are_lower_case_letters() {
        let mut words = FUNCTION_WORDS.to_vec();
        words.sort_unstable();
        words.dedup();
        assert_eq!((words.len(), FUNCTION_WORDS.len()), (160, 160));
        assert!(words.concat().bytes().all(|byte| byte.is_ascii_lowercase()));
    }
}
