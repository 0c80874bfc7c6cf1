//! Explanations as what a report is made of.

use tracesift_ask::explain::account::Share;
use tracesift_ask::explain::findings::FoundFigure;
use tracesift_ask::explain::{ExplainedAccount, Explanation, Finding, Place};
use tracesift_report::model::comparison::Kind;
use tracesift_report::model::explanation as model;

use super::explanation::{by_reason, share_name};

/// The page.
pub(crate) fn text(explanations: &[Explanation]) -> String {
    tracesift_report::explanation_page(&model::Report {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        explanations: explanations.iter().map(of_one).collect(),
    })
}

fn of_one(explanation: &Explanation) -> model::Explanation {
    let unlooked = |(why, rules): (&str, Vec<&str>)| model::Unlooked {
        why: why.to_owned(),
        rules: rules.into_iter().map(str::to_owned).collect(),
    };
    model::Explanation {
        name: explanation.name.clone(),
        sentence: explanation.sentence.clone(),
        account: explanation.account.as_ref().map(of_account).map_err(Clone::clone),
        findings: explanation.findings.iter().map(of_finding).collect(),
        unlooked: by_reason(&explanation.unlooked).into_iter().map(unlooked).collect(),
        warnings: explanation.warnings.clone(),
    }
}

fn of_account(account: &ExplainedAccount) -> model::Account {
    model::Account {
        level: account.level,
        process: account.process.clone(),
        thread: account.thread.clone(),
        from: account.from,
        length: account.length,
        undisturbed: account.undisturbed,
        shares: account.shares.iter().map(of_share).collect(),
        largest: account.largest.iter().map(|row| model::Row { text: row.text.clone(), time: row.time() }).collect(),
        rows: account.rows,
    }
}

fn of_share(share: &Share) -> model::Share {
    let kind = Kind {
        word: share.disturbance.or(share.state).unwrap_or_default().to_owned(),
        label: share_name(share),
        is_disturbance: share.disturbance.is_some(),
    };
    model::Share { kind, time: share.time }
}

fn of_finding(finding: &Finding) -> model::Finding {
    model::Finding {
        rule: finding.rule.clone(),
        sentence: finding.sentence.clone(),
        figures: finding.figures.iter().map(of_figure).collect(),
        time: finding.time,
        is_on_path: finding.is_on_path,
        place: finding.place.as_ref().map(of_place),
        command: finding.command.clone(),
    }
}

fn of_figure(figure: &FoundFigure) -> model::Figure {
    model::Figure {
        text: figure.amount.to_string(),
        number: figure.amount.number(),
        unit: figure.amount.unit(),
        share: figure.share.map(|percent| percent / 100.0),
        threshold: figure.threshold.clone(),
    }
}

fn of_place(place: &Place) -> model::Place {
    model::Place {
        span: [place.span.start, place.span.end],
        longest: place.longest.iter().map(|span| [span.start, span.end]).collect(),
    }
}
