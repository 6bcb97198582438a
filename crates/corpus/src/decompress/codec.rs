//! Decoders of gzip members and zstd frames.

use crate::{Error, ErrorKind, Result};
use flate2::{Decompress, FlushDecompress, Status};
use std::path::Path;
use zstd::stream::raw::{DParameter, Decoder, Operation};
use zstd::zstd_safe;

/// The maximum number of decompressed bytes of a step. A zstd block has no more (RFC 8878, 3.1.1.2.4).
pub(super) const STEP_BYTES: usize = 128 << 10;

/// The first bytes of a gzip member; the third is the only compression method, deflate.
pub(crate) const GZIP_MAGIC: [u8; 3] = [0x1f, 0x8b, 0x08];

/// The first bytes of a zstd frame, little-endian.
pub(crate) const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The number of bytes needed to recognise a member and for [`Codec::begin`]: the longest header of
/// a zstd frame.
pub(super) const HEADER_BYTES: usize = 18;

/// The number of bytes of a zstd frame to read first.
const ZSTD_FIRST_BYTES: usize = 5;

/// The largest window of a zstd frame is 128 MiB, as for the program `zstd` without flags.
const WINDOW_LOG: u32 = 27;

/// Levels up to 19 need a window of at most 8 MiB.
const SMALL_WINDOW_LOG: u32 = 23;

/// Decompresses one member after another.
pub(super) enum Codec {
    Gzip(Decompress),
    Zstd {
        decoder: Box<Decoder<'static>>,
        /// The maximum number of decompressed bytes left in the frame.
        bytes_left: u64,
        /// The bytes of the frame's window.
        window: u64,
        /// The number of bytes to the end of the next block. No more are fed, so the blocks before a
        /// damaged one are always returned, however the file is read.
        wanted: usize,
        block: Vec<u8>,
    },
}

/// The result of a step.
pub(super) enum Outcome {
    /// More follows.
    Going,
    /// The member ended and its checksum is valid.
    Ended,
    /// The member is damaged; the description.
    Corrupt(String),
}

impl Codec {
    /// A codec for gzip members (RFC 1952).
    pub(super) fn gzip() -> Codec {
        Codec::Gzip(Decompress::new_gzip(15))
    }

    /// A codec for zstd frames (RFC 8878) of the file at `path`. Windows of more than
    /// [`WINDOW_LOG`] bits are refused.
    pub(super) fn zstd(path: &Path) -> Result<Codec> {
        Codec::zstd_within(WINDOW_LOG, path)
    }

    /// Another codec of this kind that needs less memory. It may refuse frames that this one accepts;
    /// otherwise its output is the same.
    pub(super) fn small(&self, path: &Path) -> Result<Codec> {
        match self {
            Codec::Gzip(_) => Ok(Codec::gzip()),
            Codec::Zstd { .. } => Codec::zstd_within(SMALL_WINDOW_LOG, path),
        }
    }

    fn zstd_within(window_log: u32, path: &Path) -> Result<Codec> {
        let decoder = Decoder::new().and_then(|mut decoder| {
            decoder.set_parameter(DParameter::WindowLogMax(window_log))?;
            Ok(decoder)
        });
        let decoder = decoder.map_err(|cause| {
            Error::new(ErrorKind::Memory, "no memory to decompress it")
                .in_file(path)
                .caused_by(cause)
        })?;
        Ok(Codec::Zstd {
            decoder: Box::new(decoder),
            bytes_left: 0,
            window: 0,
            wanted: ZSTD_FIRST_BYTES,
            block: vec![0; STEP_BYTES],
        })
    }

