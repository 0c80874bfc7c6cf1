//! The errors of Linux: their names, and which of them are asked for.

use rustc_hash::FxHashMap;
use tracesift_grammar::Patterns;

/// Names by number, from 1 on, of `asm-generic/errno-base.h` and `errno.h`, which all architectures but MIPS, Alpha, PA-RISC and SPARC use.
/// Empty: there is none of that number.
const NAMES: [&str; 133] = [
    "EPERM",
    "ENOENT",
    "ESRCH",
    "EINTR",
    "EIO",
    "ENXIO",
    "E2BIG",
    "ENOEXEC",
    "EBADF",
    "ECHILD",
    "EAGAIN",
    "ENOMEM",
    "EACCES",
    "EFAULT",
    "ENOTBLK",
    "EBUSY",
    "EEXIST",
    "EXDEV",
    "ENODEV",
    "ENOTDIR",
    "EISDIR",
    "EINVAL",
    "ENFILE",
    "EMFILE",
    "ENOTTY",
    "ETXTBSY",
    "EFBIG",
    "ENOSPC",
    "ESPIPE",
    "EROFS",
    "EMLINK",
    "EPIPE",
    "EDOM",
    "ERANGE",
    "EDEADLK",
    "ENAMETOOLONG",
    "ENOLCK",
    "ENOSYS",
    "ENOTEMPTY",
    "ELOOP",
    "",
    "ENOMSG",
    "EIDRM",
    "ECHRNG",
    "EL2NSYNC",
    "EL3HLT",
    "EL3RST",
    "ELNRNG",
    "EUNATCH",
    "ENOCSI",
    "EL2HLT",
    "EBADE",
    "EBADR",
    "EXFULL",
    "ENOANO",
    "EBADRQC",
    "EBADSLT",
    "",
    "EBFONT",
    "ENOSTR",
    "ENODATA",
    "ETIME",
    "ENOSR",
    "ENONET",
    "ENOPKG",
    "EREMOTE",
    "ENOLINK",
    "EADV",
    "ESRMNT",
    "ECOMM",
    "EPROTO",
    "EMULTIHOP",
    "EDOTDOT",
    "EBADMSG",
    "EOVERFLOW",
    "ENOTUNIQ",
    "EBADFD",
    "EREMCHG",
    "ELIBACC",
    "ELIBBAD",
    "ELIBSCN",
    "ELIBMAX",
    "ELIBEXEC",
    "EILSEQ",
    "ERESTART",
    "ESTRPIPE",
    "EUSERS",
    "ENOTSOCK",
    "EDESTADDRREQ",
    "EMSGSIZE",
    "EPROTOTYPE",
    "ENOPROTOOPT",
    "EPROTONOSUPPORT",
    "ESOCKTNOSUPPORT",
    "EOPNOTSUPP",
    "EPFNOSUPPORT",
    "EAFNOSUPPORT",
    "EADDRINUSE",
    "EADDRNOTAVAIL",
    "ENETDOWN",
    "ENETUNREACH",
    "ENETRESET",
    "ECONNABORTED",
    "ECONNRESET",
    "ENOBUFS",
    "EISCONN",
    "ENOTCONN",
    "ESHUTDOWN",
    "ETOOMANYREFS",
    "ETIMEDOUT",
    "ECONNREFUSED",
    "EHOSTDOWN",
    "EHOSTUNREACH",
    "EALREADY",
    "EINPROGRESS",
    "ESTALE",
    "EUCLEAN",
    "ENOTNAM",
    "ENAVAIL",
    "EISNAM",
    "EREMOTEIO",
    "EDQUOT",
    "ENOMEDIUM",
    "EMEDIUMTYPE",
    "ECANCELED",
    "ENOKEY",
    "EKEYEXPIRED",
    "EKEYREVOKED",
    "EKEYREJECTED",
    "EOWNERDEAD",
    "ENOTRECOVERABLE",
    "ERFKILL",
    "EHWPOISON",
];

/// What the kernel uses inside: tracepoints see them before a call that was interrupted is begun anew.
const INSIDE: [(i64, &str); 5] = [
    (512, "ERESTARTSYS"),
    (513, "ERESTARTNOINTR"),
    (514, "ERESTARTNOHAND"),
    (515, "ENOIOCTLCMD"),
    (516, "ERESTART_RESTARTBLOCK"),
];

/// The name of an error, such as `ENOENT`; its number where it has none.
pub(super) fn name(error: i64) -> String {
    let known = usize::try_from(error).ok().and_then(|error| NAMES.get(error.checked_sub(1)?)).copied();
    let inside = || INSIDE.iter().find(|(number, _)| *number == error).map(|(_, name)| *name);
    known.filter(|name| !name.is_empty()).or_else(inside).map_or_else(|| error.to_string(), str::to_owned)
}

/// Which errors are asked for, found once each.
pub(super) struct Asked<'a> {
    patterns: &'a Patterns,
    known: FxHashMap<i64, bool>,
}

impl<'a> Asked<'a> {
    pub(super) fn new(patterns: &'a Patterns) -> Self {
        Self { patterns, known: FxHashMap::default() }
    }

    /// Whether a call that ended like this is asked for. Where errors are asked for, one without is not.
    pub(super) fn contain(&mut self, error: Option<i64>) -> bool {
        if self.patterns.is_empty() {
            return true;
        }
        let patterns = self.patterns;
        error.is_some_and(|error| {
            *self.known.entry(error).or_insert_with(|| patterns.matches_any(&[&name(error), &error.to_string()]))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_their_names() {
        for (error, expected) in [
            (1, "EPERM"),
            (2, "ENOENT"),
            (11, "EAGAIN"),
            (17, "EEXIST"),
            (39, "ENOTEMPTY"),
            (41, "41"),
            (42, "ENOMSG"),
            (58, "58"),
            (95, "EOPNOTSUPP"),
            (110, "ETIMEDOUT"),
            (133, "EHWPOISON"),
            (134, "134"),
            (512, "ERESTARTSYS"),
            (0, "0"),
            (-1, "-1"),
            (i64::MIN, i64::MIN.to_string().as_str()),
        ] {
            assert_eq!(name(error), expected);
        }
    }
}
