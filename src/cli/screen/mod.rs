//! Standard output: exact bytes for files and pipes, visible ones for a terminal.

pub mod amount;
pub mod log;
pub mod message;
pub mod shown_cost;
pub mod timings;
pub mod visible;
pub mod watch;

use std::fs::File;
use std::io::{self, IsTerminal, StdoutLock, Write};
use std::os::unix::fs::FileExt;

use simtool::{Error, ErrorKind, Result};

use self::visible::{incomplete_tail, visible};

/// Bytes of a copying step.
const STEP_BYTES: u64 = 64 << 10;
/// The width of an output that is not a terminal.
const USUAL_WIDTH: usize = 100;
/// The least width of a terminal; narrower ones wrap lines.
const NARROWEST: usize = 40;

/// The width of the terminal on standard output, at least 40; 100 without a terminal.
pub fn width() -> usize {
    let size = terminal_size::terminal_size_of(io::stdout());
    size.map_or(USUAL_WIDTH, |(width, _)| {
        usize::from(width.0).max(NARROWEST)
    })
}

/// Prints trusted text unchanged. A closed pipe is not an error.
///
/// # Errors
/// [`ErrorKind::Write`] if standard output cannot be written.
pub fn print(text: &[u8]) -> Result<()> {
    let mut out = io::stdout().lock();
    quietly(out.write_all(text).and_then(|()| out.flush()))
}

/// Prints the first `bytes` bytes of `file`: unchanged to files and pipes, with control characters
/// made visible on a terminal. Memory does not depend on the length. A closed pipe is not an error.
///
/// # Errors
/// [`ErrorKind::Write`] if standard output cannot be written or the file cannot be read back.
pub fn copy(file: &File, bytes: u64) -> Result<()> {
    let mut out = io::stdout().lock();
    let is_terminal = out.is_terminal();
    let copied = copy_steps(file, bytes, &mut |step| show(&mut out, step, is_terminal));
    quietly(copied.and_then(|()| out.flush()))
}

/// Passes the first `bytes` bytes of `file` to `write`, which returns how many of the last bytes it
/// needs again before the next ones.
fn copy_steps(
    file: &File,
    bytes: u64,
    write: &mut dyn FnMut(Step<'_>) -> io::Result<usize>,
) -> io::Result<()> {
    let mut buffer = vec![0; STEP_BYTES.min(bytes) as usize];
    let mut done = 0;
    while done < bytes {
        let wanted = (bytes - done).min(STEP_BYTES) as usize;
        let step = &mut buffer[..wanted];
        file.read_exact_at(step, done)?;
        done += wanted as u64;
        let is_last = done == bytes;
        let left = write(Step {
            bytes: step,
            is_last,
        })?;
        done -= left as u64;
    }
    Ok(())
}

struct Step<'a> {
    bytes: &'a [u8],
    is_last: bool,
}

fn show(out: &mut StdoutLock<'_>, step: Step<'_>, is_terminal: bool) -> io::Result<usize> {
    if !is_terminal {
        out.write_all(step.bytes)?;
        return Ok(0);
    }
    // A character that continues in the next step is shown with that step.
    let left = if step.is_last {
        0
    } else {
        incomplete_tail(step.bytes)
    };
    let whole = &step.bytes[..step.bytes.len() - left];
    out.write_all(visible(whole).as_bytes())?;
    Ok(left)
}

/// The result of writing to standard output; a closed pipe is not an error.
///
/// # Errors
/// [`ErrorKind::Write`] for any other cause.
pub fn quietly(written: io::Result<()>) -> Result<()> {
    match written {
        Err(cause) if cause.kind() != io::ErrorKind::BrokenPipe => {
            let message = "cannot be written";
            let error = Error::new(ErrorKind::Write, message);
            Err(error.in_file("standard output").caused_by(cause))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_cover_all_bytes_whatever_is_passed_again() {
        let text: Vec<u8> = (0..200_000_u32).map(|number| number as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&text).unwrap();
        for bytes in [0, 1, 65_535, 65_536, 65_537, 200_000] {
            for again in 0..4 {
                let mut seen = Vec::new();
                let mut keep = |step: Step<'_>| {
                    let left = if step.is_last { 0 } else { again };
                    seen.extend_from_slice(&step.bytes[..step.bytes.len() - left]);
                    Ok(left)
                };
                copy_steps(&file, bytes, &mut keep).unwrap();
                assert!(seen == text[..bytes as usize], "{bytes} {again}");
            }
        }
    }

    #[test]
    fn a_closed_pipe_is_not_an_error() {
        assert!(quietly(Err(io::ErrorKind::BrokenPipe.into())).is_ok());
        let error = quietly(Err(io::ErrorKind::StorageFull.into())).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("standard output: cannot be written")
        );
    }
}
