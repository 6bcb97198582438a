//! Requests that change a bucket or describe its objects.

use bytes::Bytes;
use object_store::multipart::PartId;
use object_store::{ObjectMeta, ObjectStoreExt, PutMode, PutOptions};

use super::requests::{Answer, answered, failure, recorded};
use super::stores::{Bucket, key};
use crate::Location;
use crate::directory::{Condition, Put, Stored};
use crate::identity::opaque;
use crate::requests::answer::{Failure, error_code};

type Attempt<T> = std::result::Result<T, Failure>;

/// Writes an object.
pub(crate) async fn put(
    bucket: &dyn Bucket,
    location: &Location,
    bytes: Bytes,
    condition: Condition,
) -> Attempt<Put> {
    let size = bytes.len() as u64;
    let is_new = condition == Condition::New;
    let mode = match is_new {
        true => PutMode::Create,
        false => PutMode::Overwrite,
    };
    let key = key(location)?;
    let request = bucket.put_opts(&key, bytes.into(), PutOptions::from(mode));
    match recorded(request).await {
        (Ok(result), _) => Ok(Put::Stored(stored(size, result.e_tag, None))),
        (Err(error), Some(Answer::Refusal(head, body))) if is_new => {
            match head.status.as_u16() {
                304 | 412 => Ok(Put::Exists),
                // Another request for the same object is under way.
                409 if error_code(&body) == Some("ConditionalRequestConflict") => {
                    Err(Failure::broken("409 Conflict: another request writes it"))
                }
                409 => Ok(Put::Exists),
                501 => Ok(Put::Unconditional),
                _ => Err(failure(&error, Some(Answer::Refusal(head, body)))),
            }
        }
        (Err(error), answer) => match (is_new, &error) {
            (
                true,
                object_store::Error::NotImplemented { .. }
                | object_store::Error::NotSupported { .. },
            ) => Ok(Put::Unconditional),
            _ => answered((Err(error), answer)),
        },
    }
}

/// Begins an upload in parts; returns its name.
pub(crate) async fn begin(bucket: &dyn Bucket, location: &Location) -> Attempt<String> {
    let key = key(location)?;
    answered(recorded(bucket.create_multipart(&key)).await)
}

/// Sends the part with the number `part`, from 0.
pub(crate) async fn part(
    bucket: &dyn Bucket,
    location: &Location,
    upload: &str,
    part: usize,
    bytes: Bytes,
) -> Attempt<PartId> {
    let (key, upload) = (key(location)?, upload.to_owned());
    answered(recorded(bucket.put_part(&key, &upload, part, bytes.into())).await)
}

/// Makes the parts an object of `size` bytes. [`Put::Exists`] if the store does not know the upload:
/// it may be complete already.
pub(crate) async fn complete(
    bucket: &dyn Bucket,
    location: &Location,
    upload: &str,
    parts: Vec<PartId>,
    size: u64,
) -> Attempt<Put> {
    let (key, upload) = (key(location)?, upload.to_owned());
    match answered(recorded(bucket.complete_multipart(&key, &upload, parts)).await) {
        Ok(result) => Ok(Put::Stored(stored(size, result.e_tag, None))),
        Err(Failure::Missing { .. }) => Ok(Put::Exists),
        Err(failure) => Err(failure),
    }
}

/// Ends an unfinished upload, if the store knows it.
pub(crate) async fn abort(bucket: &dyn Bucket, location: &Location, upload: &str) -> Attempt<()> {
    let (key, upload) = (key(location)?, upload.to_owned());
    or_missing(answered(
        recorded(bucket.abort_multipart(&key, &upload)).await,
    ))
    .map(drop)
}

/// Removes an object, if it exists.
pub(crate) async fn delete(bucket: &dyn Bucket, location: &Location) -> Attempt<()> {
    let key = key(location)?;
    or_missing(answered(recorded(bucket.delete(&key)).await)).map(drop)
}

/// The description of an object; `None` if it does not exist.
pub(crate) async fn head(bucket: &dyn Bucket, location: &Location) -> Attempt<Option<Stored>> {
    let key = key(location)?;
    let found = or_missing(answered(recorded(bucket.head(&key)).await))?;
    Ok(found.map(described))
}

fn stored(bytes: u64, etag: Option<String>, modified: Option<i64>) -> Stored {
    Stored {
        bytes,
        etag: etag.map(|etag| opaque(&etag).to_owned()),
        modified,
    }
}

fn described(found: ObjectMeta) -> Stored {
    let modified = found.last_modified.timestamp();
    stored(found.size, found.e_tag, Some(modified))
}

fn or_missing<T>(result: Attempt<T>) -> Attempt<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Failure::Missing { .. }) => Ok(None),
        Err(failure) => Err(failure),
    }
}
