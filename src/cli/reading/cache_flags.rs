//! The flags of the cache of objects, of every command that reads inputs.

use std::path::PathBuf;

use clap::{ArgMatches, Args};
use simtool::Result;
use simtool::io::remote::Client;

use crate::cli::screen::message;
use crate::cli::values::size::parse_size;

/// The cache of what is read from servers.
#[derive(Args, Clone, Debug)]
pub struct CacheArgs {
    /// Directory that keeps what is read from servers, for later readings and runs
    #[arg(long, value_name = "DIR", help_heading = "Resources")]
    pub cache: Option<PathBuf>,

    /// Most bytes of the cache; what was not used for longest is removed [default: 10G]
    #[arg(
        long, value_name = "SIZE", value_parser = parse_size, requires = "cache",
        help_heading = "Resources"
    )]
    pub cache_size: Option<u64>,
}

/// The most bytes of a cache, if no flag says it.
const CACHE_BYTES: u64 = 10 << 30;

/// Sets the cache of `client` to that of the flags `matches`, if the command has these flags.
///
/// # Errors
/// Errors of [`Client::set_cache`].
pub fn set(client: &Client, matches: &ArgMatches) -> Result<()> {
    let directory = matches.try_get_one::<PathBuf>("cache").ok().flatten();
    let bytes = matches.try_get_one::<u64>("cache_size").ok().flatten();
    let bytes = bytes.map_or(CACHE_BYTES, |bytes| *bytes);
    let cache = directory.map(|path| (path.as_path(), bytes));
    client.set_cache(cache, message::warn)
}
