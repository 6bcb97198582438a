//! Gzip members and zstd frames, one at a time.

use crate::{Error, ErrorKind, Result};
use flate2::{Decompress, FlushDecompress, Status};
use std::path::Path;
use zstd::stream::raw::{DParameter, Decoder, Operation};
use zstd::zstd_safe;

/// The room for a step of decompression. A block of zstd comes to no more (RFC 8878, 3.1.1.2.4).
pub(super) const STEP_BYTES: usize = 128 << 10;

/// The bytes that a gzip member begins with; the third says that it is deflated, as all are.
pub(in crate::corpus) const GZIP_MAGIC: [u8; 3] = [0x1f, 0x8b, 0x08];

/// The bytes that tell where a zstd frame begins, little-endian.
pub(in crate::corpus) const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The bytes that show whether a member begins, and what [`Codec::begin`] has to know: the longest
/// header of a zstd frame.
pub(super) const HEADER_BYTES: usize = 18;

/// The bytes of a zstd frame that are to be read first.
const ZSTD_FIRST_BYTES: usize = 5;

/// The largest window of a zstd frame is 128 MiB, as for the program `zstd` without flags.
const WINDOW_LOG: u32 = 27;

/// A window of 8 MiB is what levels up to 19 ask for.
const SMALL_WINDOW_LOG: u32 = 23;

/// Decompresses one member after another.
pub(super) enum Codec {
    Gzip(Decompress),
    Zstd {
        decoder: Box<Decoder<'static>>,
        /// How much is still to come out of the frame at most.
        room: u64,
        /// How many bytes bring the next block to its end; more are not fed, so that what stands
        /// before a damaged block comes out whatever the blocks of the file are.
        wanted: usize,
        block: Vec<u8>,
    },
}

/// What a step came to.
pub(super) enum Outcome {
    /// There is more.
    Going,
    /// The member ended and its checksum is right.
    Ended,
    /// The member is damaged: what is wrong.
    Corrupt(String),
}

impl Codec {
    /// For gzip members (RFC 1952).
    pub(super) fn gzip() -> Codec {
        Codec::Gzip(Decompress::new_gzip(15))
    }

    /// For zstd frames (RFC 8878) of the file at `path`. Windows of more than
    /// [`WINDOW_LOG`] bits are refused.
    pub(super) fn zstd(path: &Path) -> Result<Codec> {
        Codec::zstd_within(WINDOW_LOG, path)
    }

    /// Another one of its kind, that takes less memory: it may refuse what this one does not, but
    /// nothing comes out of it that would not come out of this one.
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
            room: 0,
            wanted: ZSTD_FIRST_BYTES,
            block: vec![0; STEP_BYTES],
        })
    }

    /// What it decompresses, for messages.
    pub(super) fn member_name(&self) -> &'static str {
        match self {
            Codec::Gzip(_) => "gzip member",
            Codec::Zstd { .. } => "zstd frame",
        }
    }

    /// The bytes that every member begins with, but for zstd frames that are to be skipped.
    pub(super) fn magic(&self) -> &'static [u8] {
        match self {
            Codec::Gzip(_) => &GZIP_MAGIC,
            Codec::Zstd { .. } => &ZSTD_MAGIC,
        }
    }

    /// Whether a member may begin with these bytes, or with what is left of them at the file's end.
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

    /// Makes ready for the next member, which begins with these bytes; says how long it claims to
    /// be, decompressed, if it does.
    pub(super) fn begin(&mut self, header: &[u8]) -> Option<u64> {
        match self {
            Codec::Gzip(inflate) => {
                inflate.reset(true);
                None
            }
            Codec::Zstd {
                decoder,
                room,
                wanted,
                ..
            } => {
                // Cannot fail: it only sets the state back.
                let _ = decoder.reinit();
                let claim = zstd_safe::get_frame_content_size(header).ok().flatten();
                *room = claim.unwrap_or(u64::MAX);
                *wanted = ZSTD_FIRST_BYTES;
                claim
            }
        }
    }

    /// Decompresses some of `input`, which is not empty, into the room that `out` has; says how
    /// many bytes of it are used up.
    pub(super) fn step(&mut self, input: &[u8], out: &mut Vec<u8>) -> (usize, Outcome) {
        match self {
            Codec::Gzip(inflate) => {
                let before = inflate.total_in();
                let status = inflate.decompress_vec(input, out, FlushDecompress::None);
                let used = (inflate.total_in() - before) as usize;
                let outcome = match status {
                    Ok(Status::StreamEnd) => Outcome::Ended,
                    Ok(Status::Ok) => Outcome::Going,
                    // No progress although there is input and room.
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
                room,
                wanted,
                block,
            } => {
                let fed = &input[..input.len().min((*wanted).max(1))];
                // What zstd says of a damaged frame, and whether it lets out more than the frame
                // claims to hold, depends on buffers left from the frames before.
                let Ok(status) = decoder.run_on_buffers(fed, block) else {
                    return (0, Outcome::Corrupt("invalid zstd frame".into()));
                };
                let Some(left) = room.checked_sub(status.bytes_written as u64) else {
                    return (0, Outcome::Corrupt("invalid zstd frame".into()));
                };
                *room = left;
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

/// Whether these are the first bytes of a zstd frame, or of one that is to be skipped.
pub(in crate::corpus) fn is_zstd(header: &[u8]) -> bool {
    match header {
        [first, 0x2a, 0x4d, 0x18, ..] => first & 0xf0 == 0x50,
        _ => header.starts_with(&ZSTD_MAGIC),
    }
}
