//! Call chains that the processor recorded (`--call-graph lbr`), in recordings made byte by byte.

use crate::extracted::Extracted;

/// `PERF_SAMPLE_BRANCH_USER`, `_ANY`, `_CALL_STACK`.
const USER: u64 = 1;
const ANY: u64 = 1 << 3;
const CALL_STACK: u64 = 1 << 11;
/// `PERF_CONTEXT_KERNEL`, `PERF_CONTEXT_USER`.
const IN_KERNEL: u64 = (-128_i64).cast_unsigned();
const IN_USER: u64 = (-512_i64).cast_unsigned();

/// `PERF_RECORD_SAMPLE`, and its mode bits.
const SAMPLE: u32 = 9;
const KERNEL: u16 = 1;
const USER_MODE: u16 = 2;

fn words(values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// A sample of a call chain and of branches, each from and to.
fn sample(mode: u16, ip: u64, time: u64, chain: &[u64], branches: &[(u64, u64)]) -> Vec<u8> {
    let mut body = words(&[ip, 7 << 32 | 7, time, 1000, chain.len() as u64]);
    body.extend(words(chain));
    body.extend(words(&[branches.len() as u64]));
    branches.iter().for_each(|(from, to)| body.extend(words(&[*from, *to, 0])));
    let size = u16::try_from(body.len() + 8).unwrap();
    [&SAMPLE.to_le_bytes()[..], &mode.to_le_bytes(), &size.to_le_bytes(), &body].concat()
}

/// The frames of each sample of a recording with these kinds of branches.
fn frames(branch_format: u64, samples: &[Vec<u8>]) -> Vec<Vec<u64>> {
    const HEADER: u64 = 104;
    const ATTR: u64 = 136;
    let data = samples.concat();
    let mut file = b"PERFILE2".to_vec();
    // Sizes of header and attribute, then place and length of attributes, data and event types, and no features.
    file.extend(words(&[
        HEADER,
        ATTR + 16,
        HEADER,
        ATTR + 16,
        HEADER + ATTR + 16,
        data.len() as u64,
        0,
        0,
        0,
        0,
        0,
        0,
    ]));
    // `cpu-clock`; ip, tid, time, period, call chain, branches.
    let sample_type: u64 = 1 | 1 << 1 | 1 << 2 | 1 << 8 | 1 << 5 | 1 << 11;
    file.extend(1_u32.to_le_bytes());
    file.extend(u32::try_from(ATTR).unwrap().to_le_bytes());
    file.extend(words(&[0, 1000, sample_type, 0, 0, 0, 0, 0, branch_format]));
    file.resize(usize::try_from(HEADER + ATTR + 16).unwrap(), 0);
    file.extend(data);
    let directory = tempfile::TempDir::new().unwrap();
    let path = directory.path().join("perf.data");
    std::fs::write(&path, file).unwrap();
    let extracted = Extracted::of(&path);
    extracted.samples.iter().map(|sample| sample.frames.iter().map(|frame| frame.0).collect()).collect()
}

#[test]
fn calls_that_have_not_returned_are_the_chain() {
    let kernel = 0xffff_ffff_8000_0000;
    let calls = [(0x1100, 0x1000), (0x2100, 0x1080), (0x3100, 0x2000)];
    let samples = [
        sample(USER_MODE, 0x1010, 1, &[IN_USER, 0x1010], &calls),
        sample(KERNEL, kernel, 2, &[IN_KERNEL, kernel, kernel + 8, IN_USER, 0x1010], &calls),
        // A thread of the kernel: the branches are those of who ran before.
        sample(KERNEL, kernel, 3, &[IN_KERNEL, kernel], &calls),
        // Nothing was called since the branches were cleared.
        sample(USER_MODE, 0x1010, 4, &[IN_USER, 0x1010], &[]),
    ];
    let user = [0x1000, 0x1100, 0x2100, 0x3100];
    let expected = [&user[..], &[&[kernel, kernel + 8][..], &user].concat(), &[kernel], &[0x1010]];
    assert_eq!(frames(USER | CALL_STACK, &samples), expected);
}

/// Of `-b`: the last jumps, which lead everywhere.
#[test]
fn other_branches_are_no_chain() {
    let samples = [sample(USER_MODE, 0x1010, 1, &[IN_USER, 0x1010, 0x1020], &[(0x1100, 0x1000), (0x2100, 0x1080)])];
    assert_eq!(frames(USER | ANY, &samples), [[0x1010, 0x1020]]);
}
