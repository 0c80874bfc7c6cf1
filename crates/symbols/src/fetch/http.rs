//! One answer of a server: redirects followed, time-outs set, nothing believed yet.

use std::io::Read;
use std::time::Duration;

use ureq::http::{HeaderMap, StatusCode};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body, Proxy, Timeout};

/// How patient downloads are, and how much they accept.
#[derive(Clone, Debug)]
pub struct Limits {
    /// For name look-up and connection, each.
    pub connect: Duration,
    /// For the next bytes of an answer.
    pub stall: Duration,
    /// For a whole file, besides the time that its bytes take at [`Limits::slowest`].
    pub grace: Duration,
    /// Bytes per second that a server must send on average.
    pub slowest: u64,
    /// Bytes of a file, unpacked.
    pub size: u64,
    /// Bytes of an answer that does not say how long it is.
    pub unannounced: u64,
    /// How often a file is asked for that came only in part.
    pub attempts: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            stall: Duration::from_secs(30),
            grace: Duration::from_secs(60),
            slowest: 8 << 10,
            size: 8 << 30,
            unannounced: 1 << 30,
            attempts: 4,
        }
    }
}

/// Redirects on the way to a file. The public servers need one.
const MAX_REDIRECTS: usize = 8;

/// Bytes of an answer that are read although nobody wants them, so that the connection can be used again.
const MAX_IDLE_READ: u64 = 64 << 10;

/// Connections to one server that are kept open.
const MAX_IDLE: usize = 8;

/// Asks servers.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    agent: Agent,
}

/// Where an earlier answer ended, and what tells that it is still the same file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct From<'a> {
    pub(crate) byte: u64,
    pub(crate) validator: &'a str,
}

/// An answer with the bytes of a file, or a part of it.
#[derive(Debug)]
pub(crate) struct Response {
    body: Body,
    /// The first byte that it brings.
    pub(crate) start: u64,
    /// Bytes of the whole, as they are sent.
    pub(crate) total: Option<u64>,
    /// Strong validator of this version of the file.
    pub(crate) validator: Option<String>,
    pub(crate) is_gzip: bool,
    pub(crate) is_page: bool,
}

/// Why there is no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The server does not have it.
    Absent,
    /// What it has is of no use.
    Refused(String),
    /// There is no connection, or no answer.
    Silent(String),
    /// The server says that it cannot answer now.
    Troubled(String),
    /// The answer ended early; another request may bring the rest.
    Interrupted(String),
    /// The rest of a file that was asked for does not exist: it is complete, or another one.
    NoRest,
    /// Nobody waits for it any more.
    Cancelled,
    /// It cannot be written on this machine.
    Local(String),
}

impl Client {
    /// A client that uses the proxies of the environment, if it may: `ALL_PROXY`, `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`.
    pub(crate) fn new(limits: &Limits, use_proxy: bool) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // Followed here, where circles are noticed.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("tracesift/", env!("CARGO_PKG_VERSION")))
            .proxy(if use_proxy { Proxy::try_from_env() } else { None })
            .max_idle_connections(4 * MAX_IDLE)
            .max_idle_connections_per_host(MAX_IDLE)
            .timeout_resolve(Some(limits.connect))
            .timeout_connect(Some(limits.connect))
            .timeout_send_request(Some(limits.stall))
            .timeout_recv_response(Some(limits.stall))
            .timeout_per_read(Some(limits.stall))
            .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build())
            .build();
        Self { agent: config.new_agent() }
    }

    /// Asks for a file, or for the rest of one.
    pub(crate) fn get(&self, url: &str, from: Option<From<'_>>) -> Result<Response, Failure> {
        let mut seen = vec![url.to_owned()];
        loop {
            let at = seen.last().map_or(url, String::as_str);
            let mut request = self.agent.get(at).header("Accept-Encoding", "gzip").header("Accept", "*/*");
            if let Some(from) = from {
                request = request.header("Range", format!("bytes={}-", from.byte)).header("If-Range", from.validator);
            }
            let mut response = request.call().map_err(|error| failure(&error))?;
            let status = response.status();
            let headers = response.headers();
            if status.is_redirection() && status != StatusCode::NOT_MODIFIED {
                let target = header(headers, "location").ok_or_else(|| refused("redirects to nowhere"))?;
                let target = resolve(at, target).map_err(refused)?;
                finish(response.body_mut());
                if seen.contains(&target) {
                    return Err(refused("redirects in a circle"));
                }
                if seen.len() > MAX_REDIRECTS {
                    return Err(Failure::Refused(format!("redirects more than {MAX_REDIRECTS} times")));
                }
                seen.push(target);
                continue;
            }
            return match status {
                StatusCode::OK => Response::new(response.into_parts(), 0),
                StatusCode::PARTIAL_CONTENT => match from {
                    Some(from) => Response::new(response.into_parts(), from.byte),
                    None => Err(refused("sends a part of a file that nobody asked for")),
                },
                StatusCode::NOT_FOUND | StatusCode::GONE => {
                    finish(response.body_mut());
                    Err(Failure::Absent)
                }
                StatusCode::RANGE_NOT_SATISFIABLE if from.is_some() => Err(Failure::NoRest),
                StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => {
                    Err(Failure::Troubled(format!("answers {status}")))
                }
                _ if status.is_server_error() => Err(Failure::Troubled(format!("answers {status}"))),
                _ => Err(Failure::Refused(format!("the server answers {status}"))),
            };
        }
    }
}

