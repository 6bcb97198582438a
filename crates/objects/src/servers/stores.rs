//! Buckets of object stores: S3, Google Cloud Storage, Azure.

use std::ops::Range;
use std::sync::Arc;

use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::azure::{AzureConfigKey, MicrosoftAzure, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorage, GoogleCloudStorageBuilder};
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::multipart::MultipartStore;
use object_store::path::Path;
use object_store::{ClientOptions, GetOptions, GetRange, ObjectStore, RetryConfig};

use super::pages;
use super::requests::{Connector, Order, PLACEHOLDER};
use super::signing::Signer;
use super::web::fetched;
use crate::environment::Environment;
use crate::listed::Listing;
use crate::requests::answer::{Failure, Fetched, transport_error};
use crate::requests::http::Http;
use crate::requests::meter::Meter;
use crate::{Error, ErrorKind, Identity, Location, Result, Scheme};

/// A bucket that objects can be written to.
pub(crate) trait Bucket: ObjectStore + MultipartStore {}

impl<T: ObjectStore + MultipartStore> Bucket for T {}

/// A bucket.
pub(crate) struct Store {
    /// The library's.
    pub bucket: Arc<dyn Bucket>,
    kind: Kind,
}

/// What only some stores have.
enum Kind {
    S3(Arc<AmazonS3>),
    Gs(Arc<GoogleCloudStorage>),
    /// With the name of the account.
    Az(Arc<MicrosoftAzure>, String),
}

/// The account of the server for tests that Azure provides.
const TEST_ACCOUNT: &str = "devstoreaccount1";

impl Store {
    /// The bucket of a location, with the settings of `environment`, and the name of its host.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] if settings are missing or contradictory.
    pub(super) fn open(
        location: &Location,
        http: &Http,
        environment: &Environment,
    ) -> Result<(Store, String)> {
        let kind = Kind::open(location, Connector(http.clone()), environment);
        let kind = kind.map_err(|error| {
            let message = format!("cannot be opened: {}", transport_error(&error));
            Error::new(ErrorKind::Parameter, message).in_file(location.path())
        })?;
        let bucket: Arc<dyn Bucket> = match &kind {
            Kind::S3(store) => Arc::<AmazonS3>::clone(store),
            Kind::Gs(store) => Arc::<GoogleCloudStorage>::clone(store),
            Kind::Az(store, _) => Arc::<MicrosoftAzure>::clone(store),
        };
        Ok((Store { bucket, kind }, host(location, environment)))
    }

    /// Asks for a range of an object.
    pub(super) async fn get(
        &self,
        location: &Location,
        range: Range<u64>,
        identity: Option<&Identity>,
    ) -> std::result::Result<Fetched, Failure> {
        let if_match = &identity.and_then(Identity::if_match);
        fetched(range, true, |range| async move {
            let mut order = Order::new(self.signer());
            let key = match key(location) {
                // The library leaves out slashes at both ends.
                Ok(key) if key.as_ref() == location.key => key,
                _ => {
                    order.key = Some(location.key.clone());
                    Path::from(PLACEHOLDER)
                }
            };
            let mut options = GetOptions {
                range: range.map(GetRange::Bounded),
                if_match: if_match.clone(),
                ..GetOptions::default()
            };
            options.extensions.insert(order.clone());
            order.answer(self.bucket.get_opts(&key, options)).await
        })
        .await
    }

    /// Adds the objects of a page below `directory` to `listing`. Returns the token of the next page.
    pub(super) async fn list(
        &self,
        directory: &Location,
        token: Option<&str>,
        meter: &Meter,
        listing: &mut Listing,
    ) -> std::result::Result<Option<String>, Failure> {
        let prefix = format!("{}/", directory.key);
        let prefix = (!directory.key.is_empty()).then_some(prefix);
        let mut order = Order::new(self.signer());
        let response = match &self.kind {
            Kind::S3(store) => {
                order.parameters.push(("encoding-type", "url".to_owned()));
                list_with(&**store, prefix, token, order).await?
            }
            Kind::Gs(store) => {
                order.parameters.push(("encoding-type", "url".to_owned()));
                list_with(&**store, prefix, token, order).await?
            }
            Kind::Az(store, _) => {
                // The library would read the answer itself.
                order.key = Some(String::new());
                let own = [("restype", "container"), ("comp", "list")];
                let own = own.map(|(name, value)| (name, value.to_owned()));
                order.parameters.extend(own);
                order
                    .parameters
                    .extend(prefix.map(|prefix| ("prefix", prefix)));
                let token = token.map(|token| ("marker", token.to_owned()));
                order.parameters.extend(token);
                let mut options = GetOptions::default();
                options.extensions.insert(order.clone());
                let key = Path::from(PLACEHOLDER);
                order.answer(store.get_opts(&key, options)).await?
            }
        };
        pages::read(response, meter, listing).await
    }

