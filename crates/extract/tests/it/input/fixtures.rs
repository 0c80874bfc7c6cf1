//! Archives made on the spot.

use std::io::{Cursor, Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use cab::{CabinetBuilder, CompressionType};
use flate2::Compression;
use flate2::write::GzEncoder;
use lzma_rust2::{XzOptions, XzWriter};
use sevenz_rust2::{ArchiveEntry, ArchiveWriter, SourceReader};
use tracesift_etl::ReadAt;
use tracesift_extract::input::container::open_file;
use tracesift_extract::input::{InputError, Member, OpenOptions, Opened, Progress};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Names and contents of an archive's members.
pub(super) type Files<'a> = &'a [(&'a str, &'a [u8])];

/// Bytes that look a little like a recording: repetitive, not constant, `seed` apart from each other.
pub(super) fn content(seed: u8, length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8 ^ (at / 4096) as u8 ^ seed).collect()
}

pub(super) fn zip(files: Files<'_>) -> Vec<u8> {
    zip_with(files, CompressionMethod::Deflated)
}

pub(super) fn zip_with(files: Files<'_>, method: CompressionMethod) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(method);
    for (name, content) in files {
        writer.start_file(*name, options).expect("start a member");
        writer.write_all(content).expect("write a member");
    }
    writer.finish().expect("finish the zip").into_inner()
}

/// All files in one block, as 7-Zip packs them.
pub(super) fn solid_7z(files: Files<'_>) -> Vec<u8> {
    let mut writer = ArchiveWriter::new(Cursor::new(Vec::new())).expect("start the 7z");
    let (with_data, without): (Vec<_>, Vec<_>) = files.iter().partition(|(_, content)| !content.is_empty());
    let entries = with_data.iter().map(|(name, _)| ArchiveEntry::new_file(name)).collect();
    let readers = with_data.iter().map(|(_, content)| SourceReader::from(*content)).collect::<Vec<_>>();
    writer.push_archive_entries(entries, readers).expect("write the block");
    for (name, _) in without {
        writer.push_archive_entry::<&[u8]>(ArchiveEntry::new_file(name), Some(&[])).expect("write an empty file");
    }
    writer.finish().expect("finish the 7z").into_inner()
}

pub(super) fn cabinet(files: Files<'_>, method: CompressionType) -> Vec<u8> {
    let mut builder = CabinetBuilder::new();
    let folder = builder.add_folder(method);
    for (name, _) in files {
        folder.add_file(*name);
    }
    let mut writer = builder.build(Cursor::new(Vec::new())).expect("start the cabinet");
    let mut contents = files.iter().map(|(_, content)| content);
    while let Some(mut file) = writer.next_file().expect("next file") {
        file.write_all(contents.next().expect("one content per file")).expect("write a file");
    }
    writer.finish().expect("finish the cabinet").into_inner()
}

pub(super) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut writer = GzEncoder::new(Vec::new(), Compression::default());
    writer.write_all(content).expect("compress");
    writer.finish().expect("finish the gzip")
}

pub(super) fn xz(content: &[u8]) -> Vec<u8> {
    let mut writer = XzWriter::new(Vec::new(), XzOptions::with_preset(1)).expect("start the xz");
    writer.write_all(content).expect("compress");
    writer.finish().expect("finish the xz")
}

/// A directory with one file in it.
pub(super) struct Placed {
    pub(super) directory: tempfile::TempDir,
    pub(super) path: PathBuf,
}

pub(super) fn place(name: &str, content: &[u8]) -> Placed {
    let directory = tempfile::tempdir().expect("temporary directory");
    let path = directory.path().join(name);
    std::fs::write(&path, content).expect("write the fixture");
    Placed { directory, path }
}

pub(super) fn open(path: &Path) -> Result<Opened, InputError> {
    open_with(path, &OpenOptions::default())
}

pub(super) fn open_with(path: &Path, options: &OpenOptions) -> Result<Opened, InputError> {
    open_file(path, options, &mut |_: Progress| ControlFlow::Continue(()))
}

/// Message of the error that opening gives, with the directory of the fixture left out.
pub(super) fn failure(placed: &Placed, options: &OpenOptions) -> String {
    let error = open_with(&placed.path, options).expect_err("must not open");
    let directory = format!("{}{}", placed.directory.path().display(), std::path::MAIN_SEPARATOR);
    error.to_string().replace(&directory, "")
}

pub(super) fn bytes(member: &Member) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(member.len()).expect("fits")];
    member.read_at(0, &mut bytes).expect("read the member");
    bytes
}

/// Names and contents of the members.
pub(super) fn contents(opened: &Opened) -> Vec<(Option<&str>, Vec<u8>)> {
    opened.members.iter().map(|member| (member.name(), bytes(member))).collect()
}

/// `count` zero bytes, deflated by `writer` without ever being in memory.
pub(super) fn zeros(count: u64, writer: &mut impl Write) {
    std::io::copy(&mut std::io::repeat(0).take(count), writer).expect("write zeros");
}