impl Response {
    fn new((parts, body): (ureq::http::response::Parts, Body), asked: u64) -> Result<Self, Failure> {
        let headers = &parts.headers;
        let is_gzip = match header(headers, "content-encoding").map(str::to_ascii_lowercase).as_deref() {
            None | Some("identity" | "") => false,
            Some("gzip" | "x-gzip") => true,
            Some(_) => return Err(refused("is sent in an encoding that nobody asked for")),
        };
        let length = header(headers, "content-length").and_then(|length| length.trim().parse::<u64>().ok());
        let (mut start, mut total) = (0, length);
        if parts.status == StatusCode::PARTIAL_CONTENT {
            let range = header(headers, "content-range").and_then(content_range);
            let (first, of) = range.ok_or_else(|| refused("sends a part of a file without saying which"))?;
            if first != asked {
                return Err(refused("sends another part of a file than was asked for"));
            }
            start = first;
            total = of.or(length.and_then(|length| length.checked_add(first)));
        }
        let validator = header(headers, "etag").filter(|tag| tag.starts_with('"'));
        let validator = validator.or_else(|| header(headers, "last-modified")).map(str::to_owned);
        let kind = header(headers, "content-type").unwrap_or_default();
        let is_page = kind.to_ascii_lowercase().starts_with("text/html");
        Ok(Self { body, start, total, validator, is_gzip, is_page })
    }

    /// The bytes as they are sent.
    pub(crate) fn reader(&mut self) -> impl Read + '_ {
        self.body.with_config().limit(u64::MAX).reader()
    }
}

/// Reads what is left of a short answer.
fn finish(body: &mut Body) {
    let reader = body.with_config().limit(u64::MAX).reader();
    let _ = std::io::copy(&mut reader.take(MAX_IDLE_READ), &mut std::io::sink());
}

/// What an error on the way means for the file.
pub(crate) fn interrupted(error: &std::io::Error) -> Failure {
    let why = match error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>()) {
        Some(ureq::Error::Timeout(_)) => "stopped sending".to_owned(),
        Some(error) => error.to_string(),
        None if error.kind() == std::io::ErrorKind::TimedOut => "stopped sending".to_owned(),
        None => error.to_string(),
    };
    Failure::Interrupted(why)
}

fn failure(error: &ureq::Error) -> Failure {
    match error {
        ureq::Error::Timeout(Timeout::Resolve | Timeout::Connect) => {
            Failure::Silent("no connection in time".to_owned())
        }
        ureq::Error::Timeout(_) => Failure::Silent("no answer in time".to_owned()),
        ureq::Error::HostNotFound => Failure::Silent("its name is not known".to_owned()),
        ureq::Error::Io(error) => Failure::Silent(error.to_string()),
        ureq::Error::BadUri(_) | ureq::Error::Http(_) => Failure::Refused(error.to_string()),
        _ => Failure::Silent(error.to_string()),
    }
}

fn refused(why: &str) -> Failure {
    Failure::Refused(why.to_owned())
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// First byte and length of the whole, of `bytes 10-19/20`.
fn content_range(text: &str) -> Option<(u64, Option<u64>)> {
    let (range, total) = text.trim().strip_prefix("bytes ")?.split_once('/')?;
    let first = range.split_once('-')?.0.trim().parse().ok()?;
    Some((first, total.trim().parse().ok()))
}

/// The address that a redirect leads to.
fn resolve(at: &str, target: &str) -> Result<String, &'static str> {
    let target = target.split('#').next().unwrap_or_default().trim();
    let (scheme, rest) = at.split_once("://").ok_or("redirects to nowhere")?;
    let origin_end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(origin_end);
    // The password of one server is no business of another.
    let host = host.rsplit('@').next().unwrap_or(host);
    let has_scheme = target.split(['/', '?']).next().is_some_and(|first| first.contains(':'));
    let resolved = if has_scheme {
        target.to_owned()
    } else if target.starts_with("//") {
        format!("{scheme}:{target}")
    } else if target.starts_with('/') {
        format!("{scheme}://{host}{target}")
    } else {
        let path = path.split('?').next().unwrap_or_default();
        let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
        format!("{scheme}://{host}{directory}/{target}")
    };
    let lower = resolved.to_ascii_lowercase();
    match (scheme, lower.split_once("://").map(|(scheme, _)| scheme)) {
        (_, Some("https")) | ("http", Some("http")) => Ok(resolved),
        (_, Some("http")) => Err("redirects from https to http"),
        _ => Err("redirects to something other than http or https"),
    }
}

#[cfg(test)]
mod tests {
    use super::{content_range, resolve};

    #[test]
    fn redirects_lead_to_servers_only() {
        for (at, target, expected) in [
            ("http://a/b/c", "d", Ok("http://a/b/d")),
            ("http://a/b/c?x=/y", "/d?z#f", Ok("http://a/d?z")),
            ("https://u:p@a/b", "//c/d", Ok("https://c/d")),
            ("https://u:p@a/b", "c", Ok("https://a/c")),
            ("http://a", "HTTPS://b/c", Ok("HTTPS://b/c")),
            ("https://a", "http://b/c", Err("redirects from https to http")),
            ("http://a", "file:///etc/passwd", Err("redirects to something other than http or https")),
            ("http://a", "ftp://b", Err("redirects to something other than http or https")),
        ] {
            assert_eq!(resolve(at, target).as_deref(), expected.as_ref().map(|text| *text), "{at} {target}");
        }
    }

    #[test]
    fn ranges() {
        assert_eq!(content_range("bytes 10-19/20"), Some((10, Some(20))));
        assert_eq!(content_range("bytes 10-19/*"), Some((10, None)));
        assert_eq!(content_range("bytes */20"), None);
        assert_eq!(content_range("lines 1-2/3"), None);
    }
}
