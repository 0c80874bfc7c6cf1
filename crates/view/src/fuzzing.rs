//! What a stranger's bytes reach first, for the fuzz target.

use axum::http::{Request, Uri};

use crate::guard::Guard;
use crate::lane::Lane;
use crate::query::Parameters;
use crate::token::Token;

/// Whether a server on port 1 lets a request in: its method, its target, and its headers. Nobody knows the server's token. `None`: it is
/// no request.
#[must_use]
pub fn lets_in(method: &str, target: &str, headers: &[(&str, &[u8])]) -> Option<bool> {
    let guard = Guard::new(1, Token::new().ok()?);
    let request = Request::builder().method(method).uri(target);
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    Some(guard.check(&request.body(()).ok()?).is_ok())
}

/// The name of a lane as it comes back; `None`: it is no name of a lane.
#[must_use]
pub fn lane(text: &str) -> Option<String> {
    Lane::parse(text).ok().map(|lane| lane.to_string())
}

/// The parameters of a query; `None`: it is none.
#[must_use]
pub fn parameters(query: &str) -> Option<Vec<String>> {
    const KNOWN: [&str; 3] = ["of", "parent", "time"];
    let uri: Uri = format!("/?{query}").parse().ok()?;
    let parameters = Parameters::of(&uri, &KNOWN).ok()?;
    Some(KNOWN.iter().filter_map(|name| parameters.get(name)).map(str::to_owned).collect())
}
