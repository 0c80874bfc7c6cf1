//! JSON names of the fields of kernel payloads.

use tracesift_etl::payload::system_config::{Cpu, LogicalDisk, PhysicalDisk, PlugAndPlay};
use tracesift_etl::payload::{
    ContextSwitch, CounterConfiguration, CounterCorruption, CounterSample, HeaderExtension, Image, PartitionIdentity,
    PartitionInfo, Process, ProcessCounters, SampleInterval, SampledProfile, Stack, StackDefinition, StackReference,
    Thread, ThreadName,
};

use crate::payloads::cases::{Case, Decoded};
use crate::payloads::field::{Field, Fields, fields};

pub(crate) fn decode(case: &Case) -> Option<Decoded> {
    Some(match (case.class.as_str(), case.opcode) {
        ("EventTrace", HeaderExtension::START | HeaderExtension::END) => case.parse(header_extension),
        ("EventTrace", PartitionInfo::OPCODE) => case.parse(partition_info),
        ("Process", Process::START..=Process::DC_END | Process::DEFUNCT) => case.parse(process),
        ("Process", ProcessCounters::EXIT | ProcessCounters::RUNDOWN) => case.parse(process_counters),
        ("Thread", Thread::START..=Thread::DC_END) => case.parse(thread),
        ("Thread", ContextSwitch::OPCODE) => case.parse(context_switch),
        ("Thread", ThreadName::OPCODE) => case.parse(thread_name),
        ("Image", Image::UNLOAD..=Image::DC_END | Image::LOAD) => case.parse(image),
        ("PerfInfo", SampledProfile::OPCODE) => case.parse(sampled_profile),
        ("PerfInfo", CounterSample::OPCODE) => case.parse(counter_sample),
        ("PerfInfo", CounterConfiguration::OPCODE) => case.parse(counter_configuration),
        ("PerfInfo", CounterCorruption::OPCODE) => case.parse(counter_corruption),
        ("PerfInfo", SampleInterval::SET..=SampleInterval::DC_END) => case.parse(sample_interval),
        ("StackWalk", Stack::OPCODE) => case.parse(stack),
        ("StackWalk", StackReference::KERNEL | StackReference::USER) => case.parse(stack_reference),
        ("StackWalk", StackDefinition::CREATE..=StackDefinition::RUNDOWN) => case.parse(stack_definition),
        ("SystemConfig", 10) => case.parse(cpu),
        ("SystemConfig", 11) => case.parse(physical_disk),
        ("SystemConfig", 12) => case.parse(logical_disk),
        ("SystemConfig", 22) => case.parse(plug_and_play),
        _ => return None,
    })
}

fn header_extension(value: HeaderExtension) -> Fields {
    let [mask1, mask2, mask3, mask4, mask5, mask6, mask7, mask8] = value.group_masks;
    fields! {
        group_mask_1 => mask1,
        group_mask_2 => mask2,
        group_mask_3 => mask3,
        group_mask_4 => mask4,
        group_mask_5 => mask5,
        group_mask_6 => mask6,
        group_mask_7 => mask7,
        group_mask_8 => mask8,
        kernel_event_version => value.kernel_event_version,
    }
}

fn partition_info(value: PartitionInfo<'_>) -> Fields {
    let (partition, parent) = match value.identity {
        PartitionIdentity::Guids { partition, parent } => (Field::from(partition), Field::from(parent)),
        PartitionIdentity::Texts { partition, parent } => (Field::from(partition), Field::from(parent)),
        PartitionIdentity::Unknown => (Field::Absent, Field::Absent),
    };
    fields! {
        event_version => value.event_version,
        reserved => value.reserved,
        partition_type => value.partition_type,
        qpc_offset_from_root => value.qpc_offset_from_root,
        partition_id_guid => partition,
        parent_id_guid => parent,
    }
}

fn process(value: Process<'_>) -> Fields {
    fields! {
        // One field that version 1 calls by another name.
        page_directory_base => value.directory_table_base,
        directory_table_base => value.directory_table_base,
        unique_process_key => value.unique_process_key,
        process_id => value.process_id,
        parent_id => value.parent_id,
        session_id => value.session_id,
        exit_status => value.exit_status,
        flags => value.flags,
        user_sid => value.user_sid,
        image_file_name => value.image_file_name,
        command_line => value.command_line,
        package_full_name => value.package_full_name,
        application_id => value.application_id,
        exit_time => value.exit_time,
    }
}

