//! From texts to sketches: words, corpus statistics, methods, and the sketches of all documents.

pub mod collection;
pub mod counting;
pub mod methods;
pub mod sketcher;
pub mod text_words;
