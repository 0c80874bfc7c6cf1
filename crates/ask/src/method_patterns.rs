//! Patterns of methods: `*StreamWriter*;!*Dispose`, `ntdll.dll!Rtl*`, `*.dll`.
//!
//! Users name functions and seldom their modules, so a pattern describes the function unless it says otherwise.

use std::borrow::Cow;
use std::fmt;

use tracesift_grammar::Pattern;

/// Patterns of methods, as in `--methods`. Without a pattern every method passes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MethodPatterns {
    include: Vec<MethodPattern>,
    exclude: Vec<MethodPattern>,
    /// Whether some of them look at the module.
    need_module: bool,
    /// As they were given.
    text: String,
}

/// What patterns say about one method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    is_wanted: bool,
    is_excluded: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct MethodPattern {
    pattern: Pattern,
    with_module: bool,
}

impl MethodPatterns {
    /// Reads a list. A pattern with a `!` inside describes `module!function`, and so do all `with_module`. `*.dll` and
    /// `*.sys` as they stand mean the functions without symbols of such modules, which are called `module+0xRVA`.
    #[must_use]
    pub fn parse(list: &str, with_module: bool) -> Self {
        let mut patterns = Self { text: list.to_owned(), ..Self::default() };
        for item in list.split(';').map(str::trim).filter(|item| !item.is_empty()) {
            match item.strip_prefix('!').map(str::trim) {
                Some("") => {}
                Some(item) => patterns.exclude.extend(MethodPattern::all(item, with_module)),
                None => patterns.include.extend(MethodPattern::all(item, with_module)),
            }
        }
        patterns.need_module = patterns.include.iter().chain(&patterns.exclude).any(|item| item.with_module);
        patterns
    }

    /// Whether every method passes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.include.is_empty() && self.exclude.is_empty()
    }

    /// Whether some pattern looks at the module.
    #[must_use]
    pub fn need_module(&self) -> bool {
        self.need_module
    }

    /// Whether a method passes. `module` and `function` are its names in the answer.
    #[must_use]
    pub fn matches(&self, module: Option<&str>, function: &str) -> bool {
        if self.is_empty() {
            return true;
        }
        let Verdict { is_wanted, is_excluded } = self.verdict(module, function);
        (self.include.is_empty() || is_wanted) && !is_excluded
    }

    /// Whether several methods together pass: one of them is wanted, and none is excluded.
    pub(crate) fn lets_pass(&self, mut methods: impl Iterator<Item = Verdict>) -> bool {
        let mut is_wanted = self.include.is_empty();
        let is_excluded = methods.any(|verdict| {
            is_wanted |= verdict.is_wanted;
            verdict.is_excluded
        });
        is_wanted && !is_excluded
    }

    /// What the patterns say about a method alone.
    pub(crate) fn verdict(&self, module: Option<&str>, function: &str) -> Verdict {
        let function = one_separator(function);
        let method =
            if self.need_module { format!("{}!{function}", module.unwrap_or_default()) } else { String::new() };
        let hit = |patterns: &[MethodPattern]| {
            patterns.iter().any(|item| item.pattern.matches(if item.with_module { &method } else { &function }))
        };
        Verdict { is_wanted: hit(&self.include), is_excluded: hit(&self.exclude) }
    }
}

impl fmt::Display for MethodPatterns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl MethodPattern {
    /// The patterns that an item of a list stands for.
    fn all(item: &str, with_module: bool) -> Vec<Self> {
        let new = |text: &str| Self {
            with_module: with_module || text.contains('!'),
            pattern: Pattern::new(&one_separator(text)),
        };
        let without_symbols = ["*.dll", "*.sys"].into_iter().any(|alias| item.eq_ignore_ascii_case(alias));
        // Where all of a module are one row, that has the name of the module.
        if without_symbols { vec![new(item), new(&format!("{item}+*"))] } else { vec![new(item)] }
    }
}

/// `::` and `.` before the name of a method are the same.
fn one_separator(text: &str) -> Cow<'_, str> {
    // One character is found much faster than two.
    let may_have = memchr::memchr(b':', text.as_bytes()).is_some();
    if may_have && text.contains("::") { Cow::Owned(text.replace("::", ".")) } else { Cow::Borrowed(text) }
}

#[cfg(test)]
mod tests {
    use super::MethodPatterns;

    fn passes(list: &str, module: &str, function: &str) -> bool {
        MethodPatterns::parse(list, false).matches(Some(module), function)
    }

    #[test]
    fn functions_and_modules() {
        for list in ["Rtl*", "rtlallocateheap", "ntdll.dll!Rtl*", "*!*Heap", "!Nt*", "x;*heap", ""] {
            assert!(passes(list, "ntdll.dll", "RtlAllocateHeap"), "{list}");
        }
        for list in ["ntdll*", "Rtl", "!*Heap", "!ntdll.dll!*", "*heap;!ntdll.dll!Rtl*", "kernel32.dll!Rtl*"] {
            assert!(!passes(list, "ntdll.dll", "RtlAllocateHeap"), "{list}");
        }
        assert!(MethodPatterns::parse("ntdll*Rtl*", true).matches(Some("ntdll.dll"), "RtlAllocateHeap"));
        assert!(MethodPatterns::parse("*unknown*", false).matches(None, "[unknown]"));
    }

    #[test]
    fn several_methods_pass_together() {
        let passes = |list: &str, functions: &[&str]| {
            let patterns = MethodPatterns::parse(list, false);
            patterns.lets_pass(functions.iter().map(|function| patterns.verdict(Some("a.dll"), function)))
        };
        let stack = ["NtCreateFile", "Load", "Main"];
        for list in ["", "Load", "a.dll!M*", "none;Main", "!none", "Load;!none"] {
            assert!(passes(list, &stack), "{list}");
        }
        for list in ["none", "!Load", "Main;!Load", "b.dll!*"] {
            assert!(!passes(list, &stack), "{list}");
        }
    }

    #[test]
    fn separators_are_the_same() {
        assert!(passes("std.vec.*", "a", "std::vec::push") && passes("Stream::Read", "a", "Stream.Read"));
    }

    #[test]
    fn modules_alone_mean_functions_without_symbols() {
        assert!(passes("*.dll", "a.dll", "a.dll+0x12") && passes("*.SYS;*.dll", "b.sys", "b.sys+0x1"));
        assert!(passes("*.dll", "a.dll", "a.dll"), "all of a module in one row");
        assert!(!passes("*.dll", "a.dll", "My.dllHelper.Run"));
        assert!(!passes("*.dll", "a.dll", "Read") && !passes("*.dll", "b.sys", "b.sys+0x1"));
    }
}