    fn signer(&self) -> Signer {
        match &self.kind {
            Kind::S3(store) => Signer::Aws(Arc::clone(store.credentials())),
            Kind::Gs(_) => Signer::None,
            Kind::Az(store, account) => {
                Signer::Azure(Arc::clone(store.credentials()), account.clone())
            }
        }
    }
}

async fn list_with(
    store: &dyn PaginatedListStore,
    prefix: Option<String>,
    token: Option<&str>,
    order: Order,
) -> std::result::Result<reqwest::Response, Failure> {
    let mut options = PaginatedListOptions {
        page_token: token.map(str::to_owned),
        ..PaginatedListOptions::default()
    };
    options.extensions.insert(order.clone());
    order
        .answer(store.list_paginated(prefix.as_deref(), options))
        .await
}

impl Kind {
    /// As the builders of the library, which read the environment themselves.
    fn open(
        location: &Location,
        connector: Connector,
        environment: &Environment,
    ) -> object_store::Result<Kind> {
        let bucket = &location.host;
        Ok(match location.scheme {
            Scheme::Gs => {
                let mut builder = GoogleCloudStorageBuilder::new();
                if let Some(account) = environment.get("SERVICE_ACCOUNT") {
                    builder = builder.with_service_account_path(account);
                }
                for (key, value) in environment.settings("GOOGLE_") {
                    builder = builder.with_config(key, value);
                }
                let builder = builder
                    .with_bucket_name(bucket)
                    .with_client_options(content_types())
                    .with_retry(no_attempts())
                    .with_http_connector(connector);
                Kind::Gs(Arc::new(builder.build()?))
            }
            Scheme::Az => {
                let mut builder = MicrosoftAzureBuilder::new();
                for (key, value) in environment.settings("AZURE_") {
                    builder = builder.with_config(key, value);
                }
                if let Some(endpoint) = environment.get("IDENTITY_ENDPOINT") {
                    builder = builder.with_msi_endpoint(endpoint);
                }
                let builder = builder
                    .with_container_name(bucket)
                    .with_client_options(content_types())
                    .with_allow_http(true)
                    .with_retry(no_attempts())
                    .with_http_connector(connector);
                let account = builder.get_config_value(&AzureConfigKey::AccountName);
                let account = account.unwrap_or_else(|| TEST_ACCOUNT.to_owned());
                Kind::Az(Arc::new(builder.build()?), account)
            }
            _ => {
                let builder = s3(bucket, environment).with_http_connector(connector);
                Kind::S3(Arc::new(builder.build()?))
            }
        })
    }
}

fn s3(bucket: &str, environment: &Environment) -> AmazonS3Builder {
    let mut builder = AmazonS3Builder::new();
    for (key, value) in environment.settings("AWS_") {
        builder = builder.with_config(key, value);
    }
    let builder = builder
        .with_bucket_name(bucket)
        // Several servers with this interface lack the request that removes many objects.
        .with_disable_bulk_delete(true)
        .with_client_options(content_types())
        .with_retry(no_attempts());
    match environment.is_set("AWS_NO_SIGN_REQUEST") {
        true => builder.with_skip_signature(true),
        false => builder,
    }
}

/// The content types of written objects, by the endings of their names. The client of this crate uses
/// no other of these options.
fn content_types() -> ClientOptions {
    let types = [
        ("csv", "text/csv; charset=utf-8"),
        ("gz", "application/gzip"),
        ("html", "text/html; charset=utf-8"),
        ("json", "application/json"),
        ("jsonl", "application/jsonl"),
        ("parquet", "application/vnd.apache.parquet"),
        ("zst", "application/zstd"),
    ];
    let add =
        |options: ClientOptions, (ending, name)| options.with_content_type_for_suffix(ending, name);
    types.into_iter().fold(ClientOptions::default(), add)
}

fn no_attempts() -> RetryConfig {
    RetryConfig {
        max_retries: 0,
        ..RetryConfig::default()
    }
}

/// The host that answers for a bucket, or a name of its own for it.
fn host(location: &Location, environment: &Environment) -> String {
    let variable = |name| environment.get(name);
    let endpoint = match location.scheme {
        Scheme::S3 => variable("AWS_ENDPOINT_URL_S3")
            .or_else(|| variable("AWS_ENDPOINT_URL"))
            .or_else(|| variable("AWS_ENDPOINT")),
        Scheme::Gs => variable("GOOGLE_BASE_URL"),
        _ => variable("AZURE_STORAGE_ENDPOINT").or_else(|| variable("AZURE_ENDPOINT")),
    };
    let parsed = endpoint.and_then(|endpoint| url::Url::parse(endpoint).ok());
    let own = parsed.and_then(|url| {
        let host = url.host_str()?.to_owned();
        Some(
            url.port()
                .map_or(host.clone(), |port| format!("{host}:{port}")),
        )
    });
    own.unwrap_or_else(|| format!("{}://{}", location.scheme.name(), location.host))
}

/// The key of a location.
pub(super) fn key(location: &Location) -> std::result::Result<Path, Failure> {
    Path::parse(&location.key).map_err(|error| Failure::refused(format!("an invalid key: {error}")))
}
