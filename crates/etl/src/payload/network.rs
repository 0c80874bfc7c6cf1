//! Classes TcpIp and UdpIp, and the same events of Microsoft-Windows-Kernel-Network.

use std::net::IpAddr;

use super::reader::Reader;
use super::{Payload, PayloadError};
use crate::Guid;

/// The provider Microsoft-Windows-Kernel-Network.
pub const KERNEL_NETWORK: Guid = Guid::from_u128(0x7dd42a49_5329_4832_8dfd_43d979153a88);
/// The provider Microsoft-Windows-TCPIP.
pub const TCPIP: Guid = Guid::from_u128(0x2f07e2ee_15db_40f1_90ef_9d7ba282188a);

/// The fields that all events of a connection have. `V6`: addresses have 16 bytes.
///
/// The events of Kernel-Network have the layout of version 2 of the kernel's classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkEvent<const V6: bool> {
    /// Process of the connection. Version 0 of UDP does not tell.
    pub process_id: Option<u32>,
    /// Bytes.
    pub size: u32,
    /// Address of the destination: of TCP that of the other side, in events of received data, too.
    pub destination: IpAddr,
    /// Address of the source.
    pub source: IpAddr,
    /// Port of the destination.
    pub destination_port: u16,
    /// Port of the source.
    pub source_port: u16,
}

/// Opcodes of both classes, for addresses of 4 bytes. Those for 16 bytes are greater by [`V6`](network_opcodes::V6).
pub mod network_opcodes {
    /// Data was sent.
    pub const SEND: u8 = 10;
    /// Data was received.
    pub const RECEIVE: u8 = 11;
    /// TCP: this side asked for a connection.
    pub const CONNECT: u8 = 12;
    /// TCP: the connection ends.
    pub const DISCONNECT: u8 = 13;
    /// TCP: data was sent again.
    pub const RETRANSMIT: u8 = 14;
    /// TCP: the other side asked for a connection.
    pub const ACCEPT: u8 = 15;
    /// Distance to the opcode for addresses of 16 bytes.
    pub const V6: u8 = 16;
    /// Distance of the ids of UDP in Kernel-Network.
    pub const UDP_OF_PROVIDER: u16 = 32;
}

impl<const V6: bool> NetworkEvent<V6> {
    fn address(reader: &mut Reader<'_>, what: &'static str) -> Result<IpAddr, PayloadError> {
        Ok(if V6 { IpAddr::from(*reader.block::<16>(what)?) } else { IpAddr::from(*reader.block::<4>(what)?) })
    }

    fn port(reader: &mut Reader<'_>, what: &'static str) -> Result<u16, PayloadError> {
        Ok(reader.u16(what)?.swap_bytes())
    }

    /// Version 0 of class TcpIp.
    ///
    /// # Errors
    /// As [`Payload::read`].
    pub fn of_old_tcp(payload: &[u8], pointer_size: u8) -> Result<Self, PayloadError> {
        let reader = &mut Reader::new(payload, pointer_size);
        let (destination, source) = (Self::address(reader, "destination")?, Self::address(reader, "source")?);
        let (destination_port, source_port) = (Self::port(reader, "port")?, Self::port(reader, "source port")?);
        let size = reader.u32("size")?;
        let process_id = Some(reader.u32("process id")?);
        Ok(Self { process_id, size, destination, source, destination_port, source_port })
    }

    /// Version 0 of class UdpIp.
    ///
    /// # Errors
    /// As [`Payload::read`].
    pub fn of_old_udp(payload: &[u8], pointer_size: u8) -> Result<Self, PayloadError> {
        let reader = &mut Reader::new(payload, pointer_size);
        reader.pointer("context")?;
        let (source, source_port) = (Self::address(reader, "source")?, Self::port(reader, "source port")?);
        let size = u32::from(reader.u16("size")?);
        let (destination, destination_port) = (Self::address(reader, "destination")?, Self::port(reader, "port")?);
        Ok(Self { process_id: None, size, destination, source, destination_port, source_port })
    }
}

impl<'a, const V6: bool> Payload<'a> for NetworkEvent<V6> {
    fn read(reader: &mut Reader<'a>, _: u8) -> Result<Self, PayloadError> {
        Ok(Self {
            process_id: Some(reader.u32("process id")?),
            size: reader.u32("size")?,
            destination: Self::address(reader, "destination")?,
            source: Self::address(reader, "source")?,
            destination_port: Self::port(reader, "port")?,
            source_port: Self::port(reader, "source port")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::NetworkEvent;
    use crate::payload::Payload as _;

    #[test]
    fn all_versions_have_the_same_fields() {
        let [local, remote] = ["10.0.0.1", "10.0.0.2"].map(|text| text.parse::<IpAddr>().unwrap());
        let expected = NetworkEvent::<false> {
            process_id: Some(7),
            size: 300,
            destination: remote,
            source: local,
            destination_port: 443,
            source_port: 50_000,
        };
        let newer = [7, 0, 0, 0, 44, 1, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1, 1, 187, 195, 80, 0, 0, 0, 0];
        for (version, pointer_size) in [(1, 4), (2, 8), (9, 8)] {
            assert_eq!(NetworkEvent::parse(&newer, version, pointer_size), Ok(expected));
        }
        let tcp = [10, 0, 0, 2, 10, 0, 0, 1, 1, 187, 195, 80, 44, 1, 0, 0, 7, 0, 0, 0];
        assert_eq!(NetworkEvent::of_old_tcp(&tcp, 4), Ok(expected));
        for pointer_size in [4_u8, 8] {
            let mut udp = vec![0; usize::from(pointer_size)];
            udp.extend([10, 0, 0, 1, 195, 80, 44, 1, 10, 0, 0, 2, 1, 187, 44, 1]);
            let expected = NetworkEvent { process_id: None, ..expected };
            assert_eq!(NetworkEvent::of_old_udp(&udp, pointer_size), Ok(expected));
            for length in 0..udp.len() - 2 {
                assert!(NetworkEvent::<false>::of_old_udp(&udp[..length], pointer_size).is_err());
            }
        }
        for length in 0..20 {
            assert!(NetworkEvent::<false>::parse(&newer[..length], 2, 8).is_err());
            assert!(NetworkEvent::<false>::of_old_tcp(&tcp[..length], 8).is_err());
        }
        let [local, remote] = ["fe80::1", "fe80::2"].map(|text| text.parse::<IpAddr>().unwrap());
        let mut long = vec![7, 0, 0, 0, 44, 1, 0, 0];
        for last in [2, 1] {
            long.extend([0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last]);
        }
        long.extend([1, 187, 195, 80]);
        let event = NetworkEvent::<true>::parse(&long, 2, 8).unwrap();
        assert_eq!((event.source, event.destination, event.source_port), (local, remote, 50_000));
    }
}
