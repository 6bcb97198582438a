//! Which bytes can be trusted?
