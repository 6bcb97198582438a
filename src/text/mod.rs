//! What is a word?
