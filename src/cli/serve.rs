//! `simtool serve`: an index of seen documents over HTTP.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use simtool::corpus::Reading;
use simtool::index::{Options, enclosing, is_unused};
use simtool::io::remote::Client;
use simtool::jobs::seen::{IndexSettings, Seen};
use simtool::{Error, ErrorKind, Result};
use simtool_serve::{Config, Limits, Log};

use super::index::settings_flags::SettingsArgs;
use super::index::stored_flags::DumpArgs;
use crate::cli::process::machine;
use crate::cli::process::session::Session;
use crate::cli::screen;
use crate::cli::screen::log::Log as CommandLog;
use crate::cli::screen::message;
use crate::cli::values::number;
use crate::cli::values::size::parse_size;

/// Look documents up in an index over HTTP
///
/// Makes an empty index if the directory is missing or empty. Prints the address when it is ready.
/// Ends on SIGTERM or Ctrl-C, after answering the requests in progress. Every addition that it has
/// acknowledged is durable.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct ServeArgs {
    /// The directory of the index
    #[arg(value_name = "DIR")]
    index: PathBuf,

    /// Address and port; port 0 chooses a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8750")]
    listen: SocketAddr,

    /// Open the index for reading only
    #[arg(long)]
    read_only: bool,

    /// Log of requests on standard error
    #[arg(long, value_name = "FORM", default_value = "none")]
    log: RequestLog,

    /// Directory for copies of the index, which clients may request: POST /v1/copies
    #[arg(long, value_name = "DIR")]
    copies: Option<PathBuf>,

    #[command(flatten)]
    dump: DumpArgs,

    #[command(flatten)]
    settings: SettingsArgs,

    /// File of the token that clients must send: Authorization: Bearer TOKEN
    #[arg(long, value_name = "FILE", help_heading = "Protection")]
    token_file: Option<PathBuf>,

    /// Listen on other addresses than localhost without a token
    #[arg(long, help_heading = "Protection")]
    insecure: bool,

    /// Certificate chain for HTTPS, PEM
    #[cfg(feature = "tls")]
    #[arg(
        long,
        value_name = "FILE",
        requires = "tls_key",
        help_heading = "Protection"
    )]
    tls_cert: Option<PathBuf>,

    /// Key of the certificate, PEM
    #[cfg(feature = "tls")]
    #[arg(
        long,
        value_name = "FILE",
        requires = "tls_cert",
        help_heading = "Protection"
    )]
    tls_key: Option<PathBuf>,

    /// Threads that make sketches and search [default: one for each processor]
    #[arg(
        long, value_name = "COUNT", value_parser = number::within(1, 1024),
        help_heading = "Limits"
    )]
    threads: Option<usize>,

    /// Bytes of a body, or of a line of a batch
    #[arg(
        long, value_name = "SIZE", default_value = "16M", value_parser = parse_size,
        help_heading = "Limits"
    )]
    max_body: u64,

    /// Bytes of all bodies and lines of batches until they are answered; further ones wait
    #[arg(
        long, value_name = "SIZE", default_value = "512M", value_parser = parse_size,
        help_heading = "Limits"
    )]
    max_bodies: u64,

    /// Requests at once, half of which may be additions, removals, batches and copies; further ones
    /// get status 503
    #[arg(
        long, value_name = "COUNT", default_value = "256", value_parser = number::within(1, 65_536),
        help_heading = "Limits"
    )]
    max_requests: usize,

    /// Open connections; further ones wait
    #[arg(
        long, value_name = "COUNT", default_value = "1024",
        value_parser = number::within(1, 65_536), help_heading = "Limits"
    )]
    max_connections: usize,

    /// Seconds to send the head of a request
    #[arg(
        long, value_name = "SECONDS", default_value = "10", value_parser = number::within(1, 3600),
        help_heading = "Limits"
    )]
    header_timeout: usize,

    /// Seconds for a body, for an answer, for each line of a batch, and for a client to read a part
    /// of an answer
    #[arg(
        long, value_name = "SECONDS", default_value = "30", value_parser = number::within(1, 3600),
        help_heading = "Limits"
    )]
    request_timeout: usize,

    /// Seconds that requests may take when the service ends
    #[arg(
        long, value_name = "SECONDS", default_value = "20", value_parser = number::within(0, 3600),
        help_heading = "Limits"
    )]
    grace: usize,
}

/// The log of requests on standard error.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum RequestLog {
    /// Nothing
    None,
    /// A JSON object per line for each request
    Json,
}

const EXAMPLES: &str = "\
Examples:
  simtool serve seen
          An index, a new one if `seen` does not exist, at http://127.0.0.1:8750/
  curl -d '{\"text\":\"...\",\"id\":\"a\",\"add\":true}' http://127.0.0.1:8750/v1/seen
          Has this been seen? If not, add it
  simtool serve seen --method content-seen --listen 0.0.0.0:8750 --token-file token
          Fingerprints of another kind, for other machines, which must send the token

