//! The whole answer: shares that add up, rows with chains, the order of findings, and recordings without an account.

use super::story::{
    ANTIVIRUS, CHECKPOINT, LENGTH, LOCK, MS, OTHER, Piece, REST, SCANNER, SYSTEM, Story, TIMER, WORK, finding,
};

fn story() -> Story {
    Story::of(&[
        Piece::Run(50 * MS, REST),
        Piece::WaitFor(300 * MS, LOCK, SYSTEM, CHECKPOINT),
        Piece::Ready(60 * MS, OTHER),
        Piece::WaitFor(100 * MS, WORK, ANTIVIRUS, WORK),
        Piece::Wait(40 * MS, REST, TIMER),
    ])
}

#[test]
fn shares_add_up_and_rows_have_chains() {
    let explanation = story().described(|info| info.events_lost = 7).explained();
    let account = explanation.account.as_ref().expect("an account");
    assert_eq!((account.from, account.length, account.undisturbed), (0, LENGTH, LENGTH - 460 * MS));
    assert_eq!(account.shares.iter().map(|share| share.time).sum::<i64>(), LENGTH);
    let shares: Vec<_> =
        account.shares.iter().map(|share| (share.disturbance.or(share.state).unwrap_or(""), share.time / MS)).collect();
    assert_eq!(shares, [("run", 500), ("wait", 40), ("checkpoint", 300), ("antivirus", 100), ("cpu-taken", 60)]);
    let rows: Vec<_> = account.largest.iter().map(|row| (row.text.as_str(), row.time() / MS)).collect();
    assert_eq!(rows[0], ("app main runs app.exe!work", 450));
    let chain = "main waits in ntdll.dll!RtlEnterCriticalSection for: disturbed: checkpoint: System main runs";
    assert!(rows[1].0.starts_with(chain) && rows[1].1 == 300, "{rows:?}");
    assert_eq!(rows.len(), 5);
    assert!(rows.is_sorted_by_key(|(_, time)| std::cmp::Reverse(*time)));
    // The path first, the largest first; what has no time stands last.
    let findings: Vec<_> = explanation.findings.iter().map(|finding| finding.rule.as_str()).collect();
    assert_eq!(findings, ["checkpoint", "antivirus", "cpu-taken", "lost-events"]);
    assert!(
        explanation
            .sentence
            .starts_with("app took 1,000.0 ms, of which 46.0 % was not its own: most for checkpoint, 300.0 ms"),
        "{}",
        explanation.sentence
    );
    let command = &finding(&explanation, "antivirus").expect("found").command;
    assert!(command.starts_with("tracesift dump path ") && command.contains(" -p app"), "{command}");
}

#[test]
fn what_was_not_recorded_is_named_and_is_not_zero() {
    let explanation = story().explained();
    let why = |rule: &str| {
        let unlooked = explanation.unlooked.iter().find(|unlooked| unlooked.rule == rule);
        unlooked.unwrap_or_else(|| panic!("{rule}: {:?}", explanation.unlooked)).why.clone()
    };
    for rule in
        ["gc-pauses", "gc-suspension", "jit", "exceptions", "thread-pool", "dns-time-outs", "lock-convoy", "cold-files"]
    {
        assert!(why(rule).contains("not recorded"), "{rule}: {}", why(rule));
    }
    // Nothing happened: that is known.
    let tables = ["exceptions", "dns_queries"].map(str::to_owned);
    let enabled = story().described(move |info| info.enabled = tables.to_vec()).explained();
    assert!(enabled.unlooked.iter().all(|unlooked| !["exceptions", "dns-time-outs"].contains(&unlooked.rule.as_str())));
}

#[test]
fn without_a_window_rules_about_the_machine_are_left() {
    let explanation = story().described(|info| info.events_lost = 7).explained_as("");
    let why = explanation.account.as_ref().expect_err("no account");
    assert!(why.contains("name it with -p, or give --window"), "{why}");
    let findings: Vec<_> = explanation.findings.iter().map(|finding| finding.rule.as_str()).collect();
    assert_eq!(findings, ["lost-events"]);
    assert_eq!(explanation.sentence, "The recorder lost 7 events and buffers: figures may be too small.");
    let why = explanation.unlooked.iter().find(|unlooked| unlooked.rule == "antivirus").map(|unlooked| &unlooked.why);
    assert!(why.is_some_and(|why| why.contains("name it with -p")), "{why:?}");
}

#[test]
fn without_ready_events_what_is_known_can_be_enough() {
    let explained = |wait: i64| {
        let pieces = [Piece::Run(MS, REST), Piece::Wait(wait, SCANNER, TIMER)];
        Story::of(&pieces).described(|info| info.has_ready = false).explained()
    };
    let why = |rule: &str| {
        let unlooked = explained(19 * MS).unlooked.into_iter().find(|unlooked| unlooked.rule == rule);
        unlooked.map(|unlooked| unlooked.why)
    };
    assert!(finding(&explained(20 * MS), "antivirus").is_some());
    assert_eq!(
        why("antivirus").as_deref(),
        Some("ready events: not recorded; record with: tracesift record --profile CSwitch")
    );
    assert_eq!(why("unknown-time"), None);
}

#[test]
fn without_switches_the_account_says_so() {
    let explanation = story().described(|info| (info.has_switches, info.has_ready) = (false, false)).explained();
    let account = explanation.account.as_ref().expect("an account of samples");
    assert_eq!(account.level, "samples");
    let why = |rule: &str| explanation.unlooked.iter().find(|unlooked| unlooked.rule == rule).map(|of| of.why.as_str());
    assert_eq!(
        why("antivirus"),
        Some("context switches: not recorded; record with: tracesift record --profile CSwitch")
    );
    assert_eq!(why("spin"), None, "samples tell it");
    assert_eq!(account.shares.iter().map(|share| share.time).sum::<i64>(), LENGTH);
}
