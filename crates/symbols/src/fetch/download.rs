//! Fetches one file into its part, and what of it is missing.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::time::Instant;

use crate::search::{Contents, Source};

use super::http::{Client, Failure, From, Limits, Response, interrupted};
use super::part::{Facts, Part};

/// How much is read at once.
const CHUNK: usize = 64 << 10;

/// Fetches the rest of a part, which may be all of it. `progress` is told the bytes so far and in total, and says whether to go on.
pub(crate) fn download(
    client: &Client,
    limits: &Limits,
    url: &str,
    contents: Contents,
    part: &mut Part,
    progress: &mut dyn FnMut(u64, Option<u64>) -> bool,
) -> Result<(), Failure> {
    let mut last = Failure::Interrupted("sends nothing".to_owned());
    for _ in 0..limits.attempts.max(1) {
        if part.is_complete() {
            return Ok(());
        }
        let before = part.length().map_err(local)?;
        match once(client, limits, url, contents, part, progress) {
            Ok(()) => return Ok(()),
            // What has come so far is complete, or belongs to another version of the file: which of them, only a new beginning tells.
            Err(Failure::NoRest) => part.restart(Facts::default()).map_err(local)?,
            Err(Failure::Interrupted(why)) => {
                let after = part.length().map_err(local)?;
                let can_resume = part.facts.validator.is_some();
                last = match part.facts.total {
                    Some(total) => Failure::Refused(format!("ends after {after} of {total} bytes ({why})")),
                    None => Failure::Refused(format!("ends early, after {after} bytes ({why})")),
                };
                if !can_resume || after == before {
                    // It was cut at the same place again, or the server cannot begin in the middle: one more from the start is enough.
                    part.restart(Facts::default()).map_err(local)?;
                }
            }
            Err(other) => return Err(other),
        }
    }
    Err(last)
}

fn once(
    client: &Client,
    limits: &Limits,
    url: &str,
    contents: Contents,
    part: &mut Part,
    progress: &mut dyn FnMut(u64, Option<u64>) -> bool,
) -> Result<(), Failure> {
    let length = part.length().map_err(local)?;
    let validator = part.facts.validator.clone();
    let from = validator.as_deref().filter(|_| length > 0).map(|validator| From { byte: length, validator });
    let mut response = client.get(url, from)?;
    let facts = Facts {
        url: url.to_owned(),
        validator: response.validator.clone(),
        total: response.total,
        is_gzip: response.is_gzip,
    };
    let allowed = if response.total.is_some() { limits.size } else { limits.unannounced.min(limits.size) };
    if let Some(total) = response.total.filter(|total| *total > allowed) {
        return Err(Failure::Refused(format!("is {total} bytes long, more than the {allowed} that are allowed")));
    }
    if response.start == 0
        || facts.is_gzip != part.facts.is_gzip
        || part.facts.total.is_some_and(|t| Some(t) != facts.total)
    {
        if response.start != 0 {
            return Err(Failure::NoRest);
        }
        part.restart(facts).map_err(local)?;
    }
    receive(&mut response, limits, contents, part, allowed, progress)
}

fn receive(
    response: &mut Response,
    limits: &Limits,
    contents: Contents,
    part: &mut Part,
    allowed: u64,
    progress: &mut dyn FnMut(u64, Option<u64>) -> bool,
) -> Result<(), Failure> {
    let (begun, start, total, is_page) = (Instant::now(), response.start, response.total, response.is_page);
    part.file.seek(SeekFrom::Start(start)).map_err(local)?;
    let mut received = start;
    let mut buffer = vec![0; CHUNK];
    // What an answer must begin with is looked at as soon as it is there: a page is no file, however long it is.
    let mut head = (start == 0 && !part.facts.is_gzip).then(Vec::new);
    let mut reader = response.reader();
    loop {
        let count = match reader.read(&mut buffer) {
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(interrupted(&error)),
        };
        let bytes = &buffer[..count];
        if let Some(begin) = &mut head {
            begin.extend_from_slice(&bytes[..count.min(MAGIC_LENGTH - begin.len().min(MAGIC_LENGTH))]);
            if begin.len() >= MAGIC_LENGTH || count == 0 {
                check(begin, contents, is_page).map_err(Failure::Refused)?;
                head = None;
            }
        }
        if count == 0 {
            break;
        }
        part.file.write_all(bytes).map_err(local)?;
        received += count as u64;
        if received > allowed {
            return Err(Failure::Refused(format!("does not end after the {allowed} bytes that are allowed")));
        }
        if !progress(received, total) {
            return Err(Failure::Cancelled);
        }
        let fair = limits.grace.as_secs_f64() + (received - start) as f64 / limits.slowest.max(1) as f64;
        if begun.elapsed().as_secs_f64() > fair {
            return Err(Failure::Interrupted("sends too slowly".to_owned()));
        }
    }
    match total {
        Some(total) if received < total => Err(Failure::Interrupted("closed the connection".to_owned())),
        Some(total) if received > total => {
            Err(Failure::Refused(format!("sends more than the {total} bytes it announced")))
        }
        Some(_) => Ok(()),
        None => {
            // Now it is known how long it is.
            part.facts.total = Some(received);
            Ok(())
        }
    }
}

/// Bytes that tell formats apart.
const MAGIC_LENGTH: usize = 40;

/// Checks what a whole file, unpacked, begins with.
pub(crate) fn check_file(file: &mut File, contents: Contents) -> Result<(), String> {
    let mut head = Vec::new();
    let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.take(MAGIC_LENGTH as u64).read_to_end(&mut head));
    read.map_err(|error| error.to_string())?;
    file.seek(SeekFrom::Start(0)).map_err(|error| error.to_string())?;
    check(&head, contents, false)
}

/// Whether bytes begin as the wanted format does. Servers answer with pages where they should say 404: sign-in pages of proxies above all.
fn check(head: &[u8], contents: Contents, is_page: bool) -> Result<(), String> {
    let (magics, word): (&[&[u8]], _) = match contents {
        Contents::Cabinet => (&[b"MSCF"], "cabinet"),
        Contents::Of(source) => (
            match source {
                Source::Pdb => {
                    &[b"Microsoft C/C++ MSF 7.00\r\n\x1aDS", b"Microsoft C/C++ program database 2.00", b"BSJB"]
                }
                Source::Breakpad => &[b"MODULE "],
                Source::Image | Source::Embedded => &[b"MZ"],
                Source::Debug | Source::Elf => &[b"\x7fELF"],
            },
            source.word(),
        ),
    };
    if magics.iter().any(|magic| head.starts_with(magic)) {
        return Ok(());
    }
    let text = head.trim_ascii_start();
    let what = if head.is_empty() {
        "is empty"
    } else if is_page || text.starts_with(b"<") {
        "is a web page"
    } else if text.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace()) {
        "is a text"
    } else {
        "is something else"
    };
    Err(format!("{what}, not a {word}"))
}

pub(super) fn local(error: std::io::Error) -> Failure {
    Failure::Local(error.to_string())
}
