//! Connections and their traffic, from whichever source tells most of them.

use std::net::IpAddr;

use tracesift_etl::class::Group;
use tracesift_etl::payload::{NetworkEvent, Payload, PayloadError, network_opcodes as opcodes};
use tracesift_etl::schema::socket_address;
use tracesift_etl::{Record, event_fields};
use tracesift_trace::connections::{Connections, Counted, End, Ending, Ends, Event, Key, Opening, Transfer, protocols};
use tracesift_trace::rows::{connection_ends, network_io_kinds as kinds};
use tracesift_trace::{HealthKind, ProcessId, RowSink};

use super::provider_fields::Fields;
use super::socket_calls::Opened;
use super::{SecondPass, cpu_number};
use crate::etl::inventory::count_undecodable;
use crate::etl::network_sources::{NetworkSource, NetworkSources, Protocol, tcpip_id as id};

event_fields! {
    /// A connection is opened, ends, or changes.
    struct Control<'a> {
        tcb: u64 = "Tcb",
        local: &'a [u8] = "LocalAddress",
        remote: &'a [u8] = "RemoteAddress",
        status: i64 = "Status",
        process: u64 = "ProcessId",
        pid: u64 = "Pid",
        template: u64 = "TemplateType",
        min_rto: u64 = "MinRto",
    }
}

event_fields! {
    /// Data is transferred.
    struct Segment<'a> {
        tcb: u64 = "Tcb",
        local: &'a [u8] = "LocalAddress",
        remote: &'a [u8] = "RemoteAddress",
        sent: i64 = "BytesSent",
        bytes: i64 = "NumBytes",
        sequence: u64 = "SeqNo",
        next: u64 = "SndNxt",
        unacknowledged: u64 = "SndUna",
        window: i64 = "SndWnd",
    }
}

event_fields! {
    /// Datagrams are transferred.
    struct Datagrams<'a> {
        local: &'a [u8] = "LocalSockAddr",
        remote: &'a [u8] = "RemoteSockAddr",
        bytes: i64 = "NumBytes",
        pid: u64 = "Pid",
    }
}

event_fields! {
    /// What the system counted of a connection.
    struct Summary<'a> {
        tcb: u64 = "Tcb",
        bytes_out: i64 = "DataBytesOut",
        bytes_in: i64 = "DataBytesIn",
        segments_out: i64 = "DataSegmentsOut",
        segments_in: i64 = "DataSegmentsIn",
        retransmitted: i64 = "BytesRetrans",
        rtt: i64 = "RttUs",
        min_rtt: i64 = "MinRttUs",
        max_rtt: i64 = "MaxRttUs",
        local: &'a [u8] = "LocalAddress",
        remote: &'a [u8] = "RemoteAddress",
    }
}

/// Statuses of a request that failed.
const REFUSED: i64 = 0xc000_0236;
const IO_TIMEOUT: i64 = 0xc000_00b5;

/// Names of congestion templates by their numbers.
const TEMPLATES: [&str; 8] =
    ["Internet", "Datacenter", "Compat", "DatacenterCustom", "InternetCustom", "5", "Default", "Automatic"];

/// Connections on their way.
#[derive(Default)]
pub(super) struct Network {
    connections: Connections,
    sources: NetworkSources,
    /// By protocol.
    chosen: [Option<NetworkSource>; 2],
    control: Fields<Control<'static>>,
    segment: Fields<Segment<'static>>,
    datagrams: Fields<Datagrams<'static>>,
    summary: Fields<Summary<'static>>,
}

impl Network {
    pub(super) fn new(sources: NetworkSources) -> Self {
        let mut connections = Connections::default();
        connections.tells(sources.told(Protocol::Tcp), sources.told(Protocol::Udp));
        let chosen = [Protocol::Tcp, Protocol::Udp].map(|protocol| sources.chosen(protocol));
        Self { connections, sources, chosen, ..Self::default() }
    }
}

/// Both ends of an event, where it has them.
fn ends(local: Option<&[u8]>, remote: Option<&[u8]>) -> Option<Ends> {
    let end = |bytes: Option<&[u8]>| bytes.and_then(socket_address).map(|(address, port)| End { address, port });
    Some(Ends { local: end(local)?, remote: end(remote)? })
}

