//! Network adapters.

use crate::payload::reader::Reader;
use crate::payload::text::WideStr;
use crate::payload::{Payload, PayloadError};

/// SystemConfig 13: a network adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkAdapter<'a> {
    /// Name of the adapter.
    pub description: WideStr<'a>,
    /// Interface index for IPv4; before version 2 the only one.
    pub ipv4_index: u32,
    /// Bytes of the hardware address.
    pub physical_address_length: u32,
    /// Addresses. From version 2 on.
    pub addresses: Option<NetworkAddresses<'a>>,
}

/// Addresses of a network adapter. Lists are separated by `;`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkAddresses<'a> {
    /// Hardware address; the first byte is the lowest.
    pub physical_address: u64,
    /// Interface index for IPv6.
    pub ipv6_index: u32,
    /// IP addresses.
    pub ip_addresses: WideStr<'a>,
    /// Addresses of the DNS servers.
    pub dns_servers: WideStr<'a>,
}

impl<'a> Payload<'a> for NetworkAdapter<'a> {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        if version >= 2 {
            let physical_address = reader.u64("hardware address")?;
            let physical_address_length = reader.u32("hardware address length")?;
            let ipv4_index = reader.u32("IPv4 interface index")?;
            let ipv6_index = reader.u32("IPv6 interface index")?;
            Ok(Self {
                description: reader.wide("adapter description")?,
                ipv4_index,
                physical_address_length,
                addresses: Some(NetworkAddresses {
                    physical_address,
                    ipv6_index,
                    ip_addresses: reader.wide("IP addresses")?,
                    dns_servers: reader.wide("DNS servers")?,
                }),
            })
        } else {
            // The addresses behind these fields are left: no recording of such a system is known.
            Ok(Self {
                description: reader.fixed_wide(256, "adapter name")?,
                ipv4_index: reader.u32("interface index")?,
                physical_address_length: reader.u32("hardware address length")?,
                addresses: None,
            })
        }
    }
}
