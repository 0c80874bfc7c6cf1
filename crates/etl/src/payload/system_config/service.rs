//! Services.

use crate::payload::reader::Reader;
use crate::payload::text::WideStr;
use crate::payload::{Payload, PayloadError};

/// SystemConfig 15: an installed service; versions 0 to 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service<'a> {
    /// The process that hosts it; 0 when it is stopped.
    pub process_id: u32,
    /// State of the service: 1 stopped, 4 running. From version 2 on.
    pub state: Option<u32>,
    /// Tag by which threads name the service that they work for. From version 2 on.
    pub sub_process_tag: Option<u32>,
    /// Name of the service.
    pub name: WideStr<'a>,
    /// Name for people.
    pub display_name: WideStr<'a>,
    /// Name of the host process.
    pub process_name: WideStr<'a>,
    /// Group in which it is loaded. From version 3 on.
    pub load_order_group: Option<WideStr<'a>>,
    /// Group of services that share a svchost process. From version 3 on.
    pub svchost_group: Option<WideStr<'a>>,
}

impl<'a> Payload<'a> for Service<'a> {
    fn read(reader: &mut Reader<'a>, version: u8) -> Result<Self, PayloadError> {
        if version < 2 {
            let name = reader.fixed_wide(34, "service name")?;
            let display_name = reader.fixed_wide(256, "service display name")?;
            let process_name = reader.fixed_wide(34, "service process name")?;
            return Ok(Self {
                process_id: reader.u32("process id")?,
                state: None,
                sub_process_tag: None,
                name,
                display_name,
                process_name,
                load_order_group: None,
                svchost_group: None,
            });
        }
        let mut service = Self {
            process_id: reader.u32("process id")?,
            state: Some(reader.u32("service state")?),
            sub_process_tag: Some(reader.u32("sub-process tag")?),
            name: reader.wide("service name")?,
            display_name: reader.wide("service display name")?,
            process_name: reader.wide("service process name")?,
            load_order_group: None,
            svchost_group: None,
        };
        if version >= 3 {
            service.load_order_group = reader.optional(|r| r.wide("load-order group"));
            service.svchost_group = reader.optional(|r| r.wide("svchost group"));
        }
        Ok(service)
    }
}
