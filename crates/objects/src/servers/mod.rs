//! Servers of each kind, which answer requests for ranges of objects.

mod hub;
mod pages;
mod requests;
mod signing;
mod stores;
mod web;
pub(crate) mod writes;
mod xml;

use std::ops::Range;

use crate::environment::Environment;
use crate::listed::Listing;
use crate::requests::answer::{Failure, Fetched};
use crate::requests::http::Http;
use crate::requests::meter::Meter;
use crate::{Identity, Location, Result, Scheme};

pub(crate) use stores::Bucket;

/// A bucket or a host.
pub(crate) enum Server {
    /// A web server.
    Web(web::Web),
    /// A data set of the hub.
    Hub(hub::Hub),
    /// A bucket of an object store.
    Store(stores::Store),
}

impl Server {
    /// The server of a location, with the settings of `environment`, and the name of its host.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) if the environment has contradictory
    /// settings for it.
    pub(crate) fn of(
        location: &Location,
        http: &Http,
        environment: &Environment,
    ) -> Result<(Server, String)> {
        match location.scheme {
            Scheme::Http | Scheme::Https => Ok((
                Server::Web(web::Web::new(http.web.clone())),
                location.host.clone(),
            )),
            Scheme::Hf => {
                let (hub, host) = hub::Hub::new(location, &http.web, environment)?;
                Ok((Server::Hub(hub), host))
            }
            Scheme::S3 | Scheme::Gs | Scheme::Az => {
                let (store, host) = stores::Store::open(location, http, environment)?;
                Ok((Server::Store(store), host))
            }
        }
    }

    /// Asks for a range of an object, which should still have `identity`.
    pub(crate) async fn get(
        &self,
        location: &Location,
        range: Range<u64>,
        identity: Option<&Identity>,
    ) -> std::result::Result<Fetched, Failure> {
        match self {
            Server::Web(web) => web.get(location, range, identity).await,
            Server::Hub(hub) => hub.get(location, range).await,
            Server::Store(store) => store.get(location, range, identity).await,
        }
    }

    /// Adds the objects of the page `token` of the listing of `directory`, or of its first page, to
    /// `listing`. Returns the token of the next page, if there is one.
    pub(crate) async fn list(
        &self,
        directory: &Location,
        token: Option<&str>,
        meter: &Meter,
        listing: &mut Listing,
    ) -> std::result::Result<Option<String>, Failure> {
        match self {
            Server::Web(_) => Ok(None),
            Server::Hub(hub) => hub.list(directory, token, meter, listing).await,
            Server::Store(store) => store.list(directory, token, meter, listing).await,
        }
    }
}

/// What to do if an object cannot be written.
pub(crate) fn advice_for_writing(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::S3 => {
            "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION, and that they may write \
             there"
        }
        Scheme::Gs => "check GOOGLE_APPLICATION_CREDENTIALS, and that they may write there",
        Scheme::Az => {
            "check AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY, and that they may \
             write there"
        }
        Scheme::Hf | Scheme::Http | Scheme::Https => "",
    }
}

/// What to do if access to an object is denied.
pub(crate) fn advice(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::S3 => {
            "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION; for a public bucket, set \
             AWS_NO_SIGN_REQUEST=1; if readers pay, AWS_REQUEST_PAYER=requester"
        }
        Scheme::Gs => {
            "check GOOGLE_APPLICATION_CREDENTIALS; for a public bucket, set GOOGLE_SKIP_SIGNATURE=true"
        }
        Scheme::Az => {
            "check AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY; for a public container, \
             set AZURE_SKIP_SIGNATURE=true"
        }
        Scheme::Hf => "set HF_TOKEN to a token that may read it",
        Scheme::Http | Scheme::Https => {
            "check the URL; if it is right, the server denies access, or wants fewer requests: try \
             again later"
        }
    }
}
