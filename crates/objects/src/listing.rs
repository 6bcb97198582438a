//! Listings of objects.

use std::collections::HashSet;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_128;

use crate::connections::Connections;
use crate::listed::Listing;
use crate::reading::object::Object;
use crate::requests::answer::Listed;
use crate::requests::attempts::Attempts;
use crate::servers::{Server, advice, advice_for_writing};
use crate::shared::cache_directory::CacheDirectory;
use crate::{Error, ErrorKind, Location, Result};

/// The maximum number of pages without objects, one after another.
const MAX_EMPTY_PAGES: usize = 1000;

/// All objects below `directory`, with blocks in `cache`: see [`Client::list`](crate::Client::list).
pub(crate) fn objects(
    connections: &Arc<Connections>,
    directory: &Location,
    cache: Option<&Arc<CacheDirectory>>,
) -> Result<Vec<Arc<Object>>> {
    if !directory.scheme.has_listings() {
        let message = "is a directory of a web server, which has no listings: name files, or give a \
                       list of them with --files-from";
        return Err(Error::new(ErrorKind::Parameter, message).in_file(directory.path()));
    }
    let (listed, bytes) = all(connections, directory, ErrorKind::Read)?;
    connections.shared.memory.set_listed_bytes(bytes);
    let object = |Listed { key, identity, .. }| {
        Object::listed(connections, directory.with_key(key), identity, cache).map(Arc::new)
    };
    listed.into_iter().map(object).collect()
}

/// All objects below `directory`, in the order of the bytes of their keys, and the memory that they and
/// those of earlier listings will take. Failures are errors of the kind `kind`.
pub(crate) fn all(
    connections: &Arc<Connections>,
    directory: &Location,
    kind: ErrorKind,
) -> Result<(Vec<Listed>, u64)> {
    let (server, host) = connections.server(directory)?;
    let (own, location) = (Arc::clone(connections), directory.clone());
    let listed = connections.ask(async move {
        let pages = Pages {
            connections: &own,
            server: &server,
            host: &host,
            directory: &location,
            kind,
        };
        pages.all().await
    });
    let (mut listed, bytes) = listed.wait()?;
    let is_below = |object: &Listed| object.key.starts_with(&directory.key);
    if let Some(other) = listed.iter().find(|object| !is_below(object)) {
        let message = format!(
            "the listing of the server has {:?}, which is not below it",
            other.key
        );
        return Err(Error::new(kind, message).in_file(directory.path()));
    }
    listed.sort_by(|a, b| a.key.cmp(&b.key));
    listed.dedup_by(|a, b| a.key == b.key);
    Ok((listed, bytes))
}

/// The pages of a listing.
struct Pages<'a> {
    connections: &'a Connections,
    server: &'a Server,
    host: &'a str,
    directory: &'a Location,
    kind: ErrorKind,
}

impl Pages<'_> {
    async fn all(&self) -> Result<(Vec<Listed>, u64)> {
        let mut listing = Listing::new(&self.connections.shared.memory);
        let mut tokens = HashSet::new();
        let (mut token, mut empty) = (None::<String>, 0);
        loop {
            let before = listing.len();
            token = self.page(token.as_deref(), &mut listing).await?;
            let Some(next) = &token else {
                return Ok(listing.into_parts());
            };
            if !tokens.insert(xxh3_128(next.as_bytes())) {
                return Err(self.endless("it repeats a page"));
            }
            empty = match listing.len() > before {
                true => 0,
                false => empty + 1,
            };
            if empty > MAX_EMPTY_PAGES {
                return Err(self.endless("its pages have no objects"));
            }
        }
    }

    /// Adds a page. Returns the token of the next one.
    async fn page(&self, token: Option<&str>, listing: &mut Listing) -> Result<Option<String>> {
        let (connections, directory) = (self.connections, self.directory);
        let host = connections.hosts.get(self.host);
        let settings = &connections.shared.settings;
        let attempts = |advice| Attempts::new(&host, settings, directory.path(), advice);
        let mut attempts = match self.kind {
            ErrorKind::Write => attempts(advice_for_writing(directory.scheme)).for_writing(),
            _ => attempts(advice(directory.scheme)),
        };
        let (meter, before) = (attempts.meter(), listing.len());
        loop {
            attempts.begin().await;
            let page = self.server.list(directory, token, &meter, listing);
            match meter.within(page).await {
                Ok(next) => return Ok(next),
                Err(failure) => attempts.failed(failure).await?,
            }
            listing.truncate(before);
        }
    }

    fn endless(&self, why: &str) -> Error {
        let message = format!("the listing of the server does not end: {why}");
        Error::new(self.kind, message).in_file(self.directory.path())
    }
}
