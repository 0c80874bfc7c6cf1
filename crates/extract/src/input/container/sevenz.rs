//! Members of a 7z file.
//!
//! Files are usually packed together into blocks ("solid"): to get at one, everything before it in its block must be
//! decoded. So each block that holds something wanted is decoded once, from its start to the last wanted member.

use std::io::{BufReader, Read, Seek};

use sevenz_rust2::{Archive, ArchiveEntry, BlockDecoder, EncoderMethod, Error, Password};
use tracesift_unpack::dictionary;

use super::names::Want;
use super::run::Run;
use crate::input::error::InputError;

pub(super) fn unpack(source: impl Read + Seek, run: &mut Run<'_>) -> Result<(), InputError> {
    let mut source = BufReader::with_capacity(128 << 10, source);
    let password = Password::empty();
    let archive = Archive::read(&mut source, &password).map_err(|error| explain(run, None, error))?;
    let plan = run.plan(archive.files.iter().map(ArchiveEntry::name))?;
    let want = |entry: &ArchiveEntry| {
        if entry.is_directory || entry.is_anti_item { Want::Nothing } else { plan.want(entry.name()) }
    };

    for (index, block) in archive.blocks.iter().enumerate() {
        let decoder = BlockDecoder::new(1, index, &archive, &password, &mut source);
        let wanted = |entry: &&ArchiveEntry| entry.has_stream && want(entry) != Want::Nothing;
        let mut left = decoder.entries().iter().filter(wanted).count();
        let Some(first) = decoder.entries().iter().find(wanted).map(|entry| entry.name().to_owned()) else { continue };
        check_methods(run, &first, block)?;

        let mut failure = None;
        let result = decoder.for_each_entries(&mut |entry, reader| {
            let wanted = wanted(&entry);
            let step = match wanted {
                true => run.take(want(entry), entry.name(), entry.size, reader),
                false => run.skip(entry.name(), reader),
            };
            left -= usize::from(wanted);
            failure = step.err();
            Ok(failure.is_none() && left > 0)
        });
        if let Some(failure) = failure {
            return Err(failure);
        }
        result.map_err(|error| explain(run, Some(&first), error))?;
    }
    // Files without bytes belong to no block.
    for entry in archive.files.iter().filter(|entry| !entry.has_stream) {
        run.take(want(entry), entry.name(), 0, &mut std::io::empty())?;
    }
    Ok(())
}

/// Refuses a block before it is decoded when it is encrypted or its dictionary is too large.
fn check_methods(run: &Run<'_>, name: &str, block: &sevenz_rust2::Block) -> Result<(), InputError> {
    if block.coders.iter().any(|coder| coder.encoder_method_id() == EncoderMethod::ID_AES256_SHA256) {
        return Err(run.encrypted(Some(name)));
    }
    run.allow_dictionary(Some(name), block.coders.iter().map(dictionary).max().unwrap_or(0))
}

fn explain(run: &Run<'_>, name: Option<&str>, error: Error) -> InputError {
    match error {
        Error::Io(error, _) | Error::FileOpen(error, _) | Error::MaybeBadPassword(error) => run.failed(name, error),
        Error::PasswordRequired => run.encrypted(name),
        Error::UnsupportedCompressionMethod(method) if is_aes(&method) => run.encrypted(name),
        Error::UnsupportedCompressionMethod(method) => run.unknown_method(name, method),
        Error::Unsupported(what) => run.unknown_method(name, what),
        Error::BadSignature(_) => run.damaged(name, "it does not begin like a 7z file"),
        Error::ChecksumVerificationFailed | Error::NextHeaderCrcMismatch => {
            run.damaged(name, "a checksum does not match")
        }
        Error::Other(what) => run.damaged(name, what),
        error => run.damaged(name, error),
    }
}

/// Whether the decoder's words for an unknown method mean encryption: its name, or its id as a list of bytes.
fn is_aes(method: &str) -> bool {
    method.contains("AES") || method == format!("{:?}", EncoderMethod::ID_AES256_SHA256)
}
