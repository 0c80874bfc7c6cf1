//! Calls of sockets.

use crate::ids::{ConnectionId, ProcessId, StackId, ThreadId};
use crate::row;

/// Values of `socket_calls.operation`.
pub mod socket_operations {
    /// A socket is created.
    pub const CREATE: i8 = 0;
    /// It gets an address.
    pub const BIND: i8 = 1;
    /// It begins to take connections.
    pub const LISTEN: i8 = 2;
    /// It asks for a connection.
    pub const CONNECT: i8 = 3;
    /// It waits for a connection, and accepts it.
    pub const ACCEPT: i8 = 4;
    /// It gets data.
    pub const SEND: i8 = 5;
    /// Data is taken from it.
    pub const RECEIVE: i8 = 6;
    /// One or both directions end.
    pub const SHUT_DOWN: i8 = 7;
    /// Its last handle is closed.
    pub const CLOSE: i8 = 8;
    /// An option is set or read.
    pub const OPTION: i8 = 9;
    /// A thread waits until something happens at one of several descriptors.
    pub const POLL: i8 = 10;
}

row! {
    /// One call of a socket, from its begin to its end. It belongs to a time range when it touches it.
    /// The question `dump sockets` reads them.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct SocketCallRow in "socket_calls", always: false, since: 6, Span(start, time) {
        /// Time of the end; the end of the recording where the call did not end in it.
        time: i64, Delta, "ns", "Winsock-AFD, EnterExit 1; sys_exit_*";
        /// Time of the begin.
        start: i64, Delta, "ns", "Winsock-AFD, EnterExit 0; sys_enter_*";
        /// CPU of the begin; −1 where a Linux recording does not say.
        cpu: i16, Dictionary, "", "buffer that holds the event";
        /// Process that called.
        process: Option<ProcessId>, Dictionary, "", "header of the event";
        /// Thread that called.
        thread: Option<ThreadId>, Dictionary, "", "header of the event";
        /// Stack of the begin.
        stack: Option<StackId>, Plain, "", "stack of the event";
        /// 0 create, 1 bind, 2 listen, 3 connect, 4 accept, 5 send, 6 receive, 7 shut down, 8 close, 9
        /// option, 10 poll (Linux: also `select` and `epoll_wait`; the descriptors need not be sockets). An
        /// accept of Windows is two calls: the wait for a connection, and its acceptance.
        operation: i8, Dictionary, "", "kind of the event; the system call";
        /// The socket: its address in the kernel of Windows, its descriptor on Linux.
        endpoint: Option<i64>, Dictionary, "", "Endpoint; fd";
        /// The connection that the call used. Null: not known. On Windows a call that requests or accepts
        /// a connection has the one of its process to the same address that began in time; later calls of
        /// the socket have the same.
        connection: Option<ConnectionId>, Dictionary, "", "TCPIP 1002, 1017; sock_send_length, sock_recv_length, inet_sock_set_state of the thread";
        /// Bytes of the buffer, of operations 5 and 6.
        size: Option<i64>, Dictionary, "bytes", "BufferLength of EnterExit 0; the argument";
        /// Bytes that were sent or received.
        transferred: Option<i64>, Dictionary, "bytes", "BufferLength of EnterExit 1; ret";
        /// 0 success; else the NTSTATUS of Windows, as it is written without a sign, and the number of
        /// the error of Linux. Null: the call did not end in the recording.
        status: Option<i64>, Dictionary, "", "Status; ret";
        /// The other side's address and port, of `bind` the own ones.
        address: Option<String>, Dictionary, "", "Address";
    }
}
