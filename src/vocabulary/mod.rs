//! Which words count?
