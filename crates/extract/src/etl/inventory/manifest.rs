//! Processes, threads and images as the manifest provider Microsoft-Windows-Kernel-Process tells them.

use tracesift_etl::payload::{KernelImage, KernelProcessRundown, KernelProcessStart, KernelProcessStop, KernelThread};
use tracesift_etl::{Guid, Record};
use tracesift_trace::modules::{ImageEdge, ImageMapping, file_name};
use tracesift_trace::population::{Edge, ProcessFacts, ThreadFacts};

use super::Inventory;

/// Microsoft-Windows-Kernel-Process.
pub(crate) const PROVIDER: Guid = Guid::from_u128(0x22fb2cd6_0e7b_422b_a0c7_2fad1fd0e716);

impl Inventory {
    pub(super) fn kernel_process(&mut self, record: &Record<'_>, id: u16, version: u8) {
        let ticks = record.time();
        match id {
            KernelProcessStart::ID => {
                if let Some(start) = self.decode::<KernelProcessStart<'_>>(record, version) {
                    self.twin_process(ticks, Edge::Start, &start);
                }
            }
            KernelProcessRundown::ID => {
                if let Some(rundown) = self.decode::<KernelProcessRundown<'_>>(record, version) {
                    self.twin_process(ticks, Edge::AliveAtStart, &rundown.process);
                }
            }
            KernelProcessStop::ID => {
                let Some(stop) = self.decode::<KernelProcessStop<'_>>(record, version) else { return };
                let facts = ProcessFacts {
                    name: Some(stop.image_name.to_string()),
                    exit_code: Some(stop.exit_code.cast_signed()),
                    ..ProcessFacts::default()
                };
                self.has_twin = true;
                self.twin.process(ticks, stop.process_id, Edge::End, facts);
            }
            KernelThread::START_ID | KernelThread::STOP_ID => {
                let Some(thread) = self.decode::<KernelThread>(record, version) else { return };
                let edge = if id == KernelThread::START_ID { Edge::Start } else { Edge::End };
                let facts = ThreadFacts {
                    pid: thread.process_id,
                    start_address: Some(thread.win32_start_address),
                    service_tag: thread.sub_process_tag,
                    ..ThreadFacts::default()
                };
                self.twin.thread(ticks, thread.thread_id, edge, facts);
            }
            KernelImage::LOAD_ID | KernelImage::UNLOAD_ID => {
                let Some(image) = self.decode::<KernelImage<'_>>(record, version) else { return };
                // The kernel's own image records say the same and more.
                if self.has_kernel_processes {
                    return;
                }
                let edge = if id == KernelImage::LOAD_ID { ImageEdge::Load } else { ImageEdge::Unload };
                self.images.image(&ImageMapping {
                    ticks,
                    pid: image.process_id,
                    edge,
                    base: image.base,
                    size: image.size,
                    checksum: image.checksum,
                    time_date_stamp: image.time_date_stamp,
                    path: &image.name.to_string(),
                });
            }
            _ => {}
        }
    }

    fn twin_process(&mut self, ticks: i64, edge: Edge, start: &KernelProcessStart<'_>) {
        let path = start.image_name.to_string();
        let facts = ProcessFacts {
            parent_pid: Some(start.parent_id),
            name: Some(file_name(&path).to_owned()),
            session: Some(start.session_id.cast_signed()),
            package: start.package_full_name.map(|name| name.to_string()),
            application: start.package_relative_app_id.map(|name| name.to_string()),
            ..ProcessFacts::default()
        };
        self.has_twin = true;
        self.twin.process(ticks, start.process_id, edge, facts);
    }
}
