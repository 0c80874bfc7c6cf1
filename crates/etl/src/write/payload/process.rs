//! Processes and threads.

use super::Bytes;
use crate::write::Hook;

/// A security identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sid<'a> {
    /// Identifier authority: 5 is the NT authority.
    pub authority: u8,
    /// Sub-authorities, at most 15; more are cut.
    pub sub_authorities: &'a [u32],
}

impl Sid<'_> {
    /// `S-1-5-18`, the account of the system itself.
    pub const LOCAL_SYSTEM: Sid<'static> = Sid { authority: 5, sub_authorities: &[18] };

    /// A TOKEN_USER as the kernel copies it, pointer included, then the identifier.
    fn encode(self, out: &mut Bytes) {
        let user_bytes = 2 * out.pointer_size().bytes();
        let start = out.as_slice().len();
        // The pointer to the identifier: any value but 0, which would say that there is none.
        out.pointer(0xFFFF_C00A_5A5A_0010);
        out.pad_to(start + user_bytes);
        let sub_authorities = &self.sub_authorities[..self.sub_authorities.len().min(15)];
        out.bytes(&[1, sub_authorities.len() as u8, 0, 0, 0, 0, 0, self.authority]);
        for part in sub_authorities {
            out.u32(*part);
        }
    }
}

/// Bits of [`Process::flags`].
pub mod process_flags {
    /// A 32-bit process on a 64-bit system.
    pub const WOW64: u32 = 2;
}

/// Process, version 4.
#[derive(Clone, Copy, Debug)]
pub struct Process<'a> {
    /// Address of the process object.
    pub key: u64,
    /// Process id.
    pub pid: u32,
    /// Id of the creator.
    pub parent_pid: u32,
    /// Terminal-services session.
    pub session: u32,
    /// Exit status; 0x103 while it runs.
    pub exit_status: i32,
    /// See [`process_flags`].
    pub flags: u32,
    /// Owner.
    pub user: Option<Sid<'a>>,
    /// File name of the image.
    pub image: &'a str,
    /// Command line.
    pub command_line: &'a str,
    /// Full name of the app package.
    pub package: &'a str,
    /// Application user model id.
    pub application: &'a str,
}

impl Process<'_> {
    /// Created.
    pub const START: Hook = Hook::new(3, 1, 4);
    /// Ended.
    pub const END: Hook = Hook::new(3, 2, 4);
    /// Ran when the session started.
    pub const DC_START: Hook = Hook::new(3, 3, 4);
    /// Ran when the session ended.
    pub const DC_END: Hook = Hook::new(3, 4, 4);

    /// Appends the payload.
    pub fn encode(&self, out: &mut Bytes) {
        out.pointer(self.key);
        out.u32(self.pid);
        out.u32(self.parent_pid);
        out.u32(self.session);
        out.i32(self.exit_status);
        out.pointer(0); // directory table base
        out.u32(self.flags);
        match self.user {
            Some(user) => user.encode(out),
            None => out.u32(0),
        }
        out.text(self.image);
        out.utf16(self.command_line);
        out.utf16(self.package);
        out.utf16(self.application);
    }
}

/// Thread, version 3.
#[derive(Clone, Copy, Debug, Default)]
pub struct Thread<'a> {
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// Address of the function that the thread was started with.
    pub start_address: u64,
    /// Key of the service that it works for.
    pub service_tag: u32,
    /// Base priority.
    pub base_priority: u8,
    /// Name; absent when empty.
    pub name: &'a str,
}

impl Thread<'_> {
    /// Created.
    pub const START: Hook = Hook::new(5, 1, 3);
    /// Ended; the thread itself logs it and runs a little longer.
    pub const END: Hook = Hook::new(5, 2, 3);
    /// Ran when the session started.
    pub const DC_START: Hook = Hook::new(5, 3, 3);
    /// Ran when the session ended.
    pub const DC_END: Hook = Hook::new(5, 4, 3);

    /// Appends the payload.
    pub fn encode(&self, out: &mut Bytes) {
        out.u32(self.pid);
        out.u32(self.tid);
        for _ in ["stack base", "stack limit", "user stack base", "user stack limit"] {
            out.pointer(0);
        }
        out.pointer(0xFF); // affinity
        out.pointer(self.start_address);
        out.pointer(0); // thread environment block
        out.u32(self.service_tag);
        out.bytes(&[self.base_priority, 5, 2, 0]); // page priority, I/O priority, flags
        if !self.name.is_empty() {
            out.utf16(self.name);
        }
    }
}