fn process_counters(value: ProcessCounters) -> Fields {
    fields! {
        process_id => value.process_id,
        page_fault_count => value.page_fault_count,
        handle_count => value.handle_count,
        reserved => value.reserved,
        peak_virtual_size => value.peak_virtual_size,
        peak_working_set_size => value.peak_working_set_size,
        peak_pagefile_usage => value.peak_pagefile_usage,
        quota_peak_paged_pool_usage => value.quota_peak_paged_pool_usage,
        quota_peak_non_paged_pool_usage => value.quota_peak_non_paged_pool_usage,
        virtual_size => value.virtual_size,
        working_set_size => value.working_set_size,
        pagefile_usage => value.pagefile_usage,
        quota_paged_pool_usage => value.quota_paged_pool_usage,
        quota_non_paged_pool_usage => value.quota_non_paged_pool_usage,
        private_page_count => value.private_page_count,
    }
}

fn thread(value: Thread<'_>) -> Fields {
    fields! {
        process_id => value.process_id,
        thread_id => value.thread_id,
        stack_base => value.stacks.map(|stacks| stacks.base),
        stack_limit => value.stacks.map(|stacks| stacks.limit),
        user_stack_base => value.stacks.map(|stacks| stacks.user_base),
        user_stack_limit => value.stacks.map(|stacks| stacks.user_limit),
        start_addr => value.start_address,
        affinity => value.affinity,
        win32_start_addr => value.win32_start_address,
        wait_mode => value.wait_mode,
        teb_base => value.teb,
        sub_process_tag => value.sub_process_tag,
        base_priority => value.base_priority,
        page_priority => value.page_priority,
        io_priority => value.io_priority,
        thread_flags => value.flags,
        thread_name => value.name,
    }
}

fn context_switch(value: ContextSwitch) -> Fields {
    fields! {
        new_thread_id => value.new_thread_id,
        old_thread_id => value.old_thread_id,
        new_thread_priority => value.new_thread_priority,
        old_thread_priority => value.old_thread_priority,
        previous_c_state => value.previous_c_state,
        spare_byte => value.new_thread_priority_decrement,
        old_thread_wait_reason => value.old_thread_wait_reason,
        // One field that version 4 calls by another name.
        old_thread_wait_mode => value.old_thread_wait_mode,
        thread_flags => value.old_thread_wait_mode,
        old_thread_state => value.old_thread_state,
        old_thread_wait_ideal_processor => value.old_thread_ideal_processor,
        new_thread_wait_time => value.new_thread_wait_time,
        reserved => value.old_thread_remaining_quantum,
    }
}

fn thread_name(value: ThreadName<'_>) -> Fields {
    fields! { process_id => value.process_id, thread_id => value.thread_id, thread_name => value.name }
}

fn image(value: Image<'_>) -> Fields {
    let [reserved1, reserved2, reserved3, reserved4] = value.reserved;
    fields! {
        image_base => value.base,
        image_size => value.size,
        process_id => value.process_id,
        image_checksum => value.checksum,
        time_date_stamp => value.time_date_stamp,
        signature_level => value.signature_level,
        signature_type => value.signature_type,
        reserved0 => value.reserved0,
        default_base => value.default_base,
        reserved1 => reserved1,
        reserved2 => reserved2,
        reserved3 => reserved3,
        reserved4 => reserved4,
        file_name => value.file_name,
    }
}

fn sampled_profile(value: SampledProfile) -> Fields {
    let reserved = value.flags.zip(value.rank).map(|(flags, rank)| u16::from_le_bytes([flags, rank]));
    fields! {
        instruction_pointer => value.instruction_pointer,
        thread_id => value.thread_id,
        count => value.count,
        reserved => reserved,
    }
}

fn counter_sample(value: CounterSample) -> Fields {
    fields! {
        instruction_pointer => value.instruction_pointer,
        thread_id => value.thread_id,
        profile_source => value.profile_source,
        reserved => value.reserved,
    }
}

