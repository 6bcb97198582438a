//! What is a document's essence?
