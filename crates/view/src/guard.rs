//! Who may ask: looked at before anything else of a request.

use axum::http::header::{HOST, HeaderName, ORIGIN};
use axum::http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use axum::response::Response;

use crate::failure::Failure;
use crate::token::Token;

/// The header with the token.
pub(crate) const TOKEN: &str = "tracesift-token";

/// Paths below this need the token.
pub(crate) const API: &str = "/api/";

/// Headers of every response.
const HEADERS: [(&str, &str); 8] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; \
         worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'; trusted-types tracesift",
    ),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-embedder-policy", "require-corp"),
    ("cross-origin-resource-policy", "same-origin"),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cache-control", "no-store"),
];

/// What a request has to name to be ours.
#[derive(Clone)]
pub(crate) struct Guard {
    hosts: [String; 2],
    origins: [String; 2],
    token: Token,
}

impl Guard {
    pub(crate) fn new(port: u16, token: Token) -> Self {
        let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{port}"));
        Self { origins: hosts.clone().map(|host| format!("http://{host}")), hosts, token }
    }

    /// Whether a request may be answered.
    pub(crate) fn check<B>(&self, request: &Request<B>) -> Result<(), Failure> {
        let (headers, path) = (request.headers(), request.uri().path());
        let is_host = |host: &str| self.hosts.iter().any(|own| own == host);
        if !only(headers, &HOST).is_some_and(|host| host.to_str().is_ok_and(is_host))
            || request.uri().authority().is_some_and(|authority| !is_host(authority.as_str()))
        {
            return Err(Failure::new(StatusCode::MISDIRECTED_REQUEST, "host: it is not this server"));
        }
        let method = request.method();
        if *method != Method::GET && *method != Method::POST {
            return Err(Failure::new(StatusCode::METHOD_NOT_ALLOWED, "method: only GET and POST are answered"));
        }
        if headers.contains_key(ORIGIN) {
            let is_own = |origin: &HeaderValue| self.origins.iter().any(|own| own.as_bytes() == origin.as_bytes());
            if !only(headers, &ORIGIN).is_some_and(is_own) {
                return Err(Failure::new(StatusCode::FORBIDDEN, "origin: it is another one"));
            }
        }
        if !is_site_ours(request) {
            return Err(Failure::new(StatusCode::FORBIDDEN, "site: the request comes from another one"));
        }
        let is_known =
            || only(headers, &HeaderName::from_static(TOKEN)).is_some_and(|token| self.token.is(token.as_bytes()));
        if path.starts_with(API) && !is_known() {
            return Err(Failure::new(StatusCode::UNAUTHORIZED, "token: missing or wrong")
                .hint("open the URL that `tracesift view` printed"));
        }
        Ok(())
    }
}

/// Whether the browser says that our page asks, or the user. The page itself, which has no data, may be the target of a link: the file
/// that leads to it is one.
fn is_site_ours<B>(request: &Request<B>) -> bool {
    let headers = request.headers();
    let is = |name: &'static str, values: &[&str]| {
        let values_of = headers.get_all(HeaderName::from_static(name));
        values_of.iter().all(|value| values.iter().any(|known| known.as_bytes() == value.as_bytes()))
    };
    let has = |name: &'static str| headers.contains_key(HeaderName::from_static(name));
    let is_visit = *request.method() == Method::GET
        && request.uri().path() == "/"
        && has("sec-fetch-mode")
        && is("sec-fetch-mode", &["navigate"])
        && has("sec-fetch-dest")
        && is("sec-fetch-dest", &["document"]);
    is_visit || is("sec-fetch-site", &["same-origin", "none"])
}

/// The value of a header that a request has exactly once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}

/// Adds the headers that keep a response where it belongs.
pub(crate) fn secured(mut response: Response) -> Response {
    for (name, value) in HEADERS {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}
