//! What stands in the header, held against the reference decodes and build id lists of quipper (`perf/golden`).

use crate::common::pb::{Message, plain};
use tracesift_fixtures::cases;
use tracesift_perf::{Attr, AttrFlags, Counts, CpuMode, Metadata};

use crate::common;

#[test]
fn build_ids_agree() {
    if cases("").is_none() {
        return;
    }
    let mut lists = 0;
    for name in common::names() {
        let Some(golden) = common::golden(&format!("{name}.buildids")) else { continue };
        let metadata = common::open(&name).metadata().clone();
        let ours = metadata.features.build_ids.iter().map(|entry| format!("{} {}", entry.id, entry.name));
        let (mut ours, mut golden): (Vec<String>, Vec<_>) = (ours.collect(), golden.lines().collect());
        // Mappings without a file, such as [vdso], may be in a recording once per process.
        ours.sort();
        ours.dedup();
        golden.sort_unstable();
        assert_eq!(ours, golden, "{name}");
        lists += 1;
    }
    println!("{lists} lists compared");
    assert!(lists > 10);
}

#[test]
fn events_and_features_agree() {
    if cases("").is_none() {
        return;
    }
    let mut headers = 0;
    for name in common::names() {
        let Some(text) = common::golden(&format!("{name}.pb_text")) else { continue };
        let golden = Message::parse(&text);
        let counts = Counts::of(common::open(&name).records());
        let metadata = counts.metadata.expect("it was walked");
        events(&name, &golden, &metadata);
        features(&name, &golden, &metadata);
        headers += 1;
    }
    assert!(headers > 20);
}

fn events(name: &str, golden: &Message, metadata: &Metadata) {
    let expected: Vec<&Message> = golden.all("file_attrs").collect();
    assert_eq!(expected.len(), metadata.events.len(), "{name}");
    for (index, (expected, event)) in expected.iter().zip(metadata.events.all()).enumerate() {
        let ids: Vec<u64> = expected.values("ids").map(|id| id.parse().expect("a number")).collect();
        assert_eq!(event.ids, ids, "{name}");
        for (field, value) in attribute(&event.attr) {
            let attr = expected.all("attr").next().expect("an attribute");
            // Decodes by older versions lack the younger flags.
            if let Some(expected) = attr.value(field) {
                assert_eq!(value, expected, "{name}: {field} of event {index}");
            }
        }
    }
    let names = golden.all("event_types").map(|event| event.value("name").expect("a name").to_owned());
    let ours = (0..metadata.events.len()).map(|index| plain(metadata.event_name(index).as_bytes()));
    assert_eq!(ours.collect::<Vec<_>>(), names.collect::<Vec<_>>(), "{name}");
}

fn attribute(attr: &Attr) -> Vec<(&'static str, String)> {
    let flag = |name, flag| (name, attr.flags.contains(flag).to_string());
    vec![
        ("type", attr.kind.to_string()),
        ("config", attr.config.to_string()),
        ("sample_period", attr.period_or_frequency.to_string()),
        ("sample_type", attr.sample_format.bits().to_string()),
        ("read_format", attr.read_format.bits().to_string()),
        ("precise_ip", attr.precise_ip().to_string()),
        ("wakeup_events", attr.wakeup.to_string()),
        ("bp_type", attr.bp_type.to_string()),
        ("bp_addr", attr.config1.to_string()),
        ("bp_len", attr.config2.to_string()),
        ("branch_sample_type", attr.branch_format.bits().to_string()),
        ("sample_regs_user", attr.user_registers.to_string()),
        ("sample_stack_user", attr.user_stack.to_string()),
        flag("disabled", AttrFlags::DISABLED),
        flag("inherit", AttrFlags::INHERIT),
        flag("pinned", AttrFlags::PINNED),
        flag("exclusive", AttrFlags::EXCLUSIVE),
        flag("exclude_user", AttrFlags::EXCLUDE_USER),
        flag("exclude_kernel", AttrFlags::EXCLUDE_KERNEL),
        flag("exclude_hv", AttrFlags::EXCLUDE_HV),
        flag("exclude_idle", AttrFlags::EXCLUDE_IDLE),
        flag("mmap", AttrFlags::MMAP),
        flag("comm", AttrFlags::COMM),
        flag("freq", AttrFlags::FREQ),
        flag("inherit_stat", AttrFlags::INHERIT_STAT),
        flag("enable_on_exec", AttrFlags::ENABLE_ON_EXEC),
        flag("task", AttrFlags::TASK),
        flag("watermark", AttrFlags::WATERMARK),
        flag("mmap_data", AttrFlags::MMAP_DATA),
        flag("sample_id_all", AttrFlags::SAMPLE_ID_ALL),
        flag("exclude_host", AttrFlags::EXCLUDE_HOST),
        flag("exclude_guest", AttrFlags::EXCLUDE_GUEST),
        flag("exclude_callchain_kernel", AttrFlags::EXCLUDE_CALLCHAIN_KERNEL),
        flag("exclude_callchain_user", AttrFlags::EXCLUDE_CALLCHAIN_USER),
        flag("mmap2", AttrFlags::MMAP2),
        flag("comm_exec", AttrFlags::COMM_EXEC),
        flag("use_clockid", AttrFlags::USE_CLOCKID),
        flag("context_switch", AttrFlags::CONTEXT_SWITCH),
        flag("write_backward", AttrFlags::WRITE_BACKWARD),
        flag("namespaces", AttrFlags::NAMESPACES),
        flag("cgroup", AttrFlags::CGROUP),
        flag("ksymbol", AttrFlags::KSYMBOL),
    ]
}

