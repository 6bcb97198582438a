//! Signatures of requests that were changed since the library signed them.

use std::sync::Arc;

use object_store::aws::{AwsCredential, AwsCredentialProvider};
use object_store::azure::{AzureAuthorizer, AzureCredential, AzureCredentialProvider};
use object_store::client::HttpRequest;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use ring::digest::{SHA256, digest};
use ring::hmac::{self, HMAC_SHA256, Key};
use url::{Position, Url};

use crate::requests::answer::{Failure, transport_error};

/// The name of the signatures of S3.
const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// How requests of a store are signed.
#[derive(Clone)]
pub(super) enum Signer {
    /// They have a token that does not depend on what they are for.
    None,
    /// Signature Version 4.
    Aws(AwsCredentialProvider),
    /// With a key of the account, if there is one.
    Azure(AzureCredentialProvider, String),
}

impl Signer {
    /// Replaces the signature of a request, if it has one.
    pub(super) async fn sign(&self, request: &mut HttpRequest) -> Result<(), Failure> {
        let unknown = |error: object_store::Error| Failure::refused(transport_error(&error));
        if !request.headers().contains_key(AUTHORIZATION) {
            return Ok(());
        }
        match self {
            Signer::None => Ok(()),
            Signer::Aws(provider) => {
                let credential = provider.get_credential().await.map_err(unknown)?;
                sign_for_aws(request, &credential)
            }
            Signer::Azure(provider, account) => {
                let credential: Arc<AzureCredential> =
                    provider.get_credential().await.map_err(unknown)?;
                if matches!(*credential, AzureCredential::AccessKey(_)) {
                    request.headers_mut().remove(AUTHORIZATION);
                    let authorizer = AzureAuthorizer::new(&credential, account);
                    authorizer.try_authorize(request).map_err(unknown)?;
                }
                Ok(())
            }
        }
    }
}

/// Signs a request with the headers, the scope and the time of its earlier signature. Its path and its
/// query are in the form that is signed: the path with all characters but `A-Za-z0-9-._~/` encoded, and
/// the query with all but `A-Za-z0-9-._~`, in the order of its bytes.
fn sign_for_aws(request: &mut HttpRequest, credential: &AwsCredential) -> Result<(), Failure> {
    let unknown = || Failure::refused("internal error: a signature of an unknown form");
    let header = |name: &str| request.headers().get(name)?.to_str().ok();
    let old = header("authorization").ok_or_else(unknown)?;
    let part = |name: &str| {
        let (_, rest) = old.split_once(name)?;
        rest.split(',').next()
    };
    let (key_id, scope) = part("Credential=")
        .and_then(|part| part.split_once('/'))
        .ok_or_else(unknown)?;
    let names = part("SignedHeaders=").ok_or_else(unknown)?;
    let (date, payload) = header("x-amz-date")
        .zip(header("x-amz-content-sha256"))
        .ok_or_else(unknown)?;
    if key_id != credential.key_id {
        return Err(Failure::broken("the credentials changed meanwhile"));
    }
    let url = Url::parse(&request.uri().to_string()).map_err(|_| unknown())?;
    let host = &url[Position::BeforeHost..Position::AfterPort];
    let mut headers = String::new();
    for name in names.split(';') {
        let value = match name {
            "host" => host,
            name => header(name).ok_or_else(unknown)?,
        };
        let words: Vec<&str> = value.split_whitespace().collect();
        headers.push_str(&format!("{name}:{}\n", words.join(" ")));
    }
    let (method, uri) = (request.method(), request.uri());
    let (path, query) = (uri.path(), uri.query().unwrap_or_default());
    let canonical = format!("{method}\n{path}\n{query}\n{headers}\n{names}\n{payload}");
    let canonical = hex(digest(&SHA256, canonical.as_bytes()).as_ref());
    let text = format!("{ALGORITHM}\n{date}\n{scope}\n{canonical}");
    let mut key = format!("AWS4{}", credential.secret_key).into_bytes();
    for part in scope.split('/').chain([text.as_str()]) {
        let signed = hmac::sign(&Key::new(HMAC_SHA256, &key), part.as_bytes());
        key = signed.as_ref().to_vec();
    }
    let signature = hex(&key);
    let new = format!(
        "{ALGORITHM} Credential={key_id}/{scope}, SignedHeaders={names}, Signature={signature}"
    );
    let mut new = HeaderValue::from_str(&new).map_err(|_| unknown())?;
    new.set_sensitive(true);
    request.headers_mut().insert(AUTHORIZATION, new);
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use object_store::aws::AwsAuthorizer;
    use object_store::client::HttpRequestBody;

    use super::*;

    /// The oracle is the library, for a request that is not changed.
    /// Promise (Inputs on servers): Every legal key of S3 is …
    #[test]
    fn signatures_are_those_of_the_library() {
        let credential = AwsCredential {
            key_id: "key".to_owned(),
            secret_key: "hunter2".to_owned(),
            token: Some("session".to_owned()),
        };
        for uri in [
            "http://h:81/bucket/a//b%20c%2B%25%0A%C3%BC~",
            "https://b.example/",
            "https://b.example/bucket?encoding-type=url&list-type=2&prefix=a%20b%2F%2B",
        ] {
            let mut request = HttpRequest::new(HttpRequestBody::empty());
            *request.uri_mut() = uri.parse().unwrap();
            let range = HeaderValue::from_static("bytes=0-9");
            request.headers_mut().insert("range", range);
            let library = AwsAuthorizer::new(&credential, "s3", "eu-west-1");
            library.try_authorize(&mut request, None).unwrap();
            let expected = request.headers()[AUTHORIZATION].clone();
            let text = expected.to_str().unwrap();
            let wrong = text.replace("Signature=", "Signature=0");
            let wrong = HeaderValue::from_str(&wrong).unwrap();
            request.headers_mut().insert(AUTHORIZATION, wrong);
            sign_for_aws(&mut request, &credential).unwrap();
            assert_eq!(request.headers()[AUTHORIZATION], expected, "{uri}");
        }
    }
}
