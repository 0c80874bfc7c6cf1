//! What the page is told when a request fails.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tracesift_archive::Error;

use crate::answers::Refused;

/// A failed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) status: StatusCode,
    /// The object, then the failure.
    pub(crate) error: String,
    /// What helps.
    pub(crate) hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self { status, error: error.into(), hint: None }
    }

    /// A request that makes no sense.
    pub(crate) fn bad(error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error)
    }

    /// Something that is not there.
    pub(crate) fn missing(error: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, error)
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    fn cancelled() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "computation: it was cancelled, or nothing went on for a minute")
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Cancelled => Self::cancelled(),
            error => Self::new(StatusCode::INTERNAL_SERVER_ERROR, format!("recording: {error}")),
        }
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Words { error, hint } => Self { hint, ..Self::bad(error) },
            Refused::Failed(error) => Self::new(StatusCode::UNPROCESSABLE_ENTITY, error),
            Refused::Cancelled => Self::cancelled(),
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = json(self.status, &json!({ "error": self.error, "hint": self.hint }));
        if self.status == StatusCode::METHOD_NOT_ALLOWED {
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, POST"));
        }
        response
    }
}

/// A response of JSON.
pub(crate) fn json(status: StatusCode, value: &serde_json::Value) -> Response {
    json_bytes(status, value.to_string().into_bytes())
}

/// A response of JSON that is written already.
pub(crate) fn json_bytes(status: StatusCode, bytes: Vec<u8>) -> Response {
    (status, [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], bytes).into_response()
}
