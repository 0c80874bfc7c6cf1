//! JSON names of the fields of payloads from the merge tool and from Visual Studio.

use tracesift_etl::payload::{
    BuildInfo, DiagnosticsCounter, DiagnosticsMachine, DiagnosticsTarget, ImageId, ImageInfo, PdbId, SystemConfigEx,
    SystemPaths, VolumeMapping,
};

use crate::payloads::cases::{Case, Decoded};
use crate::payloads::field::{Fields, fields};

pub(crate) fn decode(case: &Case) -> Option<Decoded> {
    Some(match (case.class.as_str(), case.opcode) {
        ("ImageID", ImageId::INFO) => case.parse(image_info),
        ("ImageID", ImageId::PDB | ImageId::MANAGED_PDB) => case.parse(pdb_id),
        ("SystemConfigEx", SystemConfigEx::BUILD_INFO) => case.parse(build_info),
        ("SystemConfigEx", SystemConfigEx::SYSTEM_PATHS) => case.parse(system_paths),
        ("SystemConfigEx", SystemConfigEx::VOLUME_MAPPING) => case.parse(volume_mapping),
        // The case's opcode is the event id.
        ("VsDiagnosticsHub", 1 | 2) => case.parse(diagnostics_target),
        ("VsDiagnosticsHub", 5) => case.parse(diagnostics_machine),
        ("VsDiagnosticsHub", 6) => case.parse(diagnostics_counter),
        _ => return None,
    })
}

fn image_info(value: ImageInfo<'_>) -> Fields {
    fields! {
        image_base => value.image_base,
        image_size => value.image_size,
        process_id => value.process_id,
        time_date_stamp => value.time_date_stamp,
        original_file_name => value.original_file_name,
    }
}

fn pdb_id(value: PdbId<'_>) -> Fields {
    fields! {
        image_base => value.image_base,
        process_id => value.process_id,
        guid => value.guid,
        age => value.age,
        pdb_file_name => value.pdb_file_name,
    }
}

fn build_info(value: BuildInfo<'_>) -> Fields {
    fields! {
        install_date => value.install_date,
        build_lab => value.build_lab,
        product_name => value.product_name,
    }
}

fn system_paths(value: SystemPaths<'_>) -> Fields {
    fields! {
        system_directory => value.system_directory,
        system_windows_directory => value.windows_directory,
    }
}

fn volume_mapping(value: VolumeMapping<'_>) -> Fields {
    fields! { nt_path => value.nt_path, dos_path => value.dos_path }
}

fn diagnostics_target(value: DiagnosticsTarget) -> Fields {
    fields! {
        process_id => value.process_id,
        start_reason => value.start_reason,
        timestamp => value.timestamp,
    }
}

fn diagnostics_machine(value: DiagnosticsMachine<'_>) -> Fields {
    fields! {
        name => value.name,
        os_description => value.os_description,
        architecture => value.architecture,
    }
}

fn diagnostics_counter(value: DiagnosticsCounter) -> Fields {
    fields! { counter => value.counter, timestamp => value.timestamp, value => value.value }
}