    /// The name of a member in messages.
    pub(super) fn member_name(&self) -> &'static str {
        match self {
            Codec::Gzip(_) => "gzip member",
            Codec::Zstd { .. } => "zstd frame",
        }
    }

    /// The first bytes of every member, except skippable zstd frames.
    pub(super) fn magic(&self) -> &'static [u8] {
        match self {
            Codec::Gzip(_) => &GZIP_MAGIC,
            Codec::Zstd { .. } => &ZSTD_MAGIC,
        }
    }

    /// Whether a member may begin with `header`, which is shorter at the end of the file.
    pub(super) fn begins(&self, header: &[u8]) -> bool {
        if header.len() < self.magic().len() {
            return self.magic().starts_with(header);
        }
        match self {
            // The upper three flags are reserved.
            Codec::Gzip(_) => {
                header.starts_with(self.magic())
                    && header.get(3).is_none_or(|flags| flags & 0xe0 == 0)
            }
            Codec::Zstd { .. } => is_zstd(header),
        }
    }

    /// Prepares for the next member, which begins with `header`. Returns the decompressed length that
    /// the header claims, if any.
    pub(super) fn begin(&mut self, header: &[u8]) -> Option<u64> {
        match self {
            Codec::Gzip(inflate) => {
                inflate.reset(true);
                None
            }
            Codec::Zstd {
                decoder,
                bytes_left,
                window,
                wanted,
                ..
            } => {
                // Cannot fail: it only resets the state.
                let _ = decoder.reinit();
                let claim = zstd_safe::get_frame_content_size(header).ok().flatten();
                *bytes_left = claim.unwrap_or(u64::MAX);
                *window = window_bytes(header, claim);
                *wanted = ZSTD_FIRST_BYTES;
                claim
            }
        }
    }

    /// Decompresses some bytes of `input`, which must not be empty, into the spare capacity of `out`.
    /// Returns the number of bytes consumed.
    pub(super) fn step(&mut self, input: &[u8], out: &mut Vec<u8>) -> (usize, Outcome) {
        match self {
            Codec::Gzip(inflate) => {
                let before = inflate.total_in();
                let status = inflate.decompress_vec(input, out, FlushDecompress::None);
                let used = (inflate.total_in() - before) as usize;
                let outcome = match status {
                    Ok(Status::StreamEnd) => Outcome::Ended,
                    Ok(Status::Ok) => Outcome::Going,
                    // No progress although there is input and spare capacity.
                    Ok(Status::BufError) if used > 0 => Outcome::Going,
                    Ok(Status::BufError) => Outcome::Corrupt("no progress".into()),
                    Err(error) => Outcome::Corrupt(match error.message() {
                        Some(message) => message.to_owned(),
                        None => "invalid deflate stream".to_owned(),
                    }),
                };
                (used, outcome)
            }
            Codec::Zstd {
                decoder,
                bytes_left,
                window,
                wanted,
                block,
            } => {
                let fed = &input[..input.len().min((*wanted).max(1))];
                // The error of zstd for a damaged frame depends on the buffers of earlier frames, and
                // so does whether it returns more bytes than the frame claims.
                let Ok(status) = decoder.run_on_buffers(fed, block) else {
                    let message = match *window > 1 << WINDOW_LOG {
                        true => format!(
                            "its window of {} MiB is larger than the {} MiB that are supported \
                             (decompress the file with zstd -d --long=31)",
                            *window >> 20,
                            (1_u64 << WINDOW_LOG) >> 20
                        ),
                        false => "invalid zstd frame".to_owned(),
                    };
                    return (0, Outcome::Corrupt(message));
                };
                let Some(left) = bytes_left.checked_sub(status.bytes_written as u64) else {
                    return (0, Outcome::Corrupt("invalid zstd frame".into()));
                };
                *bytes_left = left;
                *wanted = status.remaining;
                out.extend_from_slice(&block[..status.bytes_written]);
                let outcome = match status.remaining {
                    0 => Outcome::Ended,
                    _ if status.bytes_read + status.bytes_written == 0 => {
                        Outcome::Corrupt("no progress".into())
                    }
                    _ => Outcome::Going,
                };
                (status.bytes_read, outcome)
            }
        }
    }
}

/// The bytes of the window of the zstd frame that begins with `header` and claims a decompressed
/// length (RFC 8878, 3.1.1.1.2); 0 if the header is cut.
fn window_bytes(header: &[u8], claim: Option<u64>) -> u64 {
    const IS_SINGLE_SEGMENT: u8 = 1 << 5;
    match *header {
        [_, _, _, _, descriptor, ..] if descriptor & IS_SINGLE_SEGMENT != 0 => claim.unwrap_or(0),
        [_, _, _, _, _, window, ..] => {
            let base = 1_u64 << (10 + (window >> 3));
            base + base / 8 * u64::from(window & 7)
        }
        _ => 0,
    }
}

/// Whether `header` begins a zstd frame or a skippable one.
pub(crate) fn is_zstd(header: &[u8]) -> bool {
    match header {
        [first, 0x2a, 0x4d, 0x18, ..] => first & 0xf0 == 0x50,
        _ => header.starts_with(&ZSTD_MAGIC),
    }
}
