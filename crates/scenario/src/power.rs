//! Power settings, as Windows logs them. No recording with such events is public, so the events are made from their layouts.

use tracesift_etl::Guid;
use tracesift_etl::class::KERNEL_POWER;
use tracesift_etl::write::PointerSize;
use tracesift_etl::write::payload::Bytes;

use crate::providers::Logged;

/// Event id of the settings that are told when the provider's state is captured.
pub const RUNDOWN: u16 = 111;
/// Event id of a setting that changes.
pub const CHANGE: u16 = 112;

/// The setting of the scheme in force.
pub const ACTIVE_SCHEME: Guid = Guid::from_u128(0x31f9f286_5084_42fe_b720_2b0264993763);
/// The scheme `balanced`.
pub const BALANCED: Guid = Guid::from_u128(0x381b4222_f694_41f0_9685_ff5bb260df2e);
/// The setting HETEROPOLICY.
pub const HETERO_POLICY: Guid = Guid::from_u128(0x7f2f5cfa_f10c_4823_b5e1_e93ae85f46b5);
/// The setting SCHEDPOLICY.
pub const SCHEDULING: Guid = Guid::from_u128(0x93b8b6dc_0698_4d1c_9ee4_0644e900c85d);
/// The setting SHORTSCHEDPOLICY.
pub const SHORT_SCHEDULING: Guid = Guid::from_u128(0xbae08b81_2d5e_4688_ad6a_13243356654b);

/// The value of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// One byte.
    U8(u8),
    /// Four bytes.
    U32(u32),
    /// Eight bytes.
    U64(u64),
    /// A GUID.
    Guid(Guid),
}

/// The field Override of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Override {
    /// The event lacks it, as older ones do.
    Absent,
    /// One byte.
    Byte(bool),
    /// Four bytes.
    Whole(bool),
}

/// An event that tells a setting.
#[must_use]
pub fn event(time: i64, id: u16, setting: Guid, data: Data, overrides: Override, pointer_size: PointerSize) -> Logged {
    let mut payload = Bytes::new(pointer_size);
    payload.guid(setting);
    match data {
        Data::U8(value) => {
            payload.u32(1);
            payload.u8(value);
        }
        Data::U32(value) => {
            payload.u32(4);
            payload.u32(value);
        }
        Data::U64(value) => {
            payload.u32(8);
            payload.u64(value);
        }
        Data::Guid(value) => {
            payload.u32(16);
            payload.guid(value);
        }
    }
    match overrides {
        Override::Absent => {}
        Override::Byte(value) => payload.u8(value.into()),
        Override::Whole(value) => payload.u32(value.into()),
    }
    Logged { time, cpu: 0, provider: KERNEL_POWER, id, version: 0, pid: 4, tid: 8, payload: payload.into_vec() }
}