Exit codes:
  0 ended by a signal, 2 an error.";

/// The most bytes of a token.
const MAX_TOKEN_BYTES: u64 = 4096;

/// Serves until a signal.
///
/// # Errors
/// Errors of the flags, of the index and of the service.
pub fn run(args: &ServeArgs) -> Result<()> {
    let token = args.token_file.as_deref().map(token).transpose()?;
    if token.is_none() && !args.listen.ip().is_loopback() && !args.insecure {
        let message = format!(
            "--listen {}: anyone could query and change the index (give a --token-file, or add \
             --insecure)",
            args.listen
        );
        return Err(Error::new(ErrorKind::Parameter, message));
    }
    let seconds = |seconds: usize| Duration::from_secs(seconds as u64);
    let body_bytes = usize::try_from(args.max_body).unwrap_or(usize::MAX);
    let bodies = usize::try_from(args.max_bodies).unwrap_or(usize::MAX);
    if body_bytes == 0 || bodies < body_bytes || bodies as u64 > 1 << 40 {
        let message = format!(
            "--max-body {}, --max-bodies {}: expected 1 <= --max-body <= --max-bodies <= 1T",
            args.max_body, args.max_bodies
        );
        return Err(Error::new(ErrorKind::Parameter, message));
    }
    let config = Config {
        listen: args.listen,
        limits: Limits {
            body_bytes,
            memory_bytes: bodies,
            requests: args.max_requests,
            connections: args.max_connections,
            header: seconds(args.header_timeout),
            request: seconds(args.request_timeout),
            document: seconds(args.request_timeout),
            grace: seconds(args.grace),
        },
        token,
        threads: args.threads.unwrap_or_else(machine::all_cores),
        log: match args.log {
            RequestLog::None => Log::Failures(message::say),
            RequestLog::Json => Log::Json,
        },
        tls: certificate(args),
        copies: args.copies.as_deref().map(place_of_copies).transpose()?,
        dump: args.dump.label.clone(),
    };
    let scheme = if config.tls.is_some() {
        "https"
    } else {
        "http"
    };
    Session::new(CommandLog::SILENT, &Client::new()).run(|progress| {
        simtool_serve::run(
            || open(args),
            config,
            progress,
            |address| screen::print(format!("{scheme}://{address}/\n").as_bytes()),
        )
    })
}

#[cfg(feature = "tls")]
fn certificate(args: &ServeArgs) -> Option<(PathBuf, PathBuf)> {
    args.tls_cert.clone().zip(args.tls_key.clone())
}

#[cfg(not(feature = "tls"))]
fn certificate(_: &ServeArgs) -> Option<(PathBuf, PathBuf)> {
    None
}

/// Opens the index, or makes one if the directory is unused and may be written.
fn open(args: &ServeArgs) -> Result<Seen> {
    let level = machine::level()?;
    let options = Options {
        read_only: args.read_only,
        merge_apart: true,
        // Additions wait while recent documents are sealed.
        seal_documents: 1 << 14,
        ..Options::default()
    };
    // An unfinished index may have been built from documents, which an empty one would lack.
    let is_new = !args.read_only && is_unused(&args.index)?;
    if !is_new {
        return Seen::open(
            &args.index,
            &args.settings.wanted(&args.index)?,
            level,
            &options,
        );
    }
    let input_settings = args.settings.input_settings(Reading::default())?;
    let made = IndexSettings::without_collection(
        args.settings.spec()?,
        &input_settings,
        args.settings.similarity,
    )?;
    Seen::create(&args.index, args.settings.made(made)?, level, &options)
}

/// The directory of copies, which must exist outside any index.
fn place_of_copies(path: &Path) -> Result<PathBuf> {
    if let Some(index) = enclosing(&path.join("copy")) {
        let message = format!("--copies: is inside the index {}", index.display());
        return Err(Error::new(ErrorKind::Parameter, message).in_file(path));
    }
    match path.is_dir() {
        true => Ok(path.to_owned()),
        false => {
            let message = "--copies: is not a directory (create it first)";
            Err(Error::new(ErrorKind::Parameter, message).in_file(path))
        }
    }
}

/// The token in a file, without white space around it.
fn token(path: &Path) -> Result<Vec<u8>> {
    let wrong = |message: &str| Error::new(ErrorKind::Parameter, message).in_file(path);
    let unreadable = |cause| Error::unreadable(path, cause);
    if std::fs::metadata(path).map_err(unreadable)?.len() > MAX_TOKEN_BYTES {
        return Err(wrong("is too long for a token: at most 4096 bytes"));
    }
    let token = std::fs::read(path)
        .map_err(unreadable)?
        .trim_ascii()
        .to_vec();
    match token.iter().all(u8::is_ascii_graphic) && token.len() >= 16 {
        true => Ok(token),
        false => Err(wrong(
            "expected a token of at least 16 visible ASCII characters (openssl rand -hex 32)",
        )),
    }
}
