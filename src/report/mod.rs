//! What do people see?