/// The 55 settings of processors that the scheme `balanced` of Windows 10 has on a machine with two kinds of cores.
pub const WINDOWS_10: [(Guid, u32); 55] = [
    // Idle states.
    (Guid::from_u128(0x9943e905_9a30_4ec1_9b99_44dd3b76f7a2), 0),
    (Guid::from_u128(0x4b92d758_5a24_4851_a470_815d78aee119), 40),
    (Guid::from_u128(0x5d76a2ca_e8c0_402f_a133_2158492d58ad), 0),
    (Guid::from_u128(0xc4581c31_89ab_4597_8e2b_9c9cab440e6b), 50_000),
    (Guid::from_u128(0x7b224883_b3cc_4d79_819f_8374152cbe7c), 60),
    (Guid::from_u128(0x6c2993b0_8f48_481f_bcc6_00dd2742aa06), 0),
    // Parking.
    (Guid::from_u128(0xf735a673_2066_4f80_a0c5_ddee0cf1bf5d), 50),
    (Guid::from_u128(0x2430ab6f_a520_44a2_9601_f7f23b5134b1), 95),
    (Guid::from_u128(0xea062031_0e34_4ff1_9b6d_eb1059334028), 100),
    (Guid::from_u128(0xea062031_0e34_4ff1_9b6d_eb1059334029), 100),
    (Guid::from_u128(0x2ddd5a84_5a71_437e_912a_db0b8c788732), 7),
    (Guid::from_u128(0xdfd10d17_d5eb_45dd_877a_9a34ddd15c82), 20),
    (Guid::from_u128(0x0cc5b647_c1df_4637_891a_dec35c318583), 50),
    (Guid::from_u128(0x0cc5b647_c1df_4637_891a_dec35c318584), 50),
    (Guid::from_u128(0x943c8cb6_6f93_4227_ad87_e9a3feec08d1), 60),
    (Guid::from_u128(0x447235c7_6a8d_4cc0_8e24_9eaf70b96e2b), 0),
    (Guid::from_u128(0x1facfc65_a930_4bc5_9f38_504ec097bbc0), 50),
    (Guid::from_u128(0x97cfac41_2217_47eb_992d_618b1977c907), 1_000),
    (Guid::from_u128(0x71021b41_c749_4d21_be74_a00f335d582b), 0),
    (Guid::from_u128(0xc7be0679_2817_4d69_9d02_519a537ed0c6), 0),
    (Guid::from_u128(0xe0007330_f589_42ed_a401_5ddb10e785d3), 1),
    (Guid::from_u128(0x4bdaf4e9_d103_46d7_a5f0_6280121616ef), 90),
    // Frequencies, and the choice of cores.
    (Guid::from_u128(0x8baa4a8a_14c6_4451_8e8b_14bdbd197537), 1),
    (HETERO_POLICY, 4),
    (SCHEDULING, 5),
    (SHORT_SCHEDULING, 5),
    (Guid::from_u128(0xf8861c27_95e7_475c_865b_13c0cb3f9d6b), 0x1e1e_1e1e),
    (Guid::from_u128(0xf8861c27_95e7_475c_865b_13c0cb3f9d6c), 0x1e1e_1e1e),
    (Guid::from_u128(0xb000397d_9b0b_483d_98c9_692a6060cfbf), 0x3c3c_3c3c),
    (Guid::from_u128(0xb000397d_9b0b_483d_98c9_692a6060cfc0), 0x3c3c_3c3c),
    (Guid::from_u128(0xd92998c2_6a48_49ca_85d4_8cceec294570), 4_000),
    (Guid::from_u128(0x43f278bc_0f8a_46d0_8b31_9a23e615d713), 0),
    (Guid::from_u128(0x36687f9e_e3a5_4dbf_b1dc_15eb381c6863), 33),
    (Guid::from_u128(0x36687f9e_e3a5_4dbf_b1dc_15eb381c6864), 33),
    (Guid::from_u128(0xbe337238_0d82_4146_a960_4f3749d470c7), 2),
    (Guid::from_u128(0x45bcc044_d885_43e2_8605_ee0ec6e96b59), 60),
    (Guid::from_u128(0x40fbefc7_2e9d_4d25_a185_0cfd8574bac6), 1),
    (Guid::from_u128(0xd8edeb9b_95cf_4f95_a73c_b061973693c8), 1),
    (Guid::from_u128(0x12a0ab44_fe28_4fa9_b3bd_4b64f44960a6), 20),
    (Guid::from_u128(0x465e1f50_b610_473a_ab58_00d1077dc418), 2),
    (Guid::from_u128(0x465e1f50_b610_473a_ab58_00d1077dc419), 2),
    (Guid::from_u128(0x984cf492_3bed_4488_a8f9_4286c97bf5aa), 1),
    (Guid::from_u128(0x984cf492_3bed_4488_a8f9_4286c97bf5ab), 1),
    (Guid::from_u128(0x06cadf0e_64ed_448a_8927_ce7bf90eb35d), 60),
    (Guid::from_u128(0x4d2b0152_7d5c_498b_88e2_34345392a2c5), 15),
    (Guid::from_u128(0x619b7505_003b_4e82_b7a6_4dd29c300971), 99),
    (Guid::from_u128(0x75b0ae3f_bce0_45a7_8c89_c9611c25e100), 0),
    (Guid::from_u128(0x75b0ae3f_bce0_45a7_8c89_c9611c25e101), 0),
    (Guid::from_u128(0xbc5038f7_23e0_4960_96da_33abaf5935ec), 100),
    (Guid::from_u128(0xbc5038f7_23e0_4960_96da_33abaf5935ed), 100),
    (Guid::from_u128(0x893dee8e_2bef_41e0_89c6_b55d0929964c), 5),
    (Guid::from_u128(0x893dee8e_2bef_41e0_89c6_b55d0929964d), 5),
    (Guid::from_u128(0x94d3a615_a899_4ac5_ae2b_e4d8f634367f), 1),
    (Guid::from_u128(0x3b04d4fd_1cc7_4f23_ab1c_d1337819c4bb), 0),
    (Guid::from_u128(0x7d24baa7_0b84_480f_840c_1b0743c00f5f), 1),
];

/// What `powercfg /setacvalueindex` changes in a published experiment, so that work runs on the fast cores first.
pub const FAST_CORES_FIRST: [(Guid, u32); 3] = [(HETERO_POLICY, 3), (SCHEDULING, 0), (SHORT_SCHEDULING, 0)];

/// The events at the end of a recording that tell the settings of Windows 10, some of them changed, and its scheme.
#[must_use]
pub fn windows_10(time: i64, changed: &[(Guid, u32)], pointer_size: PointerSize) -> Vec<Logged> {
    let event = |setting, data| event(time, RUNDOWN, setting, data, Override::Whole(false), pointer_size);
    let value = |setting: Guid, usual: u32| {
        changed.iter().find(|(changed, _)| *changed == setting).map_or(usual, |(_, value)| *value)
    };
    let settings = WINDOWS_10.iter().map(|(setting, usual)| event(*setting, Data::U32(value(*setting, *usual))));
    settings.chain([event(ACTIVE_SCHEME, Data::Guid(BALANCED))]).collect()
}
