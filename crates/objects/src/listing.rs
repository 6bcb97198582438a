//! Listings of objects.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use crate::answer::{Failure, Listed};
use crate::attempts::Attempts;
use crate::cache_directory;
use crate::client::Client;
use crate::object::Object;
use crate::registry::add;
use crate::servers::{Server, advice};
use crate::waiting::wait;
use crate::{Error, ErrorKind, Location, Result};

/// The names of all objects below `directory`, whose key is a prefix without a slash at its end, in the
/// order of their bytes. Their identities are known from now on, without a request for each.
///
/// # Errors
/// [`ErrorKind::Parameter`] for a web server, which has no listings; [`ErrorKind::Read`] if the server
/// does not answer.
pub fn list(directory: &Location) -> Result<Vec<PathBuf>> {
    if !directory.scheme.has_listings() {
        let message = "is a directory of a web server, which has no listings: name files, or give a \
                       list of them with --files-from";
        return Err(Error::new(ErrorKind::Parameter, message).in_file(directory.path()));
    }
    let client = Client::get()?;
    let (server, host) = client.server(directory)?;
    let (send, receive) = sync_channel(1);
    let (own, location) = (Arc::clone(&client), directory.clone());
    client.runtime.spawn(async move {
        let _ = send.send(all(&own, &server, &host, &location).await);
    });
    let mut listed = wait(&receive)?;
    listed.sort_by(|(a, _), (b, _)| a.cmp(b));
    let cache = cache_directory::current();
    let mut names = Vec::with_capacity(listed.len());
    for (key, identity) in listed {
        let location = directory.with_key(key);
        let name = location.path();
        let object = Object::listed(&client, location, identity, cache.as_ref())?;
        add(name.clone(), object);
        names.push(name);
    }
    Ok(names)
}

/// All objects below `directory`. After a failure, the listing goes on where it stopped.
async fn all(
    client: &Client,
    server: &Server,
    host: &str,
    directory: &Location,
) -> Result<Vec<Listed>> {
    let host = client.hosts.get(host);
    let advice = advice(directory.scheme);
    let mut attempts = Attempts::new(&host, &client.settings, directory.path(), advice);
    let mut listed = Vec::new();
    loop {
        let permit = attempts.begin().await;
        let before = listed.len();
        let result = server.list(directory, &mut listed).await;
        drop(permit);
        match result {
            Ok(()) => return Ok(listed),
            Err(Failure::Broken { said, .. }) => {
                let has_progress = listed.len() > before;
                let failure = Failure::Broken { said, has_progress };
                attempts.failed(failure).await?;
            }
            Err(failure) => attempts.failed(failure).await?,
        }
    }
}
