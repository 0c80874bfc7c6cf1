//! The sources of a recording that tell of the network: several can tell of the same packets.

use tracesift_etl::Guid;
use tracesift_etl::class::Group;
use tracesift_etl::payload::{TCPIP, network_opcodes as opcodes};
use tracesift_trace::connections::Told;

/// A source, the richest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NetworkSource {
    /// Microsoft-Windows-TCPIP.
    Stack,
    /// The kernel's classes TcpIp and UdpIp.
    Kernel,
    /// Microsoft-Windows-Kernel-Network.
    KernelProvider,
}

const SOURCES: [NetworkSource; 3] = [NetworkSource::Stack, NetworkSource::Kernel, NetworkSource::KernelProvider];

/// A protocol, as an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Tcp,
    Udp,
}

/// Event ids of Microsoft-Windows-TCPIP.
pub(crate) mod tcpip_id {
    pub(crate) const REQUEST_CONNECT: u16 = 1002;
    pub(crate) const ACCEPTED: u16 = 1017;
    pub(crate) const CONNECTING: u16 = 1031;
    pub(crate) const CONNECTED: u16 = 1033;
    pub(crate) const CONNECT_FAILED: u16 = 1034;
    pub(crate) const CLOSE: u16 = 1038;
    pub(crate) const ABORT: u16 = 1039;
    pub(crate) const SHUTDOWN: u16 = 1044;
    pub(crate) const CONNECT_TIMED_OUT: u16 = 1045;
    pub(crate) const SEND_TIMED_OUT: u16 = 1046;
    pub(crate) const KEEP_ALIVE_TIMED_OUT: u16 = 1047;
    pub(crate) const DISCONNECT_TIMED_OUT: u16 = 1048;
    pub(crate) const RETRANSMIT_TIME_OUT: u16 = 1069;
    pub(crate) const RECEIVED: u16 = 1074;
    pub(crate) const POSTED: u16 = 1159;
    pub(crate) const TRANSMITTED: u16 = 1160;
    pub(crate) const UDP_SENT: u16 = 1169;
    pub(crate) const UDP_RECEIVED: u16 = 1170;
    pub(crate) const CONNECT_RESET: u16 = 1183;
    pub(crate) const RESET_BY_OTHER: u16 = 1184;
    pub(crate) const RETRANSMIT: u16 = 1187;
    pub(crate) const KEEP_ALIVE: u16 = 1188;
    pub(crate) const TEMPLATE: u16 = 1223;
    pub(crate) const TEMPLATE_CHANGED: u16 = 1224;
    pub(crate) const RUNDOWN: u16 = 1300;
    pub(crate) const SENT: u16 = 1332;
    pub(crate) const DUPLICATE_ACK: u16 = 1343;
    pub(crate) const RETRANSMIT_ROUND: u16 = 1351;
    pub(crate) const OLD_SUMMARY: u16 = 1352;
    pub(crate) const TAIL_LOSS_PROBE: u16 = 1385;
    pub(crate) const SUMMARY: u16 = 1477;
    pub(crate) const RESET_SENT: u16 = 1479;
}

/// What the first pass has met.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NetworkSources {
    /// By protocol and source: transferred data, and anything else.
    data: [[bool; 3]; 2],
    other: [[bool; 3]; 2],
    /// Data that was sent, segment by segment; without it the sends of processes stand for it.
    pub(crate) has_segments: bool,
    /// Data that processes gave to the stack.
    pub(crate) has_posted: bool,
    /// Data that was transmitted, as far as segments do not tell.
    has_transmitted: bool,
    /// Rounds of retransmissions; without them single retransmissions count.
    pub(crate) has_rounds: bool,
    has_retransmits: bool,
    has_received: bool,
    has_time_outs: bool,
}

impl NetworkSources {
    /// An event of one of the two providers.
    pub(crate) fn meet_provider(&mut self, provider: Guid, id: u16) {
        if provider == TCPIP {
            return self.meet_stack(id);
        }
        let is_udp = id >= opcodes::SEND as u16 + opcodes::UDP_OF_PROVIDER;
        let protocol = if is_udp { Protocol::Udp } else { Protocol::Tcp };
        let opcode = if is_udp { id - opcodes::UDP_OF_PROVIDER } else { id };
        self.meet(NetworkSource::KernelProvider, protocol, u8::try_from(opcode).unwrap_or(0));
    }

    /// An event of the kernel's classes.
    pub(crate) fn meet_kernel(&mut self, group: Group, opcode: u8) {
        let protocol = if group == Group::UDP_IP { Protocol::Udp } else { Protocol::Tcp };
        self.meet(NetworkSource::Kernel, protocol, opcode);
    }

