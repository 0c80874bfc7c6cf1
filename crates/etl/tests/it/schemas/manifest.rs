//! Manifests that EventSource providers write.

use crate::schemas::build::{event, manifest_events, wide};
use crate::schemas::shown;

pub(crate) const XML: &str = r#"<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events">
 <instrumentation><events>
  <provider name="Written" guid="{5a5a5a5a-5a5a-5a5a-5a5a-5a5a5a5a5a5a}">
   <tasks><task name="Work" value="3"/><task name="EventSourceMessage" value="65534"/></tasks>
   <opcodes><opcode name="Retry" value="11"/></opcodes>
   <keywords><keyword name="Slow" mask="0x10"/><keyword name="Fast" mask="0x1"/></keywords>
   <maps>
    <valueMap name="Color"><map value="0" message="$(string.map_Red)"/><map value="1" message="$(string.map_Blue)"/></valueMap>
    <bitMap name="Options"><map value="0x1" message="$(string.map_A)"/><map value="0x2" message="$(string.map_B)"/></bitMap>
   </maps>
   <events>
    <event value="1" version="0" level="win:Informational" symbol="WorkStart" task="Work" opcode="win:Start" keywords="Slow Fast" template="WorkArgs"/>
    <event value="2" version="0" symbol="WorkRetry" task="Work" opcode="Retry"/>
    <event value="3" version="0" symbol="Plain" task="Plain" template="PlainArgs"/>
    <event value="4" version="0" task="Odd" template="OddArgs"/>
   </events>
   <templates>
    <template tid="WorkArgs">
     <data name="name" inType="win:UnicodeString"/>
     <data name="color" inType="win:UInt32" map="Color"/>
     <data name="options" inType="win:UInt32" map="Options"/>
     <data name="ok" inType="win:Boolean"/>
     <data name="argsSize" inType="win:UInt32"/>
     <data name="args" inType="win:Binary" length="argsSize"/>
     <data name="id" inType="win:GUID"/>
    </template>
    <template tid="PlainArgs">
     <data name="count" inType="win:UInt16"/>
     <struct name="items" count="count"><data name="x" inType="win:Int32"/><data name="y" inType="win:HexInt32"/></struct>
    </template>
    <template tid="OddArgs"><data name="x" inType="win:Unknown"/></template>
   </templates>
  </provider>
 </events></instrumentation>
 <localization><resources culture="en-US"><stringTable>
  <string id="map_Red" value="Red"/><string id="map_Blue" value="Blue"/><string id="map_A" value="A"/><string id="map_B" value="B"/>
 </stringTable></resources></localization>
</instrumentationManifest>"#;

pub(crate) fn work_payload() -> Vec<u8> {
    let mut payload = wide("job");
    payload.extend([1, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0xca, 0xfe]);
    payload.extend([0x22; 16]);
    payload
}

const WORK: &str = "Written/Work/Start name=job color=Blue options=A|B ok=true argsSize=2 args=cafe \
                    id=22222222-2222-2222-2222-222222222222";

#[test]
fn a_manifest_describes_the_events_of_its_provider() {
    let after = |id, payload: &[u8]| {
        let mut records = manifest_events(XML, 1);
        records.push(event(id, 0, &[], payload));
        shown(&records)
    };
    assert_eq!(after(1, &work_payload()), WORK);
    assert_eq!(after(2, &[]), "Written/Work/Retry");
    assert_eq!(
        after(3, &[2, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 4, 0, 0, 0]),
        "Written/Plain count=2 items=[{x=1, y=0x2}, {x=-1, y=0x4}]"
    );
    assert_eq!(after(4, &[1]), "raw");
}

#[test]
fn parts_are_put_together_and_repeats_start_anew() {
    let work = event(1, 0, &[], &work_payload());
    let parts = manifest_events(XML, 5);
    assert_eq!(shown(&[parts.clone(), vec![work.clone()]].concat()), WORK);
    // The last part of an earlier attempt is missing.
    assert_eq!(shown(&[parts[..3].to_vec(), parts.clone(), vec![work.clone()]].concat()), WORK);
    assert_eq!(shown(&[parts[1..].to_vec(), vec![work.clone()]].concat()), "raw");
    assert_eq!(shown(&[parts[..4].to_vec(), vec![work]].concat()), "raw");
}

#[test]
fn keywords_are_read() {
    let manifests = tracesift_etl::schema::manifest::parse(XML).expect("a manifest");
    assert_eq!(manifests[0].keywords, [(0x10, "Slow".into()), (1, "Fast".into())]);
    assert_eq!(manifests[0].events[0].keyword_names, ["Slow".into(), "Fast".into()]);
}
