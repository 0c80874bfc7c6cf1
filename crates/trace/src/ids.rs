//! Row ids. Opaque, dense, given at first sight; meaningful only together with the recording's own id.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub i32);

        impl $name {
            /// The id as an index into a dense table.
            ///
            /// # Panics
            /// Never for an id that a table of this crate gave out: those are not negative.
            #[must_use]
            #[inline]
            pub fn index(self) -> usize {
                usize::try_from(self.0).expect("ids are dense and not negative")
            }

            /// The id of the row at `index` of a dense table.
            ///
            /// # Panics
            /// When the table has more than `i32::MAX` rows, which the interners' budgets rule out.
            #[must_use]
            pub fn from_index(index: usize) -> Self {
                Self(i32::try_from(index).expect("fewer than 2^31 rows"))
            }
        }
    };
}

id!(
    /// A process: one life of a pid.
    ProcessId
);
id!(
    /// A thread: one life of a tid. The idle thread counts once per CPU.
    ThreadId
);
id!(
    /// A module: one image file by name, size and time stamp, however often it is mapped.
    ModuleId
);
id!(
    /// A frame: one code address, as module and RVA or as process and address.
    FrameId
);
id!(
    /// A call stack: a list of frames, leaf first. Deduplication is best effort.
    StackId
);
id!(
    /// A file by its path.
    FileId
);
id!(
    /// A network connection: one life of it.
    ConnectionId
);
