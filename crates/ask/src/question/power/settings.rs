//! The power settings that have names: powercfg's alias, GUID, title, and what a value means.

use super::OTHERS;
use crate::answer::{Column, Kind, View};

/// What a value of a setting is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    /// A number.
    Number,
    /// One of these, by its number.
    Words(&'static [&'static str]),
    /// A power scheme, or another GUID.
    Guid,
}

/// One setting.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    /// GUID in lower case.
    pub(super) guid: &'static str,
    /// What a value is.
    pub(super) values: Values,
    /// The column. Its key is powercfg's alias in lower case.
    pub(super) column: Column,
}

macro_rules! settings {
    ($($(#[$about:meta])* $name:ident { $($alias:literal $guid:literal $title:literal $values:expr, $help:literal;)+ })+) => {
        $(
            $(#[$about])*
            const $name: &[Setting] = &[$(Setting {
                guid: $guid,
                values: $values,
                column: Column {
                    key: $alias,
                    title: $title,
                    kind: match $values { Values::Number => Kind::Count, _ => Kind::Text },
                    view: View::Always,
                    help: concat!($help, " (`", $guid, "`)"),
                },
            }),+];
        )+
    };
}

use Values::{Guid, Number, Words};

const POLICIES: Values = Words(&["ideal", "single step", "rocket", "ideal aggressive"]);
const PARKING_POLICIES: Values = Words(&["ideal", "single core", "all possible cores"]);
const SCHEDULING: Values = Words(&[
    "all processors",
    "performant processors",
    "prefer performant",
    "efficient processors",
    "prefer efficient",
    "automatic",
]);
const OFF_ON: Values = Words(&["off", "on"]);

settings! {
    /// Schemes of power settings.
    SCHEMES {
        "active_scheme" "31f9f286-5084-42fe-b720-2b0264993763" "Power scheme" Guid,
            "The power scheme in force.";
        "base_profile" "245d8541-3943-4422-b025-13a784f679b7" "Base profile" Guid,
            "The default scheme that the one in force is based on.";
    }
    /// Settings of frequencies, and of the choice of cores.
    PROCESSOR {
        "perfautonomous" "8baa4a8a-14c6-4451-8e8b-14bdbd197537" "Autonomous mode" OFF_ON,
            "Whether the processor chooses its frequency itself.";
        "heteropolicy" "7f2f5cfa-f10c-4823-b5e1-e93ae85f46b5" "Heterogeneous policy" Number,
            "Number of the policy by which cores of different kinds are parked and used.";
        "schedpolicy" "93b8b6dc-0698-4d1c-9ee4-0644e900c85d" "Scheduling of long threads" SCHEDULING,
            "The kinds of cores on which threads run that run for long.";
        "shortschedpolicy" "bae08b81-2d5e-4688-ad6a-13243356654b" "Scheduling of short threads" SCHEDULING,
            "The kinds of cores on which threads run that run for a short time.";
        "heterodecreasethreshold" "f8861c27-95e7-475c-865b-13c0cb3f9d6b" "Hetero decrease threshold" Number,
            "Load below which fewer cores of class 1 are unparked; four levels of 8 bits each.";
        "heterodecreasethreshold1" "f8861c27-95e7-475c-865b-13c0cb3f9d6c" "Hetero decrease threshold 2" Number,
            "As `heterodecreasethreshold`, for cores of class 2.";
        "heteroincreasethreshold" "b000397d-9b0b-483d-98c9-692a6060cfbf" "Hetero increase threshold" Number,
            "Load above which more cores of class 1 are unparked; four levels of 8 bits each.";
        "heteroincreasethreshold1" "b000397d-9b0b-483d-98c9-692a6060cfc0" "Hetero increase threshold 2" Number,
            "As `heteroincreasethreshold`, for cores of class 2.";
        "shortthreadruntimethreshold" "d92998c2-6a48-49ca-85d4-8cceec294570" "Short thread limit µs" Number,
            "Run time up to which a thread counts as short.";
        "longthreadarchclasslowerthreshold" "43f278bc-0f8a-46d0-8b31-9a23e615d713" "Long threads from class" Number,
            "Lowest architecture class of the cores on which long threads run.";
        "perfepp" "36687f9e-e3a5-4dbf-b1dc-15eb381c6863" "Energy preference %" Number,
            "What the processor is told to prefer: 0 speed, 100 low energy.";
        "perfepp1" "36687f9e-e3a5-4dbf-b1dc-15eb381c6864" "Energy preference % class 1" Number,
            "As `perfepp`, for cores of class 1.";
        "perfboostmode" "be337238-0d82-4146-a960-4f3749d470c7" "Boost mode"
            Words(&[
                "off",
                "on",
                "aggressive",
                "efficient on",
                "efficient aggressive",
                "aggressive at guaranteed",
                "efficient aggressive at guaranteed",
            ]),
            "Whether and how eagerly a processor exceeds its nominal frequency.";
        "perfboostpol" "45bcc044-d885-43e2-8605-ee0ec6e96b59" "Boost policy %" Number,
            "How much of the boost is used, where the processor does not choose its frequency itself.";
        "perfdecpol" "40fbefc7-2e9d-4d25-a185-0cfd8574bac6" "Decrease policy" POLICIES,
            "The step by which the frequency falls.";
        "perfdectime" "d8edeb9b-95cf-4f95-a73c-b061973693c8" "Decrease time" Number,
            "Number of time checks before the frequency falls.";
        "perfdecthreshold" "12a0ab44-fe28-4fa9-b3bd-4b64f44960a6" "Decrease threshold %" Number,
            "Load below which the frequency falls.";
        "perfincpol" "465e1f50-b610-473a-ab58-00d1077dc418" "Increase policy" POLICIES,
            "The step by which the frequency rises.";
        "perfincpol1" "465e1f50-b610-473a-ab58-00d1077dc419" "Increase policy class 1" POLICIES,
            "As `perfincpol`, for cores of class 1.";
        "perfinctime" "984cf492-3bed-4488-a8f9-4286c97bf5aa" "Increase time" Number,
            "Number of time checks before the frequency rises.";
        "perfinctime1" "984cf492-3bed-4488-a8f9-4286c97bf5ab" "Increase time class 1" Number,
            "As `perfinctime`, for cores of class 1.";
        "perfincthreshold" "06cadf0e-64ed-448a-8927-ce7bf90eb35d" "Increase threshold %" Number,
            "Load above which the frequency rises.";
        "perfcheck" "4d2b0152-7d5c-498b-88e2-34345392a2c5" "Time check ms" Number,
            "Time between two looks at the load.";
        "latencyhintperf" "619b7505-003b-4e82-b7a6-4dd29c300971" "Performance on latency hint %" Number,
            "Lowest performance while somebody asks for low latency.";
        "procfreqmax" "75b0ae3f-bce0-45a7-8c89-c9611c25e100" "Highest frequency MHz" Number,
            "Upper limit of the frequency; 0: none.";
        "procfreqmax1" "75b0ae3f-bce0-45a7-8c89-c9611c25e101" "Highest frequency MHz class 1" Number,
            "As `procfreqmax`, for cores of class 1.";
        "procthrottlemax" "bc5038f7-23e0-4960-96da-33abaf5935ec" "Highest state %" Number,
            "Upper limit of the performance.";
        "procthrottlemax1" "bc5038f7-23e0-4960-96da-33abaf5935ed" "Highest state % class 1" Number,
            "As `procthrottlemax`, for cores of class 1.";
        "procthrottlemin" "893dee8e-2bef-41e0-89c6-b55d0929964c" "Lowest state %" Number,
            "Lower limit of the performance.";
        "procthrottlemin1" "893dee8e-2bef-41e0-89c6-b55d0929964d" "Lowest state % class 1" Number,
            "As `procthrottlemin`, for cores of class 1.";
        "syscoolpol" "94d3a615-a899-4ac5-ae2b-e4d8f634367f" "Cooling policy" Words(&["passive", "active"]),
            "What comes first where it gets hot: passive lowers the frequency, active starts the fan.";
        "throttling" "3b04d4fd-1cc7-4f23-ab1c-d1337819c4bb" "Throttle states" Words(&["off", "on", "automatic"]),
            "Whether clock cycles may be left out below the lowest frequency.";
        "perfhistory" "7d24baa7-0b84-480f-840c-1b0743c00f5f" "History" Number,
            "Number of time checks whose load is averaged.";
    }
    /// Settings of idle states.
    IDLE {
        "idlestatemax" "9943e905-9a30-4ec1-9b99-44dd3b76f7a2" "Deepest idle state" Number,
            "The deepest idle state that is entered; 0: any.";
        "idledemote" "4b92d758-5a24-4851-a470-815d78aee119" "Idle demote threshold %" Number,
            "Busy share above which a shallower idle state is entered.";
        "idledisable" "5d76a2ca-e8c0-402f-a133-2158492d58ad" "Idle states"
            Words(&["used", "not used"]),
            "Whether processors enter idle states.";
        "idlecheck" "c4581c31-89ab-4597-8e2b-9c9cab440e6b" "Idle time check µs" Number,
            "Time between two looks at the busy share.";
        "idlepromote" "7b224883-b3cc-4d79-819f-8374152cbe7c" "Idle promote threshold %" Number,
            "Busy share below which a deeper idle state is entered.";
        "idlescaling" "6c2993b0-8f48-481f-bcc6-00dd2742aa06" "Idle scaling" OFF_ON,
            "Whether the thresholds for idle states follow the frequency.";
    }
    /// Settings of parked cores.
    PARKING {
        "cpheadroom" "f735a673-2066-4f80-a0c5-ddee0cf1bf5d" "Concurrency headroom %" Number,
            "One more core is unparked when all cores in use are busier than that.";
        "cpconcurrency" "2430ab6f-a520-44a2-9601-f7f23b5134b1" "Concurrency threshold %" Number,
            "Busy share by which the number of cores that work at the same time is computed.";
        "cpmaxcores" "ea062031-0e34-4ff1-9b6d-eb1059334028" "Most cores %" Number,
            "Share of the cores that can be unparked at most.";
        "cpmaxcores1" "ea062031-0e34-4ff1-9b6d-eb1059334029" "Most cores % class 1" Number,
            "As `cpmaxcores`, for cores of class 1.";
        "cpincreasetime" "2ddd5a84-5a71-437e-912a-db0b8c788732" "Unpark time" Number,
            "Number of time checks before more cores are unparked.";
        "cpdecreasetime" "dfd10d17-d5eb-45dd-877a-9a34ddd15c82" "Park time" Number,
            "Number of time checks before more cores are parked.";
        "cpmincores" "0cc5b647-c1df-4637-891a-dec35c318583" "Fewest cores %" Number,
            "Share of the cores that are always unparked.";
        "cpmincores1" "0cc5b647-c1df-4637-891a-dec35c318584" "Fewest cores % class 1" Number,
            "As `cpmincores`, for cores of class 1.";
        "cpoverutil" "943c8cb6-6f93-4227-ad87-e9a3feec08d1" "Over-utilisation threshold %" Number,
            "Load above which a parked core counts as over-utilised.";
        "cpperf" "447235c7-6a8d-4cc0-8e24-9eaf70b96e2b" "Performance when parked"
            Words(&["no preference", "deepest state", "lightest state"]),
            "The performance state that a parked core enters.";
        "heteroclass1initialperf" "1facfc65-a930-4bc5-9f38-504ec097bbc0" "Initial performance % class 1" Number,
            "Performance of a core of class 1 when it is unparked.";
        "softparklatency" "97cfac41-2217-47eb-992d-618b1977c907" "Soft park latency µs" Number,
            "Latency that is accepted before work goes to a soft parked core.";
        "cpdecreasepol" "71021b41-c749-4d21-be74-a00f335d582b" "Park policy" PARKING_POLICIES,
            "How many cores are parked at once.";
        "cpincreasepol" "c7be0679-2817-4d69-9d02-519a537ed0c6" "Unpark policy" PARKING_POLICIES,
            "How many cores are unparked at once.";
        "distributeutil" "e0007330-f589-42ed-a401-5ddb10e785d3" "Distribute load" OFF_ON,
            "Whether load is distributed over the unparked cores.";
        "cpdistribution" "4bdaf4e9-d103-46d7-a5f0-6280121616ef" "Distribution threshold %" Number,
            "Busy share by which the number of cores for distributed load is computed.";
    }
    /// Facts that `tracesift record` notes beside a recording of Linux.
    LINUX {
        "driver" "power.driver" "Driver" Guid, "The driver that sets frequencies.";
        "governors" "power.governors" "Governors" Guid, "The governors that choose frequencies, each once.";
        "energy_preferences" "power.energy_preferences" "Energy preference" Guid,
            "What processors are told to prefer, each once.";
        "boost" "power.boost" "Boost" OFF_ON, "Whether processors may exceed their nominal frequency.";
        "scheme" "power.scheme" "Platform profile" Guid, "The profile of the firmware.";
        "on_battery" "power.on_battery" "Battery" Words(&["no", "yes"]), "Whether the machine ran on its battery.";
        "min_mhz" "cpu.min_mhz" "Lowest MHz" Number, "Lowest frequency.";
        "max_mhz" "cpu.max_mhz" "Highest MHz" Number, "Highest frequency.";
    }
}

/// All settings that have a column, in the order of the columns.
const GROUPS: [&[Setting]; 5] = [SCHEMES, PROCESSOR, IDLE, PARKING, LINUX];

/// The headings in a table, with the keys of the columns below them.
pub(super) const HEADINGS: &[(&str, &[&str])] = &[
    ("scheme", &keys::<{ SCHEMES.len() }>(SCHEMES)),
    ("processor", &keys::<{ PROCESSOR.len() }>(PROCESSOR)),
    ("idle", &keys::<{ IDLE.len() }>(IDLE)),
    ("parking", &keys::<{ PARKING.len() }>(PARKING)),
    ("Linux", &keys::<{ LINUX.len() }>(LINUX)),
    ("others", &[OTHERS.key]),
];

const fn keys<const N: usize>(settings: &[Setting]) -> [&'static str; N] {
    let mut keys = [""; N];
    let mut at = 0;
    // A loop in place of an iterator: this runs in the compiler.
    while at < N {
        keys[at] = settings[at].column.key;
        at += 1;
    }
    keys
}

/// Settings of Windows beyond schemes: those of which an answer says how many differ.
pub(super) fn is_counted(key: &str) -> bool {
    !SCHEMES.iter().any(|setting| setting.column.key == key)
}

/// All settings that have a column.
pub(super) fn all() -> impl Iterator<Item = &'static Setting> {
    GROUPS.into_iter().flatten()
}

/// Aliases of settings without a column.
const ALIASES: &[(&str, &str)] = &[
    ("40fbefc7-2e9d-4d25-a185-0cfd8574bac7", "perfdecpol1"),
    ("12a0ab44-fe28-4fa9-b3bd-4b64f44960a7", "perfdecthreshold1"),
    ("d8edeb9b-95cf-4f95-a73c-b061973693c9", "perfdectime1"),
    ("06cadf0e-64ed-448a-8927-ce7bf90eb35e", "perfincthreshold1"),
    ("7d24baa7-0b84-480f-840c-1b0743c00f60", "perfhistory1"),
    ("447235c7-6a8d-4cc0-8e24-9eaf70b96e2c", "cpperf1"),
    ("fddc842b-8364-4edc-94cf-c17f60de1c80", "heteroclass0floorperf"),
    ("7f2492b6-60b1-45e5-ae55-773f8cd5caec", "heterodecreasetime"),
    ("4009efa7-e72d-4cba-9edf-91084ea8cbc3", "heteroincreasetime"),
    ("4b70f900-cdd9-4e66-aa26-ae8417f98173", "latencyhintepp"),
    ("4b70f900-cdd9-4e66-aa26-ae8417f98174", "latencyhintepp1"),
    ("619b7505-003b-4e82-b7a6-4dd29c300972", "latencyhintperf1"),
    ("616cdaa5-695e-4545-97ad-97dc2d1bdd88", "latencyhintunpark"),
    ("616cdaa5-695e-4545-97ad-97dc2d1bdd89", "latencyhintunpark1"),
    ("bf903d33-9d24-49d3-a468-e65e0325046a", "longthreadarchclassupperthreshold"),
    ("53824d46-87bd-4739-aa1b-aa793fac36d6", "shortthreadarchclasslowerthreshold"),
    ("828423eb-8662-4344-90f7-52bf15870f5a", "shortthreadarchclassupperthreshold"),
    ("b0deaf6b-59c0-4523-8a45-ca7f40244114", "moduleunparkpolicy"),
    ("b28a6829-c5f7-444e-8f61-10e24e85c532", "smtunparkpolicy"),
    ("b669a5e9-7b1d-4132-baaa-49190abcfeb6", "complexunparkpolicy"),
    ("cfeda3d0-7697-4566-a922-a9086cd49dfa", "perfautonomouswindow"),
    ("4e4450b3-6179-4e91-b8f1-5bb9938f81a1", "perfdutycycling"),
];

/// The name of a setting without a column: its alias where it is known, else its GUID.
pub(super) fn name_of_other(guid: &str) -> &str {
    ALIASES.iter().find(|(known, _)| *known == guid).map_or(guid, |(_, alias)| alias)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_stand_once() {
        let guids: Vec<&str> = all().map(|setting| setting.guid).chain(ALIASES.iter().map(|(guid, _)| *guid)).collect();
        let keys: Vec<&str> =
            all().map(|setting| setting.column.key).chain(ALIASES.iter().map(|(_, alias)| *alias)).collect();
        for list in [guids, keys] {
            let mut sorted = list.clone();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), list.len());
            assert!(list.iter().all(|name| *name == name.to_lowercase()));
        }
        let windows = [SCHEMES, PROCESSOR, IDLE, PARKING].map(<[Setting]>::len);
        assert_eq!(windows, [2, 33, 6, 16], "55 beside the two of schemes");
    }
}
