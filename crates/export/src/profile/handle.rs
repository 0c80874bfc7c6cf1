//! Ids are numbers of rows. A type for each keeps a frame from being taken for a stack.

/// Declares the id of a row, four bytes wide.
macro_rules! handle {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub(crate) u32);

        impl $name {
            /// The number of the row, from zero.
            pub fn row(self) -> usize {
                self.0 as usize
            }

            /// The id of the row that comes next in a table of `rows` rows.
            ///
            /// # Panics
            ///
            /// When there are 2³² − 1 rows already, which is more than 32 GiB of any table.
            pub(crate) fn next(rows: usize) -> Self {
                assert!(rows < u32::MAX as usize, "a table of a profile is full");
                Self(rows as u32)
            }
        }
    };
}

handle!(
    /// A text in the catalog.
    StringId
);
handle!(
    /// A frame in the catalog.
    FrameId
);
handle!(
    /// A stack in the catalog: a frame and the stack of its caller.
    StackId
);
handle!(
    /// A process in the catalog.
    ProcessId
);
handle!(
    /// A thread in the catalog.
    ThreadId
);

impl StringId {
    /// The empty text, which also stands for "not known".
    pub const EMPTY: Self = Self(0);
}

impl StackId {
    /// The stack of a sample that was taken without one. Its only frame is named `[no stack]`.
    pub const NONE: Self = Self(0);
}
