//! TLS for HTTPS.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use simtool_core::{Error, ErrorKind, Result};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// An acceptor with a certificate and its key, both PEM.
pub fn acceptor((certificate, key): &(PathBuf, PathBuf)) -> Result<TlsAcceptor> {
    let wrong = |file: &Path, cause: String| {
        Error::new(ErrorKind::Parameter, format!("cannot be used: {cause}")).in_file(file)
    };
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>)
        .map_err(|cause| wrong(certificate, cause.to_string()))?;
    let secret =
        PrivateKeyDer::from_pem_file(key).map_err(|cause| wrong(key, cause.to_string()))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|cause| wrong(certificate, cause.to_string()))?
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .map_err(|cause| wrong(certificate, cause.to_string()))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
