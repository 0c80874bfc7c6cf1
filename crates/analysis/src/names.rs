//! Methods: what a frame is called, and when two frames are the same method.

use std::fmt;

use rustc_hash::FxHashMap;

/// A method as a dense number within one analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MethodId(pub u32);

/// A method: module and function without arguments. Two frames with the same pair are the same method, wherever in the
/// function they point and however it is overloaded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MethodName {
    /// Module name without path; `None` where no module is known.
    pub module: Option<String>,
    /// Function without arguments; `module+0xRVA` without a symbol, `[unknown]` where there is no module either.
    pub function: String,
}

impl MethodName {
    /// The name as [`Display`](fmt::Display) writes it, faster.
    #[must_use]
    pub fn into_text(self) -> String {
        let Some(mut text) = self.module else { return self.function };
        text.reserve_exact(1 + self.function.len());
        text.push('!');
        text.push_str(&self.function);
        text
    }
}

impl fmt::Display for MethodName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.module {
            Some(module) => write!(out, "{module}!{}", self.function),
            None => out.write_str(&self.function),
        }
    }
}

/// Gives methods their numbers. Names without a symbol are not stored but made when asked for: a recording without symbols
/// has as many of them as frames.
#[derive(Clone, Debug, Default)]
pub struct MethodNames {
    texts: Vec<Box<str>>,
    text_ids: FxHashMap<Box<str>, u32>,
    methods: Vec<Key>,
    method_ids: FxHashMap<Key, u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    Function { module: Option<u32>, function: u32 },
    Rva { module: u32, rva: i64 },
    Module { module: u32 },
    Unknown,
    Line { method: u32, file: u32, line: i32 },
    Address { method: u32, address: i64 },
}

/// Where in a method: of rows that are finer than methods.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// A source line.
    Line {
        /// The source file.
        file: String,
        /// The line, from 1.
        line: i32,
    },
    /// An instruction: its RVA in the module, or its address where there is no module.
    Address(i64),
}

impl MethodNames {
    /// No methods yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The method of a frame with a symbol.
    pub fn function(&mut self, module: Option<&str>, function: &str) -> MethodId {
        let module = module.map(|module| self.text(module));
        let function = self.text(function);
        self.method(Key::Function { module, function })
    }

    /// The method of a frame in a module for which there is no symbol: each address is its own.
    pub fn without_symbol(&mut self, module: &str, rva: i64) -> MethodId {
        let module = self.text(module);
        self.method(Key::Rva { module, rva })
    }

    /// All frames of a module for which there is no symbol, as one method. Its name is that of the module.
    pub fn unresolved(&mut self, module: &str) -> MethodId {
        let module = self.text(module);
        self.method(Key::Module { module })
    }

    /// A line of a method, as if it were a method of its own.
    pub fn at_line(&mut self, method: MethodId, file: &str, line: i32) -> MethodId {
        let file = self.text(file);
        self.method(Key::Line { method: method.0, file, line })
    }

    /// An instruction of a method, as if it were a method of its own.
    pub fn at_address(&mut self, method: MethodId, address: i64) -> MethodId {
        self.method(Key::Address { method: method.0, address })
    }

    /// Where in its method it is, if it was made by [`Self::at_line`] or [`Self::at_address`].
    #[must_use]
    pub fn place(&self, method: MethodId) -> Option<Place> {
        match *self.methods.get(method.0 as usize)? {
            Key::Line { file, line, .. } => Some(Place::Line { file: self.text_of(file), line }),
            Key::Address { address, .. } => Some(Place::Address(address)),
            Key::Function { .. } | Key::Rva { .. } | Key::Module { .. } | Key::Unknown => None,
        }
    }

    /// The method of all frames of which neither module nor symbol is known.
    pub fn unknown(&mut self) -> MethodId {
        self.method(Key::Unknown)
    }

