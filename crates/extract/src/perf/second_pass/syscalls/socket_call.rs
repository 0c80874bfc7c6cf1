//! System calls of sockets: which of their arguments are what.

use tracesift_trace::rows::socket_operations as operations;

/// What a call does to a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SocketCall {
    /// See [`operations`].
    pub(super) operation: i8,
    /// The argument with the bytes.
    size: Option<usize>,
    /// Whether the result is the number of bytes.
    tells_bytes: bool,
}

impl SocketCall {
    /// The operation of a call with that name; `None` where it is no call of sockets alone.
    #[rustfmt::skip]
    pub(super) fn of(name: &str) -> Option<Self> {
        let (operation, size, tells_bytes) = match name {
            "socket" => (operations::CREATE, None, false),
            "bind" => (operations::BIND, None, false),
            "listen" => (operations::LISTEN, None, false),
            "connect" => (operations::CONNECT, None, false),
            "accept" | "accept4" => (operations::ACCEPT, None, false),
            "sendto" => (operations::SEND, Some(2), true),
            "sendmsg" => (operations::SEND, None, true),
            // The result is the number of messages.
            "sendmmsg" => (operations::SEND, None, false),
            "recvfrom" => (operations::RECEIVE, Some(2), true),
            "recvmsg" => (operations::RECEIVE, None, true),
            "recvmmsg" => (operations::RECEIVE, None, false),
            "shutdown" => (operations::SHUT_DOWN, None, false),
            "setsockopt" | "getsockopt" => (operations::OPTION, None, false),
            "poll" | "ppoll" | "select" | "pselect6" | "epoll_wait" | "epoll_pwait" | "epoll_pwait2" => {
                (operations::POLL, None, false)
            }
            _ => return None,
        };
        Some(Self { operation, size, tells_bytes })
    }

    /// The descriptor of the socket.
    pub(super) fn endpoint(&self, arguments: &[u64; 6], result: Option<i64>) -> Option<i64> {
        match self.operation {
            operations::CREATE => result.filter(|result| *result >= 0),
            // It waits for several.
            operations::POLL => None,
            // Registers are wider than descriptors.
            _ => Some(i64::from((arguments[0] as u32).cast_signed())),
        }
    }

    /// Bytes of the buffer.
    pub(super) fn size(&self, arguments: &[u64; 6]) -> Option<i64> {
        let bytes = arguments.get(self.size?)?;
        Some(i64::try_from(*bytes).unwrap_or(i64::MAX))
    }

    /// Bytes that were sent or received.
    pub(super) fn transferred(&self, result: Option<i64>) -> Option<i64> {
        result.filter(|result| self.tells_bytes && *result >= 0)
    }
}
