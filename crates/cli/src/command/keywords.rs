//! `keywords`: what the bits of a provider's mask mean, and which mask some keywords make.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use anyhow::Context as _;
use tracesift_ask::keywords::{Keywords, ProviderKeywords, built_in, of_manifest};
use tracesift_grammar::Patterns;

use crate::args::keywords::KeywordsArgs;
use crate::exit::{Exit, UsageError};
use crate::output::cell::clean;

/// Answers.
pub(crate) fn run(args: &KeywordsArgs) -> anyhow::Result<Exit> {
    let patterns = Patterns::parse(&args.provider);
    let providers = match &args.manifest {
        Some(path) => {
            let text = read(path).with_context(|| path.display().to_string())?;
            of_manifest(&text, &patterns).with_context(|| path.display().to_string())?
        }
        None => built_in(&patterns),
    };
    if providers.is_empty() {
        let hint =
            "`tracesift keywords` lists the providers that are known; --manifest FILE takes others from their manifest";
        return Err(UsageError::new(format!("no provider `{}` with keywords is known", args.provider), hint).into());
    }
    let mut out = io::stdout().lock();
    match &args.keywords {
        None if args.provider.is_empty() => {
            for provider in &providers {
                writeln!(out, "{}  {}  ({} keywords)", provider.guid, clean(&provider.name), provider.keywords.len())?;
            }
        }
        None => {
            for provider in &providers {
                let all: Vec<(u64, &str)> =
                    provider.keywords.iter().map(|(mask, name)| (*mask, name.as_str())).collect();
                list(&mut out, provider, &all, providers.len() > 1)?;
            }
        }
        Some(Keywords::Mask(mask)) => {
            for provider in &providers {
                let (named, rest) = provider.decode(*mask);
                list(&mut out, provider, &named, providers.len() > 1)?;
                if rest != 0 {
                    writeln!(out, "{rest:#018x}  (no name)")?;
                }
            }
        }
        Some(Keywords::Names(names)) => {
            let [provider] = providers.as_slice() else {
                let all = providers.iter().map(|provider| provider.name.as_str()).collect::<Vec<_>>().join(", ");
                return Err(
                    UsageError::new("names make a mask of one provider only", format!("these match: {all}")).into()
                );
            };
            match provider.encode(names) {
                Ok(mask) => writeln!(out, "{mask:#x}")?,
                Err(unknown) => {
                    let hint = format!("`tracesift keywords {}` lists them", provider.name);
                    return Err(UsageError::new(unknown.to_string(), hint).into());
                }
            }
        }
    }
    Ok(Exit::Fine)
}

fn list(
    out: &mut impl io::Write,
    provider: &ProviderKeywords,
    keywords: &[(u64, &str)],
    with_name: bool,
) -> io::Result<()> {
    if with_name {
        writeln!(out, "{}", clean(&provider.name))?;
    }
    for (mask, name) in keywords {
        writeln!(out, "{mask:#018x}  {}", clean(name))?;
    }
    Ok(())
}

/// A manifest as text: UTF-8, or UTF-16 with its mark, as Windows tools write it.
fn read(path: &Path) -> io::Result<String> {
    let bytes = fs::read(path)?;
    let units = |from: fn([u8; 2]) -> u16| -> Vec<u16> {
        bytes.get(2..).unwrap_or_default().as_chunks::<2>().0.iter().map(|unit| from(*unit)).collect()
    };
    Ok(match bytes.as_slice() {
        [0xff, 0xfe, ..] => String::from_utf16_lossy(&units(u16::from_le_bytes)),
        [0xfe, 0xff, ..] => String::from_utf16_lossy(&units(u16::from_be_bytes)),
        [0xef, 0xbb, 0xbf, text @ ..] => String::from_utf8_lossy(text).into_owned(),
        _ => String::from_utf8_lossy(&bytes).into_owned(),
    })
}