fn features(name: &str, golden: &Message, metadata: &Metadata) {
    let features = &metadata.features;
    let text = |value: &Option<String>| value.as_ref().map(|text| plain(text.as_bytes()));
    for strings in golden.all("string_metadata") {
        let value =
            |field| strings.all(field).next().map(|message| message.value("value").expect("a value").to_owned());
        assert_eq!(text(&features.hostname), value("hostname"), "{name}");
        assert_eq!(text(&features.os_release), value("kernel_version"), "{name}");
        assert_eq!(text(&features.perf_version), value("perf_version"), "{name}");
        assert_eq!(text(&features.arch), value("architecture"), "{name}");
        assert_eq!(text(&features.cpu_description), value("cpu_description"), "{name}");
        assert_eq!(text(&features.cpu_id), value("cpu_id"), "{name}");
        let tokens = strings.all("perf_command_line_token").map(|token| token.value("value").expect("a value"));
        let ours: Vec<String> = features.command_line.iter().map(|token| plain(token.as_bytes())).collect();
        assert_eq!(ours, tokens.collect::<Vec<_>>(), "{name}");
    }
    for numbers in golden.all("uint32_metadata") {
        let cpus = features.cpus.expect("numbers of CPUs");
        let data = [cpus.available.to_string(), cpus.online.to_string()];
        assert_eq!(data.iter().collect::<Vec<_>>(), numbers.values("data").collect::<Vec<_>>(), "{name}");
    }
    for numbers in golden.all("uint64_metadata") {
        assert_eq!(features.total_memory_kib.map(|kib| kib.to_string()).as_deref(), numbers.value("data"), "{name}");
    }
    let pmus = |message: &Message| {
        (message.value("type").expect("a type").to_owned(), message.value("name").expect("a name").to_owned())
    };
    let ours = features.pmus.iter().map(|(kind, name)| (kind.to_string(), plain(name.as_bytes())));
    assert_eq!(ours.collect::<Vec<_>>(), golden.all("pmu_mappings").map(pmus).collect::<Vec<_>>(), "{name}");
    for (expected, group) in golden.all("group_desc").zip(&features.groups) {
        assert_eq!(expected.value("name"), Some(plain(group.name.as_bytes()).as_str()));
        assert_eq!(expected.value("leader_idx"), Some(group.leader.to_string().as_str()));
        assert_eq!(expected.value("num_members"), Some(group.members.to_string().as_str()));
    }
    assert_eq!(golden.all("group_desc").count(), features.groups.len(), "{name}");
    for expected in golden.all("cpu_topology") {
        let topology = features.topology.as_ref().expect("a topology");
        let plain_all = |lists: &[String]| lists.iter().map(|list| plain(list.as_bytes())).collect::<Vec<_>>();
        assert_eq!(plain_all(&topology.packages), expected.values("core_siblings").collect::<Vec<_>>(), "{name}");
        assert_eq!(plain_all(&topology.cores), expected.values("thread_siblings").collect::<Vec<_>>(), "{name}");
        let cpus = expected.all("available_cpus").map(|cpu| {
            let number = |field| cpu.value(field).expect("a number").parse().expect("a number");
            (number("core_id"), number("socket_id"))
        });
        assert_eq!(topology.cpus, cpus.collect::<Vec<(i32, i32)>>(), "{name}");
    }
    for (expected, entry) in golden.all("build_ids").zip(&features.build_ids) {
        let kernel = expected.value("misc").expect("a number").parse::<u16>().expect("a number") & 7 == 1;
        assert_eq!(expected.value("filename"), Some(plain(entry.name.as_bytes()).as_str()), "{name}");
        assert_eq!(expected.value("pid"), Some(entry.pid.cast_unsigned().to_string().as_str()), "{name}");
        assert_eq!(expected.value("build_id_hash"), Some(plain(entry.id.as_bytes()).as_str()), "{name}");
        assert_eq!(entry.mode == CpuMode::Kernel, kernel, "{name}");
    }
    assert_eq!(golden.all("build_ids").count(), features.build_ids.len(), "{name}");
}
