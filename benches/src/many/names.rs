//! Names of methods as a machine's recordings have them: the system's, which all share, and those of what was just built, which are
//! other ones in every recording.

use std::collections::HashSet;

use tracesift_scenario::SplitMix64;

/// Module and function.
pub(crate) type Name = (String, String);

const NATIVE: [(&str, &[&str]); 12] = [
    ("ntoskrnl.exe", &["Ke", "Ki", "Mi", "Mm", "Nt", "Ob", "Ps", "Psp", "Ex", "Exp", "Io", "Iop", "Cc", "Se"]),
    ("Ntfs.sys", &["Ntfs"]),
    ("FLTMGR.SYS", &["Fltp", "Flt"]),
    ("tcpip.sys", &["Tcp", "Udp", "Ip", "Ipp"]),
    ("win32kfull.sys", &["NtUser", "xxx", "Gre", "Edg"]),
    ("ntdll.dll", &["Rtl", "Rtlp", "Ldr", "Ldrp", "Nt", "Zw", "Tp", "Tpp"]),
    ("KERNELBASE.dll", &["", "Base", "Basep"]),
    ("kernel32.dll", &["", "Base"]),
    ("combase.dll", &["Co", "CRpc", "CStdMarshal::", "CProxy::"]),
    ("rpcrt4.dll", &["Ndr", "Rpc", "LRPC_CASSOCIATION::", "LRPC_ADDRESS::"]),
    ("coreclr.dll", &["MethodTable::", "SVR::gc_heap::", "Thread::", "EEClass::", "Assembly::", "ILStubCache::"]),
    ("mpengine.dll", &["Ufs", "ScanJob::", "SignatureStore::", "x86_"]),
];
const MANAGED: [(&str, &str); 6] = [
    ("System.Private.CoreLib.dll", "System."),
    ("System.Linq.dll", "System.Linq."),
    ("System.Net.Http.dll", "System.Net.Http."),
    ("System.Text.Json.dll", "System.Text.Json."),
    ("Microsoft.AspNetCore.Server.Kestrel.Core.dll", "Microsoft.AspNetCore.Server.Kestrel.Core.Internal."),
    ("PresentationCore.dll", "System.Windows.Media."),
];
const VERBS: [&str; 28] = [
    "Acquire",
    "Allocate",
    "Bind",
    "Build",
    "Check",
    "Close",
    "Commit",
    "Copy",
    "Create",
    "Decode",
    "Delete",
    "Dispatch",
    "Find",
    "Flush",
    "Free",
    "Get",
    "Initialize",
    "Insert",
    "Load",
    "Lookup",
    "Open",
    "Query",
    "Read",
    "Release",
    "Resolve",
    "Set",
    "Wait",
    "Write",
];
const NOUNS: [&str; 36] = [
    "Address",
    "Attribute",
    "Block",
    "Buffer",
    "Cache",
    "Channel",
    "Completion",
    "Context",
    "Descriptor",
    "Directory",
    "Event",
    "Extent",
    "File",
    "Handle",
    "Heap",
    "Index",
    "Key",
    "List",
    "Lock",
    "Map",
    "Message",
    "Name",
    "Object",
    "Packet",
    "Page",
    "Process",
    "Queue",
    "Request",
    "Security",
    "Segment",
    "Session",
    "Stream",
    "Table",
    "Thread",
    "Token",
    "Transaction",
];
const SUFFIXES: [&str; 10] = ["", "", "", "Ex", "Internal", "Worker", "ForProcess", "Async", "NoLock", "Fast"];
const TYPES: [&str; 12] = [
    "StreamWriter",
    "StreamReader",
    "Dictionary`2[System.__Canon,System.__Canon]",
    "List`1[System.__Canon]",
    "HttpConnection",
    "JsonSerializer",
    "ConcurrentQueue`1[System.__Canon]",
    "Task`1[System.__Canon]",
    "PipeReader",
    "FileStream",
    "Utf8Parser",
    "Visual",
];
const PARTS: [&str; 20] = [
    "Billing",
    "Catalog",
    "Checkout",
    "Customer",
    "Delivery",
    "Discount",
    "Document",
    "Export",
    "Ledger",
    "Order",
    "Payment",
    "Pricing",
    "Report",
    "Return",
    "Shipment",
    "Stock",
    "Supplier",
    "Tax",
    "User",
    "Warehouse",
];
const ROLES: [&str; 12] = [
    "Service",
    "Repository",
    "Controller",
    "Handler",
    "Validator",
    "Mapper",
    "Factory",
    "Worker",
    "Provider",
    "Client",
    "Store",
    "Policy",
];

/// `count` different names of the system, the same ones every time.
pub(crate) fn shared(count: usize) -> Vec<Name> {
    distinct(&mut SplitMix64::new(1), count, |random| if random.chance(65) { native(random) } else { managed(random) })
}

/// `count` different names of what only this recording has: the application of its build, and code without symbols.
pub(crate) fn own(archive: usize, count: usize) -> Vec<Name> {
    let build = 4000 + archive;
    distinct(&mut SplitMix64::new(1_000 + archive as u64), count, |random| {
        if random.chance(30) { without_symbols(random) } else { application(random, build) }
    })
}

fn distinct(random: &mut SplitMix64, count: usize, mut make: impl FnMut(&mut SplitMix64) -> Name) -> Vec<Name> {
    let mut seen = HashSet::new();
    let mut names = Vec::with_capacity(count);
    while names.len() < count {
        let name = make(random);
        if seen.insert(name.clone()) {
            names.push(name);
        }
    }
    names
}

fn of<'a>(random: &mut SplitMix64, words: &[&'a str]) -> &'a str {
    words[random.index(words.len())]
}

fn native(random: &mut SplitMix64) -> Name {
    let (module, prefixes) = NATIVE[random.index(NATIVE.len())];
    let function =
        [prefixes[random.index(prefixes.len())], of(random, &VERBS), of(random, &NOUNS), of(random, &SUFFIXES)];
    (module.to_owned(), function.concat())
}

fn managed(random: &mut SplitMix64) -> Name {
    let (module, namespace) = MANAGED[random.index(MANAGED.len())];
    let function = format!(
        "{namespace}{}.{}{}{}",
        of(random, &TYPES),
        of(random, &VERBS),
        of(random, &NOUNS),
        of(random, &SUFFIXES)
    );
    (module.to_owned(), function)
}

fn application(random: &mut SplitMix64, build: usize) -> Name {
    let part = of(random, &PARTS);
    let class = format!("Contoso.Shop.{part}.{}{}", of(random, &PARTS), of(random, &ROLES));
    let method = format!("{}{}", of(random, &VERBS), of(random, &NOUNS));
    // What compilers make of async methods and of lambdas has numbers that change with every build.
    let function = match random.below(3) {
        0 => format!("{class}+<{method}Async>d__{}.MoveNext", random.below(90) + build as u64),
        1 => format!("{class}+<>c__DisplayClass{}_0.<{method}>b__0", random.below(90) + build as u64),
        _ => format!("{class}.{method}_v{build}"),
    };
    (format!("Contoso.Shop.{part}.dll"), function)
}

fn without_symbols(random: &mut SplitMix64) -> Name {
    let module = of(
        random,
        &["nvwgf2umx.dll", "sqlservr.exe", "CsFalconService.exe", "igdumdim64.dll", "chrome.dll", "vendor.sys"],
    );
    (module.to_owned(), format!("{module}+{:#x}", random.below(1 << 24)))
}
