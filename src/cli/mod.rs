//! What did the user ask? Flags become validated jobs; one file per subcommand.

pub mod generate;
pub mod size;
