//! The paths of the server.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State as Shared};
use axum::http::{Request, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use hyper::body::Incoming;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use serde_json::json;

use crate::assets::{ASSETS, INDEX, media_type};
use crate::failure::{self, Failure};
use crate::guard::secured;
use crate::lane::{columns, list};
use crate::query::Parameters;
use crate::state::State;
use crate::{ask, at, flame, search, spans};

/// Those who answer.
pub(crate) fn router(state: Arc<State>) -> Router {
    let nothing = || async { Failure::missing("path: there is nothing at it") };
    let wrong = || async { Failure::new(StatusCode::METHOD_NOT_ALLOWED, "method: it is another one at this path") };
    Router::new()
        .route("/", get(|| async { asset("index.html", INDEX) }))
        .route("/assets/{*name}", get(of_page))
        .route("/api/1/session", get(session))
        .route("/api/1/progress", get(progress))
        .route("/api/1/lanes", get(list::respond))
        .route("/api/1/columns", post(columns::respond))
        .route("/api/1/spans", post(spans::respond))
        .route("/api/1/at", post(at::respond))
        .route("/api/1/flame", post(flame::respond))
        .route("/api/1/search", post(search::respond))
        .route("/api/1/ask", post(ask::respond))
        .fallback(nothing)
        .method_not_allowed_fallback(wrong)
        .with_state(state)
}

/// The response to a request, whoever sends it.
pub(crate) async fn respond(request: Request<Incoming>, router: Router, state: &State) -> Response {
    let response = match state.guard.check(&request) {
        Err(failure) => failure.into_response(),
        Ok(()) => match TowerToHyperService::new(router).call(request.map(Body::new)).await {
            Ok(response) => response,
            Err(never) => match never {},
        },
    };
    secured(response)
}

fn asset(name: &str, bytes: &'static [u8]) -> Response {
    ([(header::CONTENT_TYPE, media_type(name))], bytes).into_response()
}

async fn of_page(Path(name): Path<String>) -> Response {
    let found = ASSETS.iter().find(|asset| asset.name == name);
    found.map_or_else(
        || Failure::missing("asset: there is none of this name").into_response(),
        |found| asset(found.name, found.bytes),
    )
}

async fn session(Shared(state): Shared<Arc<State>>) -> Response {
    failure::json(StatusCode::OK, &state.session)
}

async fn progress(Shared(state): Shared<Arc<State>>, uri: Uri) -> Result<Response, Failure> {
    let query = Parameters::of(&uri, &["id"])?;
    let id = query.needed("id")?;
    // A browser writes each 404 on its console, and to be ready is no failure.
    let Some(watch) = state.watch_of(id) else { return Ok(failure::json(StatusCode::OK, &json!(null))) };
    let progress = watch.progress();
    let share = if progress.all > 0 { progress.done as f64 / progress.all as f64 } else { 0.0 };
    Ok(failure::json(StatusCode::OK, &json!({ "done": share, "rows": progress.done, "of": progress.all })))
}
