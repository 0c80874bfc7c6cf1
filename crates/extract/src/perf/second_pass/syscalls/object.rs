//! What a descriptor stands for, as the target of its link in `/proc` tells it.

use std::borrow::Cow;

/// The type of an object, and its name if it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Object<'a> {
    /// `file`, `socket`, `pipe`, `eventfd`, `anon_inode:timerfd`.
    pub(super) kind: Cow<'a, str>,
    /// Path of a file; `socket:[123]`.
    pub(super) name: Option<&'a str>,
}

impl<'a> Object<'a> {
    /// The object that a link points at.
    pub(super) fn of_link(target: &'a str) -> Self {
        // It was not deleted when it was opened.
        let target = target.strip_suffix(" (deleted)").unwrap_or(target);
        if target.starts_with('/') {
            let kind = if target.starts_with("/memfd:") { "memfd" } else { "file" };
            return Self { kind: kind.into(), name: Some(target) };
        }
        match target.split_once(':') {
            Some(("anon_inode", inode)) => {
                let inode = inode.strip_prefix('[').and_then(|inode| inode.strip_suffix(']')).unwrap_or(inode);
                let kind = match inode {
                    "eventfd" => Cow::from(inode),
                    _ => Cow::from(format!("anon_inode:{inode}")),
                };
                Self { kind, name: None }
            }
            // Newer kernels number them as they number sockets.
            Some(("pidfd", _)) => Self { kind: "anon_inode:pidfd".into(), name: Some(target) },
            Some((kind, _)) if !kind.contains('/') => Self { kind: kind.into(), name: Some(target) },
            _ => Self { kind: "file".into(), name: Some(target) },
        }
    }
}

impl Object<'_> {
    /// Whether a descriptor that stood for an object of a type can stand for this one still. `name`: that of the object.
    /// `of_link`: a link told both.
    pub(super) fn can_be(&self, kind: &str, name: Option<&str>, of_link: bool) -> bool {
        if has_path(kind) {
            // A file can be renamed. What a path leads to need not be a file: /dev/stdin, /proc/self/ns/net.
            return !of_link || has_path(&self.kind);
        }
        self.kind == kind && name.zip(self.name).is_none_or(|(before, now)| before == now)
    }
}

/// Whether objects of a type have a path, or their type in place of it.
pub(super) fn has_path(kind: &str) -> bool {
    matches!(kind, "file" | "memfd")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_stands_for_one_object_only() {
        for (kind, name, of_link, target, can) in [
            ("socket", None, false, "socket:[1]", true),
            ("socket", Some("socket:[1]"), true, "socket:[1]", true),
            ("socket", Some("socket:[1]"), true, "socket:[2]", false),
            ("socket", None, false, "pipe:[1]", false),
            ("socket", None, false, "/x", false),
            ("file", Some("/a"), true, "/b", true),
            ("file", Some("/a"), true, "pipe:[1]", false),
            ("file", Some("/dev/stdin"), false, "pipe:[1]", true),
            ("eventfd", None, false, "anon_inode:[eventfd]", true),
            ("eventfd", None, false, "anon_inode:[timerfd]", false),
        ] {
            assert_eq!(Object::of_link(target).can_be(kind, name, of_link), can, "{kind} {target}");
        }
    }

    #[test]
    fn links_tell_type_and_name() {
        for (target, kind, name) in [
            ("/etc/passwd", "file", Some("/etc/passwd")),
            ("/tmp/a (deleted)", "file", Some("/tmp/a")),
            ("/memfd:x (deleted)", "memfd", Some("/memfd:x")),
            ("socket:[123]", "socket", Some("socket:[123]")),
            ("pipe:[7]", "pipe", Some("pipe:[7]")),
            ("anon_inode:[eventfd]", "eventfd", None),
            ("anon_inode:[timerfd]", "anon_inode:timerfd", None),
            ("anon_inode:inotify", "anon_inode:inotify", None),
            ("anon_inode:[io_uring]", "anon_inode:io_uring", None),
            ("pidfd:[99]", "anon_inode:pidfd", Some("pidfd:[99]")),
            ("net:[4026531840]", "net", Some("net:[4026531840]")),
            ("", "file", Some("")),
        ] {
            assert_eq!(Object::of_link(target), Object { kind: kind.into(), name }, "{target}");
        }
    }
}