/// A packet, whatever the size of its addresses.
struct Packet {
    process_id: Option<u32>,
    size: i64,
    source: End,
    destination: End,
}

impl<const V6: bool> From<NetworkEvent<V6>> for Packet {
    fn from(event: NetworkEvent<V6>) -> Self {
        let end = |address: IpAddr, port: u16| End { address, port };
        Self {
            process_id: event.process_id,
            size: event.size.into(),
            source: end(event.source, event.source_port),
            destination: end(event.destination, event.destination_port),
        }
    }
}

fn packet(record: &Record<'_>, protocol: Protocol, is_v6: bool, version: u8) -> Result<Packet, PayloadError> {
    let (payload, pointer_size) = (record.payload(), record.pointer_size());
    match (is_v6, version, protocol) {
        (true, ..) => NetworkEvent::<true>::parse(payload, version, pointer_size).map(Packet::from),
        (false, 0, Protocol::Tcp) => NetworkEvent::<false>::of_old_tcp(payload, pointer_size).map(Packet::from),
        (false, 0, Protocol::Udp) => NetworkEvent::<false>::of_old_udp(payload, pointer_size).map(Packet::from),
        (false, ..) => NetworkEvent::<false>::parse(payload, version, pointer_size).map(Packet::from),
    }
}

impl<Sink: RowSink> SecondPass<'_, Sink> {
    /// An event of the kernel's classes TcpIp and UdpIp.
    pub(super) fn kernel_network(&mut self, record: &Record<'_>, group: Group, opcode: u8, version: u8) {
        let protocol = if group == Group::UDP_IP { Protocol::Udp } else { Protocol::Tcp };
        self.network_packet(record, NetworkSource::Kernel, protocol, (opcode, version));
    }

    /// An event of Microsoft-Windows-Kernel-Network: those of the kernel's classes with other numbers.
    pub(super) fn kernel_network_provider(&mut self, record: &Record<'_>, id: u16) {
        /// The version of the kernel's classes that has the same layout.
        const LAYOUT: u8 = 2;
        let is_udp = id >= u16::from(opcodes::SEND) + opcodes::UDP_OF_PROVIDER;
        let protocol = if is_udp { Protocol::Udp } else { Protocol::Tcp };
        let opcode = if is_udp { id - opcodes::UDP_OF_PROVIDER } else { id };
        let opcode = u8::try_from(opcode).unwrap_or(0);
        self.network_packet(record, NetworkSource::KernelProvider, protocol, (opcode, LAYOUT));
    }

    fn network_packet(
        &mut self,
        record: &Record<'_>,
        source: NetworkSource,
        protocol: Protocol,
        (opcode, version): (u8, u8),
    ) {
        let is_v6 = opcode >= opcodes::V6 + opcodes::SEND;
        let opcode = if is_v6 { opcode - opcodes::V6 } else { opcode };
        let is_of_udp = matches!(opcode, opcodes::SEND | opcodes::RECEIVE);
        let is_of_tcp = (opcodes::SEND..=opcodes::ACCEPT).contains(&opcode);
        if !(if protocol == Protocol::Udp { is_of_udp } else { is_of_tcp }) || !self.is_chosen(record, source, protocol)
        {
            return;
        }
        let packet = match packet(record, protocol, is_v6, version) {
            Ok(packet) => packet,
            Err(error) => return count_undecodable(&mut self.health, record, &error),
        };
        // In events of TCP the source is this side, whatever direction the data has. In received datagrams it is the sender.
        let is_turned = protocol == Protocol::Udp && opcode == opcodes::RECEIVE;
        let (local, remote) =
            if is_turned { (packet.destination, packet.source) } else { (packet.source, packet.destination) };
        let ends = Ends { local, remote };
        let pid = packet.process_id.or(record.pid());
        let process = pid.map(|pid| self.population.process_at(pid, record.time()));
        let number = if protocol == Protocol::Udp { protocols::UDP } else { protocols::TCP };
        let event = self.network_event(record, Key::Ends(number, process, ends), number, (Some(ends), process));
        match opcode {
            opcodes::CONNECT => self.opened(&event, Opening::Requested),
            opcodes::ACCEPT => self.opened(&event, Opening::Accepted { is_established: true }),
            opcodes::DISCONNECT => {
                let kind = Some(connection_ends::CLOSED);
                self.network.connections.ended(&event, Ending { kind, ..Ending::default() });
            }
            _ => {
                let kind = match opcode {
                    opcodes::SEND => kinds::SENT,
                    opcodes::RECEIVE => kinds::RECEIVED,
                    _ => kinds::RETRANSMITTED,
                };
                let cpu = cpu_number(record);
                self.transferred(&event, &Transfer { kind, size: packet.size, cpu, ..Transfer::default() });
            }
        }
        self.finished_connections();
    }

    /// An event of Microsoft-Windows-TCPIP.
    pub(super) fn tcpip(&mut self, record: &Record<'_>, id: u16) {
        match id {
            id::UDP_SENT | id::UDP_RECEIVED => self.tcpip_datagrams(record, id),
            id::RECEIVED
            | id::POSTED
            | id::TRANSMITTED
            | id::SENT
            | id::RETRANSMIT
            | id::RETRANSMIT_ROUND
            | id::RETRANSMIT_TIME_OUT
            | id::KEEP_ALIVE
            | id::TAIL_LOSS_PROBE
            | id::DUPLICATE_ACK
            | id::RESET_SENT => self.tcpip_segment(record, id),
            id::SUMMARY | id::OLD_SUMMARY => self.tcpip_summary(record),
            id::REQUEST_CONNECT
            | id::ACCEPTED
            | id::CONNECTING
            | id::CONNECTED
            | id::CONNECT_FAILED
            | id::CLOSE
            | id::ABORT
            | id::SHUTDOWN..=id::DISCONNECT_TIMED_OUT
            | id::CONNECT_RESET
            | id::RESET_BY_OTHER
            | id::TEMPLATE
            | id::TEMPLATE_CHANGED
            | id::RUNDOWN => self.tcpip_control(record, id),
            _ => return,
        }
        self.finished_connections();
    }

    fn tcpip_control(&mut self, record: &Record<'_>, id: u16) {
        if !self.is_chosen(record, NetworkSource::Stack, Protocol::Tcp) {
            return;
        }
        let Some(event) = self.network.control.read(record, &self.schemas, &mut self.health) else { return };
        let Some(tcb) = event.tcb.filter(|tcb| *tcb != 0) else { return };
        let named = event.process.or(event.pid).and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid != 0);
        let pid = named.or(if id == id::REQUEST_CONNECT { record.pid() } else { None });
        let process = pid.map(|pid| self.population.process_at(pid, record.time()));
        let ends = ends(event.local, event.remote);
        let at = self.network_event(record, Key::Block(tcb), protocols::TCP, (ends, process));
        let opening = match id {
            id::REQUEST_CONNECT => Some(Opening::Requested),
            id::CONNECTING => Some(Opening::Proceeding),
            id::CONNECTED => Some(Opening::Established),
            id::ACCEPTED => Some(Opening::Accepted { is_established: true }),
            id::RUNDOWN => Some(Opening::Listed),
            _ => None,
        };
        if let Some(opening) = opening {
            return self.opened(&at, opening);
        }
        let connections = &mut self.network.connections;
        if let id::TEMPLATE | id::TEMPLATE_CHANGED = id {
            let number = event.template.and_then(|number| usize::try_from(number).ok());
            if let Some(name) = number.and_then(|number| TEMPLATES.get(number)) {
                connections.templated(&at, name, event.min_rto);
            }
            return;
        }
        connections.ended(&at, ending(id, event.status));
        if let id::CONNECT_RESET | id::RESET_BY_OTHER = id {
            let (kind, cpu) = (kinds::RESET_RECEIVED, cpu_number(record));
            self.transferred(&at, &Transfer { kind, cpu, ..Transfer::default() });
        }
    }

    /// A connection comes to be known; calls of sockets may have asked for it.
    fn opened(&mut self, event: &Event, opening: Opening) {
        self.network.connections.opened(event, opening);
        let accepted = match opening {
            Opening::Requested => false,
            Opening::Accepted { .. } => true,
            Opening::Proceeding | Opening::Established | Opening::Listed => return,
        };
        if let (true, Some(ends), Some(connection)) =
            (self.wanted.socket_calls, event.ends, self.network.connections.named(&event.key))
        {
            let remote = (ends.remote.address, ends.remote.port).into();
            let (time, process) = (event.time, event.process);
            self.sockets.opened(Opened { time, process, remote, accepted, connection });
        }
    }

    fn tcpip_segment(&mut self, record: &Record<'_>, id: u16) {
        let sources = &self.network.sources;
        let tells_another = match id {
            id::TRANSMITTED => sources.has_segments,
            id::RETRANSMIT => sources.has_rounds,
            _ => false,
        };
        if tells_another || !self.is_chosen(record, NetworkSource::Stack, Protocol::Tcp) {
            return;
        }
        let Some(event) = self.network.segment.read(record, &self.schemas, &mut self.health) else { return };
        let Some(tcb) = event.tcb.filter(|tcb| *tcb != 0) else { return };
        let kind = match id {
            id::RECEIVED => kinds::RECEIVED,
            id::POSTED => kinds::SEND_POSTED,
            id::TRANSMITTED | id::SENT => kinds::SENT,
            id::RETRANSMIT | id::RETRANSMIT_ROUND => kinds::RETRANSMITTED,
            id::RETRANSMIT_TIME_OUT => kinds::RETRANSMIT_TIME_OUT,
            id::KEEP_ALIVE => kinds::KEEP_ALIVE,
            id::TAIL_LOSS_PROBE => kinds::TAIL_LOSS_PROBE,
            id::DUPLICATE_ACK => kinds::DUPLICATE_ACK,
            _ => kinds::RESET_SENT,
        };
        let ends = ends(event.local, event.remote);
        let at = self.network_event(record, Key::Block(tcb), protocols::TCP, (ends, None));
        let sequence = match id {
            id::POSTED | id::TRANSMITTED => event.next,
            id::RETRANSMIT_ROUND | id::RETRANSMIT_TIME_OUT | id::KEEP_ALIVE | id::TAIL_LOSS_PROBE => {
                event.unacknowledged
            }
            _ => event.sequence,
        };
        let number = |number: Option<u64>| number.and_then(|number| u32::try_from(number).ok());
        let transfer = Transfer {
            kind,
            // What a time-out calls bytes are those of the event before it.
            size: event.sent.or(event.bytes).filter(|_| id != id::RETRANSMIT_TIME_OUT).unwrap_or(0),
            sequence: number(sequence),
            unacknowledged: if id == id::SENT { number(event.unacknowledged) } else { None },
            srtt: None,
            window: event.window,
            cpu: cpu_number(record),
        };
        self.transferred(&at, &transfer);
    }

    fn tcpip_datagrams(&mut self, record: &Record<'_>, id: u16) {
        if !self.is_chosen(record, NetworkSource::Stack, Protocol::Udp) {
            return;
        }
        let Some(event) = self.network.datagrams.read(record, &self.schemas, &mut self.health) else { return };
        let Some(ends) = ends(event.local, event.remote) else { return };
        let pid = event.pid.and_then(|pid| u32::try_from(pid).ok()).or(record.pid());
        let process = pid.map(|pid| self.population.process_at(pid, record.time()));
        let key = Key::Ends(protocols::UDP, process, ends);
        let at = self.network_event(record, key, protocols::UDP, (Some(ends), process));
        let kind = if id == id::UDP_SENT { kinds::SENT } else { kinds::RECEIVED };
        let (size, cpu) = (event.bytes.unwrap_or(0), cpu_number(record));
        self.transferred(&at, &Transfer { kind, size, cpu, ..Transfer::default() });
    }

    fn tcpip_summary(&mut self, record: &Record<'_>) {
        if !self.is_chosen(record, NetworkSource::Stack, Protocol::Tcp) {
            return;
        }
        let Some(event) = self.network.summary.read(record, &self.schemas, &mut self.health) else { return };
        let Some(tcb) = event.tcb.filter(|tcb| *tcb != 0) else { return };
        let micros = |rtt: Option<i64>| rtt.filter(|rtt| *rtt > 0).map(|rtt| rtt.saturating_mul(1000));
        let counted = Counted {
            bytes: [event.bytes_in, event.bytes_out],
            segments: [event.segments_in, event.segments_out],
            retransmitted: event.retransmitted,
            // A time that was never measured has all bits set.
            rtt: [event.min_rtt, event.rtt, event.max_rtt].map(|rtt| micros(rtt.filter(|rtt| *rtt < 0xffff_ffff))),
        };
        let ends = ends(event.local, event.remote);
        let at = self.network_event(record, Key::Block(tcb), protocols::TCP, (ends, None));
        self.network.connections.counted(&at, &counted);
    }

    /// Whether events of a source become rows; those of the others are counted.
    fn is_chosen(&mut self, record: &Record<'_>, source: NetworkSource, protocol: Protocol) -> bool {
        let chosen = self.network.chosen[protocol as usize];
        if chosen != Some(source) {
            let example = || format!("{protocol:?} of the source {source:?}").to_lowercase();
            self.health.count(HealthKind::OTHER_NETWORK_SOURCE, Some(record.time()), example);
        }
        chosen == Some(source)
    }

    fn network_event(
        &mut self,
        record: &Record<'_>,
        key: Key,
        protocol: i16,
        (ends, process): (Option<Ends>, Option<ProcessId>),
    ) -> Event {
        let (ticks, cpu) = (record.time(), record.cpu());
        let logger = self.process_of_header(record);
        // Much is logged by whoever was interrupted.
        let is_own = logger.is_some()
            && (logger == process || process.is_none() && self.network.connections.is_of(&key, logger));
        let tid = record.tid().filter(|_| is_own);
        let thread = tid.map(|tid| self.population.named_thread_at(tid, cpu, ticks));
        let stack = self.provider_stack(record);
        Event { time: self.clock.ns(ticks), key, protocol, ends, process, thread, stack }
    }

    fn transferred(&mut self, event: &Event, transfer: &Transfer) {
        let (row, again) = self.network.connections.transferred(event, transfer);
        if self.wanted.network_io {
            self.sink.network_io(&row);
            again.iter().for_each(|again| self.sink.network_io(again));
        }
    }

    /// Writes the rows of connections that are followed no more.
    fn finished_connections(&mut self) {
        for row in self.network.connections.finished() {
            if self.wanted.connections {
                self.sink.connection(&row);
            }
        }
    }

    /// All connections that are left.
    pub(super) fn finish_network(&mut self) {
        for row in self.network.connections.finish() {
            if self.wanted.connections {
                self.sink.connection(&row);
            }
        }
        let dropped = i64::try_from(self.network.connections.dropped()).unwrap_or(i64::MAX);
        self.health.add(HealthKind::CONNECTIONS_OVER_BUDGET, dropped, None, || {
            "more connections were open than are followed".to_owned()
        });
    }
}

/// How a connection ends by an event of Microsoft-Windows-TCPIP.
fn ending(id: u16, status: Option<i64>) -> Ending {
    let kind = match id {
        id::ABORT => Some(connection_ends::ABORTED),
        id::CONNECT_TIMED_OUT => Some(connection_ends::CONNECT_TIMED_OUT),
        id::SEND_TIMED_OUT | id::DISCONNECT_TIMED_OUT => Some(connection_ends::SEND_TIMED_OUT),
        id::KEEP_ALIVE_TIMED_OUT => Some(connection_ends::KEEP_ALIVE_TIMED_OUT),
        id::CONNECT_RESET => Some(connection_ends::REFUSED),
        id::RESET_BY_OTHER => Some(connection_ends::RESET),
        id::CONNECT_FAILED => match status {
            Some(REFUSED) => Some(connection_ends::REFUSED),
            Some(IO_TIMEOUT) => Some(connection_ends::CONNECT_TIMED_OUT),
            _ => None,
        },
        _ => Some(connection_ends::CLOSED),
    };
    // After its own half is shut down, a connection may still receive, and then end in another way.
    Ending { kind, status, is_preliminary: id == id::SHUTDOWN }
}
