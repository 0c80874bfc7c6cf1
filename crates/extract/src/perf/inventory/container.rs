//! Finds the container of a control group. Runtimes put the id of the container into the path of
//! the group.

/// What runtimes call the groups of their containers.
const RUNTIMES: [&str; 8] = ["docker", "libpod", "podman", "containerd", "cri-containerd", "crio", "cri-o", "lxc"];
/// Digits of an id that stands for a container without a runtime's name beside it.
const WHOLE_ID: usize = 64;
/// Digits of the shortest id that runtimes show.
const SHORT_ID: usize = 12;
/// LXC names its containers.
const LXC: &str = "lxc.payload.";

/// The id of the innermost container of a path such as `/system.slice/docker-<id>.scope`, `/docker/<id>`,
/// `/kubepods.slice/…/cri-containerd-<id>.scope` or `/kubepods/burstable/pod<uid>/<id>`.
pub(crate) fn container_of(path: &str) -> Option<&str> {
    let mut segments = path.rsplit('/').peekable();
    while let Some(segment) = segments.next() {
        if let Some(name) = segment.strip_prefix(LXC).filter(|name| !name.is_empty()) {
            return Some(name);
        }
        let segment = segment.strip_suffix(".scope").or_else(|| segment.strip_suffix(".service")).unwrap_or(segment);
        let (runtime, id) = match segment.rsplit_once('-') {
            Some((runtime, id)) => (runtime, id),
            None => (segments.peek().copied().unwrap_or_default(), segment),
        };
        // Conmon watches a container from outside.
        if runtime.ends_with("conmon") || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            continue;
        }
        if id.len() == WHOLE_ID || id.len() >= SHORT_ID && RUNTIMES.contains(&runtime) {
            return Some(id);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::container_of;

    #[test]
    fn ids_of_all_runtimes() {
        let id = "4f1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8";
        for path in [
            "/docker/{}",
            "/docker/{}/init.scope",
            "/system.slice/docker-{}.scope",
            "/machine.slice/libpod-{}.scope/container",
            "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1a2b.slice/cri-containerd-{}.scope",
            "/kubepods.slice/kubepods-pod1.slice/crio-{}.scope",
            "/kubepods/burstable/pod8d6f2a3e-11aa-22bb-33cc-0123456789ab/{}",
            "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-{}.scope",
        ] {
            assert_eq!(container_of(&path.replace("{}", id)), Some(id), "{path}");
        }
        assert_eq!(container_of("/docker/0123456789ab"), Some("0123456789ab"));
        assert_eq!(container_of("/lxc.payload.web/init.scope"), Some("web"));
        for path in [
            "",
            "/",
            "/user.slice/user-1000.slice/session-3.scope",
            "/kubepods/burstable/pod8d6f2a3e-11aa-22bb-33cc-0123456789ab",
            "/system.slice/ssh.service",
            "/work/0123456789ab",
        ] {
            assert_eq!(container_of(path), None, "{path}");
        }
        assert_eq!(container_of(&format!("/machine.slice/libpod-conmon-{id}.scope")), None);
    }
}
