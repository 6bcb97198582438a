//! Documents with the same words or the same URL, and the order in which copies are kept.

pub(super) mod keep_ranks;
pub(super) mod leader_list;
mod repeats;
pub(super) mod same_url;
pub(super) mod same_words;