    fn meet(&mut self, source: NetworkSource, protocol: Protocol, opcode: u8) {
        let is_data = matches!(opcode % opcodes::V6, opcodes::SEND | opcodes::RECEIVE);
        let of = if is_data { &mut self.data } else { &mut self.other };
        of[protocol as usize][source as usize] = true;
    }

    fn meet_stack(&mut self, id: u16) {
        let (protocol, is_data) = match id {
            tcpip_id::UDP_SENT | tcpip_id::UDP_RECEIVED => (Protocol::Udp, true),
            tcpip_id::RECEIVED | tcpip_id::POSTED | tcpip_id::TRANSMITTED | tcpip_id::SENT => (Protocol::Tcp, true),
            tcpip_id::REQUEST_CONNECT | tcpip_id::ACCEPTED | tcpip_id::CONNECTED | tcpip_id::RUNDOWN => {
                (Protocol::Tcp, false)
            }
            tcpip_id::RETRANSMIT_ROUND => {
                self.has_rounds = true;
                return;
            }
            tcpip_id::RETRANSMIT_TIME_OUT => {
                self.has_time_outs = true;
                return;
            }
            tcpip_id::RETRANSMIT => {
                self.has_retransmits = true;
                return;
            }
            _ => return,
        };
        match id {
            tcpip_id::SENT => self.has_segments = true,
            tcpip_id::POSTED => self.has_posted = true,
            tcpip_id::TRANSMITTED => self.has_transmitted = true,
            tcpip_id::RECEIVED => self.has_received = true,
            _ => {}
        }
        let of = if is_data { &mut self.data } else { &mut self.other };
        of[protocol as usize][NetworkSource::Stack as usize] = true;
    }

    /// The source whose events become rows: the richest that tells of data, else the richest.
    pub(crate) fn chosen(&self, protocol: Protocol) -> Option<NetworkSource> {
        let first = |of: &[[bool; 3]; 2]| SOURCES.into_iter().find(|source| of[protocol as usize][*source as usize]);
        first(&self.data).or_else(|| first(&self.other))
    }

    /// What the chosen source tells.
    pub(crate) fn told(&self, protocol: Protocol) -> Told {
        let is_tcp = protocol == Protocol::Tcp;
        match self.chosen(protocol) {
            Some(NetworkSource::Stack) if is_tcp => Told {
                posted: self.has_posted,
                sent: self.has_segments || self.has_transmitted,
                received: self.has_received,
                retransmits: self.has_segments || self.has_rounds || self.has_retransmits,
                delays: self.has_segments || self.has_rounds || self.has_retransmits,
                client_retransmits: self.has_received,
                keep_alives: true,
                time_outs: self.has_time_outs,
            },
            Some(_) => Told { sent: true, received: true, retransmits: is_tcp, delays: is_tcp, ..Told::default() },
            None => Told::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use tracesift_etl::class::Group;
    use tracesift_etl::payload::{KERNEL_NETWORK, TCPIP};

    use super::{NetworkSource, NetworkSources, Protocol};

    #[test]
    fn the_richest_source_with_data_is_chosen() {
        let mut sources = NetworkSources::default();
        assert_eq!(sources.chosen(Protocol::Tcp), None);
        sources.meet_provider(TCPIP, 1002);
        assert_eq!(sources.chosen(Protocol::Tcp), Some(NetworkSource::Stack));
        sources.meet_provider(KERNEL_NETWORK, 43);
        sources.meet_provider(KERNEL_NETWORK, 27);
        assert_eq!(sources.chosen(Protocol::Tcp), Some(NetworkSource::KernelProvider));
        assert_eq!(sources.chosen(Protocol::Udp), Some(NetworkSource::KernelProvider));
        sources.meet_kernel(Group::TCP_IP, 26);
        sources.meet_kernel(Group::UDP_IP, 17);
        assert_eq!(sources.chosen(Protocol::Tcp), Some(NetworkSource::Kernel));
        assert_eq!(sources.chosen(Protocol::Udp), Some(NetworkSource::KernelProvider), "a failure is no data");
        let told = sources.told(Protocol::Tcp);
        assert!(told.sent && told.retransmits && !told.posted && !told.client_retransmits);
        sources.meet_provider(TCPIP, 1159);
        let told = sources.told(Protocol::Tcp);
        assert!(told.posted && !told.sent && !told.received && !told.retransmits && told.keep_alives);
    }
}
