//! The test that a file was recorded for, from its name.

use tracesift_grammar::TestName;

use super::file_kind;

/// The test that a file was recorded for, by its name or path, with or without its endings; `None`: not named like a test.
#[must_use]
pub fn test_name(path: &str) -> Option<TestName> {
    let file_name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    TestName::parse(file_kind::stem(file_name))
}

#[cfg(test)]
mod tests {
    use tracesift_grammar::{Status, Tier};

    use super::test_name;

    fn parsed(name: &str) -> (String, u64, String, String) {
        let name = test_name(name).unwrap_or_else(|| panic!("{name} is a test name"));
        let time = name.time().map(|time| time.to_string()).unwrap_or_default();
        (name.test, name.duration_ms, name.machine, time)
    }

    fn expected(test: &str, duration_ms: u64, machine: &str, time: &str) -> (String, u64, String, String) {
        (test.into(), duration_ms, machine.into(), time.into())
    }

    #[test]
    fn new_style() {
        let text = "Load_2382ms_RN1884F4EB-386C_SRV_TestStatus-Passed_20220425-215857.7z";
        assert_eq!(parsed(text), expected("Load", 2382, "RN1884F4EB-386C", "2022-04-25 21:58:57"));
        let name = test_name(text).unwrap();
        assert_eq!((name.tier, name.status), (Some(Tier::Server), Some(Status::Passed)));
        assert_eq!(name.specific_modify_date, None);
    }

    #[test]
    fn every_tier_and_status() {
        for (tier, tier_text) in [(Tier::Client, "CLT"), (Tier::Server, "SRV"), (Tier::Single, "SINGLE")] {
            for (status, text) in [(Status::Passed, "Passed"), (Status::Failed, "Failed"), (Status::Unknown, "Unknown")]
            {
                let name = format!("T_0ms_M_{tier_text}_TestStatus-{text}_20000229-000000.etl.zip");
                let name = test_name(&name).unwrap();
                assert_eq!((name.tier, name.status), (Some(tier), Some(status)));
            }
        }
    }

    #[test]
    fn a_machine_name_may_contain_underscores() {
        let text = "Load_2624ms_PERF_100K20H2-V_CLT_TestStatus-Passed_20220425-213643";
        assert_eq!(parsed(text), expected("Load", 2624, "PERF_100K20H2-V", "2022-04-25 21:36:43"));
        let text = "Load_1ms_A_SRV_B_CLT_TestStatus-Failed_20220425-213643.sift";
        assert_eq!(parsed(text).2, "A_SRV_B");
    }

    #[test]
    fn old_style() {
        for (name, result) in [
            (
                "CallupAdhocWarmReadingCT_3117msFO9DE01T0162PC.20200717-124447.7z",
                expected("CallupAdhocWarmReadingCT", 3117, "FO9DE01T0162PC", "2020-07-17 12:44:47"),
            ),
            (
                "C:\\tmp\\x_1\\CallupAdhocWarmReadingCT_3117msFO9DE01T0162PC.20200717-124447.etl",
                expected("CallupAdhocWarmReadingCT", 3117, "FO9DE01T0162PC", "2020-07-17 12:44:47"),
            ),
            (
                "LoadPrepCR_2229msNFRQR2004-GURU-20200910-210005.7z",
                expected("LoadPrepCR", 2229, "NFRQR2004-GURU", "2020-09-10 21:00:05"),
            ),
            ("TestCase_500msMachine-20200725-235959.7z", expected("TestCase", 500, "Machine", "2020-07-25 23:59:59")),
            (
                "TestCase_500msMachine-With_SomeOtherData.7z",
                expected("TestCase", 500, "Machine-With_SomeOtherData", ""),
            ),
            (
                "CallupAdhocColdReading_9204msDEERLN1T061SRV.7z",
                expected("CallupAdhocColdReading", 9204, "DEERLN1T061SRV", ""),
            ),
            (
                "SSTUaPMapWorkitemFromRTC2_2645msDEFOR09T130SRV.20200725-125302",
                expected("SSTUaPMapWorkitemFromRTC2", 2645, "DEFOR09T130SRV", "2020-07-25 12:53:02"),
            ),
            (
                "CallupAdhocWarmReadingCT_3117msDEFOR09T121SRV.20200717-124447_2.etl.zip",
                expected("CallupAdhocWarmReadingCT", 3117, "DEFOR09T121SRV", "2020-07-17 12:44:47"),
            ),
            ("T_5MSm.etl", expected("T", 5, "m", "")),
        ] {
            assert_eq!(parsed(name), result, "{name}");
            let parsed = test_name(name).unwrap();
            assert_eq!((parsed.tier, parsed.status, parsed.performed_at), (None, None, None));
        }
    }

    #[test]
    fn a_date_that_does_not_exist_is_none() {
        assert_eq!(test_name("T_5msM.20210229-000000.etl").unwrap().specific_modify_date, None);
        assert_eq!(parsed("T_5msM-20210229-000000.etl").2, "M-20210229-000000");
    }

    #[test]
    fn not_test_names() {
        for name in [
            "SlowSystem.etl",
            "SlowBrowsing_Skyrmion.etl",
            "Wpr_SysCall.etl",
            "WebBrowsingRouterOn_SKYRMION.10-06-2022.19-46-16",
            "ManySlowCalls_MAGNON.03-07-2023.23-21-41.json",
            "16_02_05.21LongTrace.json",
            "net.4.5.2.x64.etl.zip",
            "Load_2382asdfdasRN1884F4EB-386C_SRV_TestStatus-Passed_20220425-215857.7z",
            "Load_2382ms_M_SRV_TestStatus-Passed_20220425.7z",
            "Load_2382ms_M_XXX_TestStatus-Passed_20220425-215857.7z",
            "Load_2382ms_M_SRV_Passed_20220425-215857.7z",
            "Load_2382ms_SRV_TestStatus-Passed_20220425-215857.7z",
            "Load_2382ms_M_SRV_TestStatus-Passed_20221325-215857.7z",
            "Load_99999999999999999999999msM.etl",
            "Load_5ms.etl",
            "_5msM.etl",
            "Load_msM.etl",
            "Load_5mµM.etl",
            "Load_",
            "",
        ] {
            assert_eq!(test_name(name), None, "{name}");
        }
    }
}
