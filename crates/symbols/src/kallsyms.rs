//! The kernel's own list of its symbols: `/proc/kallsyms`, or the `System.map` of a build.
//!
//! A line has an address in hex, a letter as of `nm`, a name, and behind a tab the module in brackets. No sizes: a symbol reaches to the
//! next one. Addresses are those of the running kernel, which is put to another place at each start, and of a `System.map` those of
//! the linker.

use std::io::BufRead;

use crate::text::hex_number;
use crate::{Error, Table, TableBuilder};

/// How names from here are marked.
const SOURCE: &str = "kallsyms";
/// Bytes of a line; the kernel's longest names have 512.
const MAX_LINE: u64 = 4 << 10;
/// Symbols of a kernel with all its modules are a few hundred thousand.
const MAX_SYMBOLS: usize = 16 << 20;
/// A module's last symbol, and the kernel's, reach no further than this.
const MAX_LAST: u64 = 1 << 20;

/// The symbols of the kernel or of a module.
#[derive(Debug)]
pub struct KernelPart {
    /// Name of the module, without brackets; `None` for the kernel itself.
    pub module: Option<String>,
    /// Names by absolute address.
    pub table: Table,
    /// Where the kernel's code begins (`_text`, or `_stext` where that is not listed), which recorders take for its begin; `None` of modules.
    pub text: Option<u64>,
}

/// What stands before the name of a function for the padding in front of it, where newer kernels put code that belongs to the function:
/// checks of who calls it, the count of how deep calls are. What was interrupted at its first instruction is looked for there, too,
/// when it is taken for a caller.
const PADDING: [&str; 2] = ["__pfx_", "__cfi_"];

struct Symbol {
    address: u64,
    /// Number of the module, 0 for the kernel.
    module: u32,
    kind: u8,
    name: Box<str>,
}

/// The kernel's functions and those of each module; the kernel comes first. Names of BPF programs (`[bpf]`) are left out: they come and
/// go, and recordings name those that ran.
///
/// # Errors
/// [`Error::Malformed`] if all addresses are 0, as they are shown to those who may not see them (`kernel.kptr_restrict`);
/// [`Error::OtherFormat`] if no line is one of a symbol.
pub fn read(mut text: impl BufRead) -> Result<Vec<KernelPart>, Error> {
    const FORMAT: Error = Error::OtherFormat("a list of the kernel's symbols");
    let mut modules: Vec<String> = vec![String::new()];
    let mut symbols: Vec<Symbol> = Vec::new();
    let (mut hidden, mut line) = (false, Vec::new());
    let (mut text_start, mut code_start) = (None, None);
    while next_line(&mut text, &mut line)? {
        let Ok(line) = str::from_utf8(&line) else { continue };
        let Some((address, kind, name, module)) = symbol(line) else {
            // What begins with something else is no such list, however long it is.
            if symbols.is_empty() && !hidden {
                return Err(FORMAT);
            }
            continue;
        };
        if address == 0 {
            // The first symbols of each CPU's data lie at 0 on some machines.
            hidden = true;
            continue;
        }
        if !matches!(kind, b't' | b'T' | b'w' | b'W') || module == Some("bpf") || symbols.len() == MAX_SYMBOLS {
            continue;
        }
        let module = match module {
            None => 0,
            Some(module) => {
                // Symbols of a module stand together.
                if modules.last().is_none_or(|last| last != module) {
                    modules.push(module.to_owned());
                }
                u32::try_from(modules.len() - 1).unwrap_or(u32::MAX)
            }
        };
        match name {
            "_text" => text_start = Some(address),
            "_stext" => code_start = Some(address),
            _ => {}
        }
        let name = PADDING.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
        symbols.push(Symbol { address, module, kind, name: name.into() });
    }
    if symbols.is_empty() {
        return Err(if hidden {
            Error::Malformed("it hides all addresses: kernel.kptr_restrict forbids the reader to see them".to_owned())
        } else {
            FORMAT
        });
    }
    let mut parts = parts(&modules, symbols);
    if let Some(kernel) = parts.iter_mut().find(|part| part.module.is_none()) {
        kernel.text = text_start.or(code_start);
    }
    Ok(parts)
}

/// A table for each run of symbols of the kernel or of one module, those of the same module together.
fn parts(modules: &[String], mut symbols: Vec<Symbol>) -> Vec<KernelPart> {
    symbols.sort_by(|a, b| {
        // Of several symbols for an address the same is chosen as of a file's symbols.
        let rank = |symbol: &Symbol| (symbol.kind.is_ascii_lowercase(), symbol.kind.eq_ignore_ascii_case(&b'w'));
        let underscores = |symbol: &Symbol| symbol.name.bytes().take_while(|byte| *byte == b'_').count();
        (a.address.cmp(&b.address))
            .then_with(|| (rank(a).1, rank(a).0, underscores(a)).cmp(&(rank(b).1, rank(b).0, underscores(b))))
            .then_with(|| b.name.len().cmp(&a.name.len()))
            .then_with(|| a.name.cmp(&b.name))
    });
    symbols.dedup_by_key(|symbol| symbol.address);
    let ends: Vec<u64> = symbols.iter().skip(1).map(|next| next.address).chain([u64::MAX]).collect();
    let mut order: Vec<usize> = (0..symbols.len()).collect();
    let name = |number: &usize| modules[symbols[*number].module as usize].as_str();
    order.sort_by(|a, b| name(a).cmp(name(b)).then(a.cmp(b)));
    let mut parts = Vec::new();
    for same in order.chunk_by(|a, b| name(a) == name(b)) {
        let mut builder = TableBuilder::new();
        for (place, number) in same.iter().enumerate() {
            let symbol = &symbols[*number];
            // Where another part begins, or nothing more, nobody says where the last one ends.
            let is_last = same.get(place + 1) != Some(&(number + 1));
            let most = if is_last { symbol.address.saturating_add(MAX_LAST) } else { u64::MAX };
            let function = builder.function(&symbol.name, None, SOURCE);
            let location = builder.location(None, function, None, 0);
            builder.add(symbol.address, ends[*number].min(most), location);
        }
        let module = Some(name(&same[0]).to_owned()).filter(|module| !module.is_empty());
        parts.push(KernelPart { module, table: builder.finish(""), text: None });
    }
    parts
}

/// Address, kind, name and module of a line.
fn symbol(line: &str) -> Option<(u64, u8, &str, Option<&str>)> {
    let mut words = line.split_ascii_whitespace();
    let address = hex_number(words.next()?)?;
    let &[kind] = words.next()?.as_bytes() else { return None };
    let name = words.next()?;
    let module = words.next().and_then(|word| word.strip_prefix('[')?.strip_suffix(']'));
    Some((address, kind, name, module))
}

/// Reads a line into `line`; what is longer than lines are is cut into several, which are none of a symbol.
fn next_line(text: &mut impl BufRead, line: &mut Vec<u8>) -> Result<bool, Error> {
    line.clear();
    std::io::Read::take(text, MAX_LINE).read_until(b'\n', line)?;
    Ok(!line.is_empty())
}
