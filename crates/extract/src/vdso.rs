//! The code that the kernel maps into every process of a Linux machine: a file that lies in no file system.

use std::io::Cursor;

use tracesift_symbols::elf::{self, Companions};
use tracesift_symbols::machine::{Machine, vdso_bytes};
use tracesift_symbols::{BuildId, Error, Table};

use crate::recorder_facts::RecorderFacts;

/// The one of a recorded machine.
#[derive(Clone, Debug)]
pub(crate) struct Vdso {
    bytes: Vec<u8>,
    build_id: BuildId,
}

impl Vdso {
    /// The one that the recorder kept, if its document is of a machine with this kernel release; else this machine's, if it runs the
    /// kernel with the build id that was recorded: it is a part of the kernel.
    pub(crate) fn of_recording(facts: &mut RecorderFacts, release: Option<&str>, kernel: Option<&str>) -> Option<Self> {
        let is_other = facts.text("kernel").zip(release).is_some_and(|(noted, recorded)| noted != recorded);
        let kept = facts.take_vdso().filter(|_| !is_other);
        kept.and_then(Self::new).or_else(|| {
            let kernel: BuildId = kernel?.parse().ok()?;
            Machine::default().runs(&kernel).then(vdso_bytes).flatten().and_then(Self::new)
        })
    }

    /// `None` for what is no ELF file with a build id.
    pub(crate) fn new(bytes: Vec<u8>) -> Option<Self> {
        let build_id = elf::build_id(Cursor::new(bytes.as_slice())).ok().flatten()?;
        Some(Self { bytes, build_id })
    }

    /// Its content.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What tells it from others, in hex digits.
    pub(crate) fn build_id(&self) -> String {
        self.build_id.to_string()
    }

    /// Its names, by offset.
    ///
    /// # Errors
    /// [`Error::OtherBinary`] if another one is wanted.
    pub(crate) fn names(&self, wanted: &BuildId) -> Result<Table, Error> {
        elf::read(Cursor::new(self.bytes.as_slice()), Companions::default(), Some(wanted))
    }
}
