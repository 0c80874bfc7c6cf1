//! Bodies of requests.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, StatusCode, header};
use serde::de::DeserializeOwned;

use crate::failure::Failure;

/// Bytes of a body, at most.
pub(crate) const MOST_BYTES: usize = 64 << 10;

/// Whoever takes longer to send a request is dropped.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// The value that a body of JSON is.
pub(crate) async fn parsed<T: DeserializeOwned>(headers: &HeaderMap, body: Body) -> Result<T, Failure> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.split(';').next().unwrap_or_default().trim() != "application/json" {
        return Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "body: it is not application/json"));
    }
    let too_large = || Failure::new(StatusCode::PAYLOAD_TOO_LARGE, "body: larger than 64 KiB");
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > MOST_BYTES as u64) {
        return Err(too_large());
    }
    let bytes = tokio::time::timeout(PATIENCE, to_bytes(body, MOST_BYTES)).await;
    let bytes = bytes.map_err(|_| Failure::new(StatusCode::REQUEST_TIMEOUT, "body: it does not come"))?;
    let bytes = bytes.map_err(|_| too_large())?;
    serde_json::from_slice(&bytes).map_err(|error| Failure::bad(format!("body: {error}")))
}
