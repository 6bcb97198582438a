//! How does the work run?
