//! Fields of the tracepoints of sockets and of TCP.

use std::net::IpAddr;

use tracesift_perf::Endianness;
use tracesift_trace::connections::{End, Ends};

use super::fields::{Fields, Number, Octets};

/// Fields of a tracepoint of the network.
#[derive(Clone, Debug)]
pub(crate) enum NetworkFields {
    /// `sock:inet_sock_set_state`.
    State(StateFields),
    /// `sock:sock_send_length`.
    Sent(TransferFields),
    /// `sock:sock_recv_length`.
    Received(TransferFields),
    /// `tcp:tcp_probe`: a segment comes in.
    Segment(SegmentFields),
    /// `tcp:tcp_retransmit_skb`. Recent kernels tell of failures, too.
    Retransmitted { socket: Number, error: Option<Number>, ends: Option<Box<EndsFields>> },
    /// `tcp:tcp_send_reset`.
    ResetSent { socket: Number, state: Number },
    /// `tcp:tcp_receive_reset`.
    ResetReceived { socket: Number, ends: Option<Box<EndsFields>> },
    /// `tcp:tcp_destroy_sock`.
    Destroyed { socket: Number },
    /// `skb:kfree_skb`: a packet is given up. Kernels before 6.11 do not tell for which socket it came.
    Dropped { socket: Option<Number>, reason: Number },
}

/// A socket changes its state.
#[derive(Clone, Debug)]
pub(crate) struct StateFields {
    pub(crate) socket: Number,
    pub(crate) old: Number,
    pub(crate) new: Number,
    pub(crate) protocol: Number,
    pub(crate) ends: Box<EndsFields>,
}

/// A process sends or receives.
#[derive(Clone, Debug)]
pub(crate) struct TransferFields {
    pub(crate) socket: Number,
    pub(crate) family: Number,
    pub(crate) protocol: Number,
    /// Bytes; an error where it is negative.
    pub(crate) result: Number,
    pub(crate) flags: Number,
}

/// A segment of a connection comes in.
#[derive(Clone, Debug)]
pub(crate) struct SegmentFields {
    /// Kernels before 6.10 do not tell it.
    pub(crate) socket: Option<Number>,
    local: Octets,
    remote: Octets,
    pub(crate) size: Number,
    /// µs.
    pub(crate) srtt: Number,
    pub(crate) window: Number,
}

/// Both ends of a connection.
#[derive(Clone, Debug)]
pub(crate) struct EndsFields {
    family: Number,
    ports: [Number; 2],
    v4: [Octets; 2],
    v6: [Octets; 2],
}

/// Address families of Linux.
pub(crate) mod families {
    pub(crate) const INET: i64 = 2;
    pub(crate) const INET6: i64 = 10;
}

impl NetworkFields {
    /// Whether [`of`](Self::of) knows a tracepoint.
    pub(crate) fn is_read_from(name: &str) -> bool {
        matches!(
            name,
            "sock:inet_sock_set_state"
                | "sock:sock_send_length"
                | "sock:sock_recv_length"
                | "tcp:tcp_probe"
                | "tcp:tcp_retransmit_skb"
                | "tcp:tcp_send_reset"
                | "tcp:tcp_receive_reset"
                | "tcp:tcp_destroy_sock"
                | "skb:kfree_skb"
        )
    }

    pub(super) fn of(fields: &Fields<'_>, name: &str) -> Option<Self> {
        let socket = || fields.number("skaddr");
        Some(match name {
            "sock:inet_sock_set_state" => Self::State(StateFields {
                socket: socket()?,
                old: fields.number("oldstate")?,
                new: fields.number("newstate")?,
                protocol: fields.number("protocol")?,
                ends: EndsFields::of(fields)?,
            }),
            "sock:sock_send_length" => Self::Sent(TransferFields::of(fields)?),
            "sock:sock_recv_length" => Self::Received(TransferFields::of(fields)?),
            "tcp:tcp_probe" => Self::Segment(SegmentFields {
                socket: socket(),
                local: fields.octets("saddr")?,
                remote: fields.octets("daddr")?,
                // Kernels before 4.18 call it so.
                size: fields.number("data_len").or_else(|| fields.number("length"))?,
                srtt: fields.number("srtt")?,
                window: fields.number("snd_wnd")?,
            }),
            "tcp:tcp_retransmit_skb" => {
                Self::Retransmitted { socket: socket()?, error: fields.number("err"), ends: EndsFields::of(fields) }
            }
            "tcp:tcp_send_reset" => Self::ResetSent { socket: socket()?, state: fields.number("state")? },
            "tcp:tcp_receive_reset" => Self::ResetReceived { socket: socket()?, ends: EndsFields::of(fields) },
            "tcp:tcp_destroy_sock" => Self::Destroyed { socket: socket()? },
            "skb:kfree_skb" => Self::Dropped { socket: fields.number("rx_sk"), reason: fields.number("reason")? },
            _ => return None,
        })
    }
}

impl TransferFields {
    fn of(fields: &Fields<'_>) -> Option<Self> {
        Some(Self {
            socket: fields.number("sk")?,
            family: fields.number("family")?,
            protocol: fields.number("protocol")?,
            result: fields.number("ret")?,
            flags: fields.number("flags")?,
        })
    }
}

impl EndsFields {
    fn of(fields: &Fields<'_>) -> Option<Box<Self>> {
        let both = |local, remote| Some([fields.octets(local)?, fields.octets(remote)?]);
        Some(Box::new(Self {
            family: fields.number("family")?,
            ports: [fields.number("sport")?, fields.number("dport")?],
            v4: both("saddr", "daddr")?,
            v6: both("saddr_v6", "daddr_v6")?,
        }))
    }

    /// Both ends; `None` where the other one is not known yet.
    pub(crate) fn get(&self, raw: &[u8]) -> Option<Ends> {
        let [local, remote] = match self.family.get(raw)? {
            families::INET => &self.v4,
            families::INET6 => &self.v6,
            _ => return None,
        };
        let end = |octets: &Octets, port: &Number| {
            Some(End { address: address(octets.get(raw)?)?, port: u16::try_from(port.get(raw)?).ok()? })
        };
        let [local_port, remote_port] = &self.ports;
        let ends = Ends { local: end(local, local_port)?, remote: end(remote, remote_port)? };
        Some(ends).filter(|ends| ends.remote.port != 0)
    }
}

impl SegmentFields {
    /// Both ends, from the addresses of sockets as programs have them.
    pub(crate) fn ends(&self, raw: &[u8]) -> Option<Ends> {
        let end = |octets: &Octets| {
            let bytes = octets.get(raw)?;
            let family = match octets.endian() {
                Endianness::LittleEndian => u16::from_le_bytes(*bytes.first_chunk()?),
                Endianness::BigEndian => u16::from_be_bytes(*bytes.first_chunk()?),
            };
            let of_address = match family.into() {
                families::INET => bytes.get(4..8)?,
                families::INET6 => bytes.get(8..24)?,
                _ => return None,
            };
            let port = u16::from_be_bytes(*bytes.get(2..)?.first_chunk()?);
            Some(End { address: address(of_address)?, port })
        };
        Some(Ends { local: end(&self.local)?, remote: end(&self.remote)? })
    }
}

/// An address of 4 or 16 bytes. Addresses of IPv4 in the form of IPv6 are those of IPv4.
pub(super) fn address(bytes: &[u8]) -> Option<IpAddr> {
    let v4 = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    v4.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from)).ok().map(|address| address.to_canonical())
}