fn counter_configuration(value: CounterConfiguration<'_>) -> Fields {
    fields! {
        counter_count => value.names.iter().count() as u32,
        counter_names => Field::List(value.names.iter().map(Field::from).collect()),
    }
}

fn counter_corruption(value: CounterCorruption<'_>) -> Fields {
    let counters = value.counters.iter().map(|counter| {
        Field::Object(fields! {
            profile_source => counter.profile_source,
            last_known_good_timestamp => counter.last_known_good,
        })
    });
    fields! {
        processor_number => value.processor,
        counter_count => value.counters.iter().count() as u32,
        counter_status => Field::List(counters.collect()),
    }
}

fn sample_interval(value: SampleInterval<'_>) -> Fields {
    fields! {
        source => value.source,
        new_interval => value.new_interval,
        old_interval => value.old_interval,
        source_name => value.source_name,
    }
}

fn stack(value: Stack<'_>) -> Fields {
    fields! {
        event_timestamp => value.event_timestamp,
        process_id => value.process_id,
        thread_id => value.thread_id,
        stack => value.frames,
    }
}

fn stack_reference(value: StackReference) -> Fields {
    fields! {
        event_timestamp => value.event_timestamp,
        process_id => value.process_id,
        thread_id => value.thread_id,
        stack_key => value.stack_key,
    }
}

fn stack_definition(value: StackDefinition<'_>) -> Fields {
    fields! { stack_key => value.stack_key, stack => value.frames }
}

fn cpu(value: Cpu<'_>) -> Fields {
    fields! {
        mhz => value.mhz,
        number_of_processors => value.number_of_processors,
        mem_size_mb => value.memory_mib,
        page_size => value.page_size,
        allocation_granularity => value.allocation_granularity,
        computer_name => value.computer_name,
        domain_name => value.domain_name,
        hyper_threading_flag => value.hyper_threading_flag,
        highest_user_address => value.highest_user_address,
        processor_architecture => value.processor_architecture,
        processor_level => value.processor_level,
        processor_revision => value.processor_revision,
        nx_enabled => value.nx_enabled,
        pae_enabled => value.pae_enabled,
        memory_speed => value.memory_speed,
    }
}

fn physical_disk(value: PhysicalDisk<'_>) -> Fields {
    fields! {
        disk_number => value.disk_number,
        bytes_per_sector => value.bytes_per_sector,
        sectors_per_track => value.sectors_per_track,
        tracks_per_cylinder => value.tracks_per_cylinder,
        cylinders => value.cylinders,
        scsi_port => value.scsi_port,
        scsi_path => value.scsi_path,
        scsi_target => value.scsi_target,
        scsi_lun => value.scsi_lun,
        manufacturer => value.manufacturer,
        partition_count => value.partition_count,
        write_cache_enabled => value.write_cache_enabled,
        boot_drive_letter => value.boot_drive_letter,
        spare => value.spare,
    }
}

fn logical_disk(value: LogicalDisk<'_>) -> Fields {
    fields! {
        start_offset => value.start_offset,
        partition_size => value.partition_size,
        disk_number => value.disk_number,
        size => value.size,
        drive_type => value.drive_type,
        drive_letter => value.drive_letter,
        partition_number => value.partition_number,
        sectors_per_cluster => value.sectors_per_cluster,
        bytes_per_sector => value.bytes_per_sector,
        number_of_free_clusters => value.number_of_free_clusters,
        total_number_of_clusters => value.total_number_of_clusters,
        file_system => value.file_system,
        volume_extent => value.volume_extent,
    }
}

fn plug_and_play(value: PlugAndPlay<'_>) -> Fields {
    fields! {
        class_guid => value.class_guid,
        upper_filters_count => value.filters.map(|filters| filters.upper.iter().count() as u32),
        lower_filters_count => value.filters.map(|filters| filters.lower.iter().count() as u32),
        dev_status => value.status.map(|status| status.status),
        dev_problem => value.status.map(|status| status.problem),
        device_id => value.device_id,
        device_description => value.description,
        friendly_name => value.friendly_name,
        pdo_name => value.pdo_name,
        service_name => value.service_name,
    }
}
