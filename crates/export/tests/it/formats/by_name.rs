//! Formats are found by their names, and each writes what its module writes.

use tracesift_export::{Format, Grouping, firefox, folded, perfetto, pprof, speedscope};

use crate::synthetic;

#[test]
fn a_file_name_tells_the_format() {
    for &format in Format::ALL {
        assert_eq!(Format::of_file_name(&format!("a.b.{}", format.extension().to_uppercase())), Some(format));
    }
    for name in ["cpu.json", "folded", "", "x.perfetto-trace.zip", "cpu.gz"] {
        assert_eq!(Format::of_file_name(name), None, "{name}");
    }
}

#[test]
fn each_format_writes_its_own() {
    for &format in Format::ALL {
        let (mut out, mut expected) = (Vec::new(), Vec::new());
        format.write(synthetic::small(), &mut out).unwrap();
        let profile = synthetic::small();
        match format {
            Format::Folded => folded::write(&profile.fold(), Grouping::Process, &mut expected),
            Format::Pprof => pprof::write(&profile.fold(), &mut expected),
            Format::Speedscope => speedscope::write(&profile, &mut expected),
            Format::Firefox => firefox::write(&profile, &mut expected),
            Format::Perfetto => perfetto::write(&profile, &mut expected),
        }
        .unwrap();
        assert!(out == expected, "{}", format.key());
    }
}