    /// The name of a method; that of an unknown frame for a number that was not given out here.
    #[must_use]
    pub fn name(&self, method: MethodId) -> MethodName {
        let text = |id| self.text_of(id);
        match self.methods.get(method.0 as usize) {
            Some(&Key::Function { module, function }) => {
                MethodName { module: module.map(text), function: text(function) }
            }
            Some(&Key::Rva { module, rva }) => {
                let module = text(module);
                let function = format!("{module}+{rva:#x}");
                MethodName { module: Some(module), function }
            }
            Some(&Key::Module { module }) => MethodName { module: Some(text(module)), function: text(module) },
            // What they are places of was there before, so this ends.
            Some(&Key::Line { method, .. } | &Key::Address { method, .. }) => self.name(MethodId(method)),
            Some(Key::Unknown) | None => MethodName { module: None, function: "[unknown]".to_owned() },
        }
    }

    /// Number of methods.
    #[must_use]
    pub fn len(&self) -> usize {
        self.methods.len()
    }

    /// Whether there are no methods yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.methods.is_empty()
    }

    /// Makes room for so many more methods.
    pub fn reserve(&mut self, methods: usize) {
        self.methods.reserve(methods);
        self.method_ids.reserve(methods);
        self.texts.reserve(methods);
        self.text_ids.reserve(methods);
    }

    fn text_of(&self, id: u32) -> String {
        self.texts.get(id as usize).map_or_else(String::new, |text| text.to_string())
    }

    fn text(&mut self, text: &str) -> u32 {
        if let Some(&id) = self.text_ids.get(text) {
            return id;
        }
        let id = dense(self.texts.len());
        self.texts.push(text.into());
        self.text_ids.insert(text.into(), id);
        id
    }

    fn method(&mut self, key: Key) -> MethodId {
        let methods = &mut self.methods;
        MethodId(*self.method_ids.entry(key).or_insert_with(|| {
            methods.push(key);
            dense(methods.len() - 1)
        }))
    }
}

/// Numbers stay below 2^32 because the strings behind them would not fit into memory before.
fn dense(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::{MethodNames, Place};

    #[test]
    fn a_method_is_module_and_function() {
        let mut names = MethodNames::new();
        let read = names.function(Some("ntdll.dll"), "NtReadFile");
        assert_eq!(names.function(Some("ntdll.dll"), "NtReadFile"), read);
        assert_ne!(names.function(Some("wow64.dll"), "NtReadFile"), read);
        assert_ne!(names.function(None, "NtReadFile"), read);
        assert_eq!(names.name(read).to_string(), "ntdll.dll!NtReadFile");
    }

    #[test]
    fn without_symbol_the_address_is_the_name() {
        let mut names = MethodNames::new();
        let method = names.without_symbol("Ntfs.sys", 0x1a2b);
        assert_eq!(names.name(method).to_string(), "Ntfs.sys!Ntfs.sys+0x1a2b");
        assert_ne!(names.without_symbol("Ntfs.sys", 0x1a2c), method);
    }

    #[test]
    fn places_have_the_name_of_their_method() {
        let mut names = MethodNames::new();
        let read = names.function(Some("a.dll"), "Read");
        let line = names.at_line(read, "read.c", 7);
        let address = names.at_address(read, 0x20);
        assert_eq!(names.at_line(read, "read.c", 7), line);
        assert_ne!(names.at_line(read, "read.c", 8), line);
        assert_eq!(names.name(line), names.name(read));
        assert_eq!(names.place(line), Some(Place::Line { file: "read.c".to_owned(), line: 7 }));
        assert_eq!(names.place(address), Some(Place::Address(0x20)));
        assert_eq!(names.place(read), None);
        let folded = names.unresolved("b.dll");
        assert_eq!(names.unresolved("b.dll"), folded);
        assert_eq!(names.name(folded).to_string(), "b.dll!b.dll");
    }

    #[test]
    fn frames_outside_of_any_module_are_one_method() {
        let mut names = MethodNames::new();
        let method = names.unknown();
        assert_eq!(names.unknown(), method);
        assert_eq!(names.name(method).to_string(), "[unknown]");
        assert_eq!(names.len(), 1);
    }
}
