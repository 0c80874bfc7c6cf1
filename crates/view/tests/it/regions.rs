//! Single regions of a lane, against the list of the command that the frame names.

use serde_json::{Value, json};

use crate::endpoints::{answer, ids, lanes, session};
use crate::support::{Frame, Running};

#[test]
fn regions_of_a_lane_are_those_of_the_list() {
    let server = Running::start();
    let (start, end) = session(&server);
    let below = lanes(&server, "&parent=regions");
    assert_eq!(ids(&below), ["region:Marks/Marked"]);
    for (from, to) in [(start, end + 1), ((start + end) / 2, (start + end) / 2 + 10)] {
        let body = json!({ "recording": "r0", "lane": "region:Marks/Marked", "from": from, "to": to });
        let frames = Frame::all(&server.post("/api/1/spans", &body).body);
        let words: Vec<String> = serde_json::from_value(frames[0].head["words"].clone()).unwrap();
        let list = answer(&server, &words);
        let times = |key: &str| list.iter().map(|row| row[key].as_f64().unwrap()).collect::<Vec<_>>();
        assert_eq!(frames[0].column("start"), times("start_ns"), "{words:?}");
        assert_eq!(frames[0].column("end"), times("end_ns"), "{words:?}");
        assert!(!list.is_empty() && frames[0].column("state").iter().all(|state| *state == 12.0));
        let name = frames[0].column("name")[0] as usize;
        assert_eq!(frames[0].head["names"][name], list[0]["name"]);
    }
    let at =
        server.post("/api/1/at", &json!({ "recording": "r0", "lane": "region:Marks/Marked", "ns": (start + end) / 2 }));
    let span: Value = at.json()["span"].clone();
    assert_eq!(span["state"], "region");
    assert!(
        span["start_ns"].as_i64().unwrap() < span["end_ns"].as_i64().unwrap() && span["name"].is_string(),
        "{span}"
    );
    let none =
        server.post("/api/1/spans", &json!({ "recording": "r0", "lane": "region:No/Such", "from": 0, "to": end }));
    assert_eq!(none.status, 404, "{none:?}");
}
