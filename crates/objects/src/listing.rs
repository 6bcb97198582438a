//! Listings of objects.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use xxhash_rust::xxh3::xxh3_128;

use crate::answer::Listed;
use crate::attempts::Attempts;
use crate::cache_directory;
use crate::client::Client;
use crate::listed::Listing;
use crate::memory::set_listed_bytes;
use crate::object::Object;
use crate::registry::add;
use crate::servers::{Server, advice, advice_for_writing};
use crate::waiting::wait;
use crate::{Error, ErrorKind, Location, Result};

/// The maximum number of pages without objects, one after another.
const MAX_EMPTY_PAGES: usize = 1000;

/// The names of all objects below `directory`, whose key is a prefix without the slash at its end, in the
/// order of their bytes. Their identities are known from now on, without a request for each.
///
/// # Errors
/// [`ErrorKind::Parameter`] for a web server, which has no listings; [`ErrorKind::Memory`] for more
/// objects than [`set_listing_bytes`](crate::set_listing_bytes) allows; [`ErrorKind::Read`] if the server
/// does not answer, or its listing is invalid or endless.
pub fn list(directory: &Location) -> Result<Vec<PathBuf>> {
    if !directory.scheme.has_listings() {
        let message = "is a directory of a web server, which has no listings: name files, or give a \
                       list of them with --files-from";
        return Err(Error::new(ErrorKind::Parameter, message).in_file(directory.path()));
    }
    let client = Client::get()?;
    let cache = cache_directory::current();
    let (listed, bytes) = all(&client, directory, ErrorKind::Read)?;
    set_listed_bytes(bytes);
    let mut names = Vec::with_capacity(listed.len());
    for Listed { key, identity, .. } in listed {
        let location = directory.with_key(key);
        let name = location.path();
        let object = Object::listed(&client, location, identity, cache.as_ref())?;
        add(name.clone().into(), object);
        names.push(name);
    }
    Ok(names)
}

/// All objects below `directory`, in the order of the bytes of their keys, and the memory that they and
/// those of earlier listings will take. Failures are errors of the kind `kind`.
pub(crate) fn all(
    client: &Arc<Client>,
    directory: &Location,
    kind: ErrorKind,
) -> Result<(Vec<Listed>, u64)> {
    let (server, host) = client.server(directory)?;
    let (send, receive) = sync_channel(1);
    let (own, location) = (Arc::clone(client), directory.clone());
    let task = client.runtime.spawn(async move {
        let pages = Pages {
            client: &own,
            server: &server,
            host: &host,
            directory: &location,
            kind,
        };
        let _ = send.send(pages.all().await);
    });
    let listed = wait(&receive);
    task.abort();
    let (mut listed, bytes) = listed?;
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
    client: &'a Client,
    server: &'a Server,
    host: &'a str,
    directory: &'a Location,
    kind: ErrorKind,
}

impl Pages<'_> {
    async fn all(&self) -> Result<(Vec<Listed>, u64)> {
        let mut listing = Listing::new();
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
        let (client, directory) = (self.client, self.directory);
        let host = client.hosts.get(self.host);
        let attempts = |advice| Attempts::new(&host, &client.settings, directory.path(), advice);
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
