//! `simtool serve`: has this been seen? Asked over HTTP.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use simtool::corpus::Reading;
use simtool::index::{Options, enclosing, is_unused};
use simtool::run::Progress;
use simtool::run::seen::{Seen, Settings};
use simtool::{Error, ErrorKind, Result};

use super::index::settings_flags::SettingsArgs;
use super::interrupt::stoppable;
use super::size::parse_size;
use super::{machine, message, number, screen};
use crate::serve::{Config, Limits, Log};

/// Answer over HTTP whether documents have been seen
///
/// Makes an empty index if the directory is missing or empty. Prints the address when it answers.
/// Ends on SIGTERM or Ctrl-C, when what it has begun is answered; what it has answered to be added
/// is durable, whatever happens.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct ServeArgs {
    /// The directory of the index
    #[arg(value_name = "DIR")]
    index: PathBuf,

    /// Address and port; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8750")]
    listen: SocketAddr,

    /// Open the index for reading only
    #[arg(long)]
    read_only: bool,

    /// What to tell of each request on standard error
    #[arg(long, value_name = "FORM", default_value = "none")]
    log: LogForm,

    /// Directory for copies of the index, which callers may ask for: POST /v1/copies
    #[arg(long, value_name = "DIR")]
    copies: Option<PathBuf>,

    #[command(flatten)]
    settings: SettingsArgs,

    /// File of the token that callers have to send: Authorization: Bearer TOKEN
    #[arg(long, value_name = "FILE", help_heading = "Protection")]
    token_file: Option<PathBuf>,

    /// Listen for others than this machine without a token
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

    /// Bytes of all bodies and lines of batches until they are answered; others wait
    #[arg(
        long, value_name = "SIZE", default_value = "512M", value_parser = parse_size,
        help_heading = "Limits"
    )]
    max_bodies: u64,

    /// Requests at once, half of which may be additions, removals, batches and copies; others are
    /// told to come back
    #[arg(
        long, value_name = "COUNT", default_value = "256", value_parser = number::within(1, 65_536),
        help_heading = "Limits"
    )]
    max_requests: usize,

    /// Open connections; others wait
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

    /// Seconds for a body, for an answer, for each line of a batch, and for some of an answer to be
    /// read
    #[arg(
        long, value_name = "SECONDS", default_value = "30", value_parser = number::within(1, 3600),
        help_heading = "Limits"
    )]
    request_timeout: usize,

    /// Seconds that requests have to end when the service ends
    #[arg(
        long, value_name = "SECONDS", default_value = "20", value_parser = number::within(0, 3600),
        help_heading = "Limits"
    )]
    grace: usize,
}

/// The values of --log.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum LogForm {
    /// Nothing
    None,
    /// A JSON object a line for each request
    Json,
}

const EXAMPLES: &str = "\
Examples:
  simtool serve seen
          An index, a new one if there is no `seen` yet, at http://127.0.0.1:8750/
  curl -d '{\"text\":\"...\",\"id\":\"a\",\"add\":true}' http://127.0.0.1:8750/v1/seen
          Has this been seen? If not, it is from now on
  simtool serve seen --method content-seen --listen 0.0.0.0:8750 --token-file token
          Fingerprints of another kind, for other machines, which have to know the token

Exit codes:
  0 ended as it was asked to, 2 an error.";

/// More bytes are no token.
const MOST_TOKEN_BYTES: u64 = 4096;

/// Serves until a signal.
///
/// # Errors
/// Whatever stands in the way.
pub fn run(args: &ServeArgs) -> Result<()> {
    let token = args.token_file.as_deref().map(token).transpose()?;
    if token.is_none() && !args.listen.ip().is_loopback() && !args.insecure {
        let message = format!(
            "--listen {}: anybody could ask and change the index (give a --token-file, or say \
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
            "--max-body {}, --max-bodies {}: expected at least 1, as many or more, and at most 1T",
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
            grace: seconds(args.grace),
        },
        token,
        threads: args.threads.unwrap_or_else(machine::all_cores),
        log: match args.log {
            LogForm::None => Log::Quiet,
            LogForm::Json => Log::Json,
        },
        tls: certificate(args),
        copies: args.copies.as_deref().map(place_of_copies).transpose()?,
    };
    let progress = Arc::new(Progress::new());
    let _stoppable = stoppable(&progress);
    let scheme = if config.tls.is_some() {
        "https"
    } else {
        "http"
    };
    let open = || {
        let seen = open(args)?;
        if let Some(text) = seen.accidents() {
            message::say(&text);
        }
        Ok(seen)
    };
    crate::serve::run(open, config, &progress, |address| {
        screen::print(format!("{scheme}://{address}/\n").as_bytes())
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

/// The index; a new one if there is nothing in its place.
fn open(args: &ServeArgs) -> Result<Seen> {
    let level = machine::level()?;
    let options = Options {
        read_only: args.read_only,
        merge_apart: true,
        ..Options::default()
    };
    // An unfinished index may have been built of documents, which an empty one would not know.
    let is_new = !args.read_only && is_unused(&args.index)?;
    if !is_new {
        return Seen::open(&args.index, &args.settings.wanted()?, level, &options);
    }
    let manner = args.settings.manner(Reading::default())?;
    let settings = Settings::without_collection(args.settings.spec()?, &manner)?;
    Seen::create(&args.index, settings, level, &options)
}

/// The directory of copies, which has to be there.
fn place_of_copies(path: &Path) -> Result<PathBuf> {
    if let Some(index) = enclosing(&path.join("copy")) {
        let message = format!("--copies: is inside the index {}", index.display());
        return Err(Error::new(ErrorKind::Parameter, message).in_file(path));
    }
    match path.is_dir() {
        true => Ok(path.to_owned()),
        false => {
            let message = "--copies: is no directory (make it first)";
            Err(Error::new(ErrorKind::Parameter, message).in_file(path))
        }
    }
}

/// The token in a file: all of it but white space around it.
fn token(path: &Path) -> Result<Vec<u8>> {
    let wrong = |message: &str| Error::new(ErrorKind::Parameter, message).in_file(path);
    let unreadable = |cause| {
        Error::new(ErrorKind::Read, "cannot be read")
            .in_file(path)
            .caused_by(cause)
    };
    if std::fs::metadata(path).map_err(unreadable)?.len() > MOST_TOKEN_BYTES {
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
