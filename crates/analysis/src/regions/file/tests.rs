use super::super::definition::{Definitions, EventSelector, Keys, Parent, ProviderSelector};
use super::{MAX_DEFINITIONS, MAX_DEPTH};

/// A file with this inside of its root.
fn file(inside: &str) -> String {
    format!(
        "<InstrumentationManifest><Instrumentation><Regions><RegionRoot Name=\"R\">{inside}</RegionRoot></Regions></Instrumentation></InstrumentationManifest>"
    )
}

const EVENTS: &str = "<Start><Event Provider=\"P\" Id=\"1\"/></Start><Stop><Event Provider=\"P\" Id=\"2\"/></Stop>";

fn error(xml: &str) -> String {
    Definitions::read("my.xml", xml.as_bytes()).expect_err("an error").to_string()
}

#[test]
fn every_element_is_read() {
    let xml = r#"<?xml version='1.0' encoding='utf-8' standalone='yes'?>
<InstrumentationManifest xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="r.xsd">
 <Instrumentation><Regions>
  <RegionRoot Guid="{d8d639a0-cf4c-45fb-976a-0000DEADBEEF}" Name="Shop" FriendlyName="The shop">
   <Region Name="Order">
    <Start>
     <Event Provider="{E13C0D23-CCBC-4E12-931B-D9CC2EEE27E4}" Id="1" Version="2"/>
     <PayloadIdentifier FieldName="Depth" FieldValue="0"/>
    </Start>
    <Start><Event Provider="Shop" Id="Order/Begin"/></Start>
    <Stop><Event Provider="Shop" Id="7"/></Stop>
    <Match>
     <Event PID="true" TID="False" Activity="1"><Payload FieldName="Id" TargetFieldName="OrderId"/><Payload FieldName="Shop"/></Event>
     <SelfNest TID="true"/>
    </Match>
    <Naming><PayloadBased NameField="Customer"/></Naming>
    <Region Name="Item">
     <Duration Provider="Shop" Id="9" Duration="ElapsedMs" Multiplier="1000000"/>
     <Match><Parent PID="true"/></Match>
    </Region>
   </Region>
  </RegionRoot>
 </Regions></Instrumentation></InstrumentationManifest>"#;
    let all = Definitions::read("my.xml", xml.as_bytes()).expect("regions").all;
    let [order, item] = &all[..] else { panic!("{all:?}") };
    assert_eq!((order.name.as_str(), order.path.as_str()), ("Order", "The shop/Order"));
    let [runtime, begin] = &order.starts[..] else { panic!("{order:?}") };
    assert_eq!(runtime.provider, ProviderSelector::Guid("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4".to_owned()));
    assert_eq!((&runtime.event, runtime.version), (&EventSelector::Id(1), Some(2)));
    assert_eq!(runtime.fields, [("Depth".to_owned(), "0".to_owned())]);
    assert_eq!(begin.provider, ProviderSelector::Named("Shop".into()));
    assert_eq!((&begin.event, begin.version), (&EventSelector::Named("Order/Begin".into()), None));
    let fields = [("Id", "OrderId"), ("Shop", "Shop")].map(|(a, b)| (a.to_owned(), b.to_owned())).to_vec();
    assert_eq!(order.keys, Keys { process: true, thread: false, activity: true, fields });
    assert!(order.self_nest && order.name_field.as_deref() == Some("Customer") && order.stops.len() == 1);
    assert_eq!((item.path.as_str(), item.self_nest), ("The shop/Order/Item", false));
    let [duration] = &item.durations[..] else { panic!("{item:?}") };
    assert_eq!((duration.field.as_str(), duration.multiplier), ("ElapsedMs", 1_000_000));
    assert_eq!(item.parent, Some(Parent { definition: 0, process: true, thread: false }));
}

#[test]
fn our_own_definitions_are_read() {
    let all = Definitions::built_in().expect("regions").all;
    let paths: Vec<&str> = all.iter().map(|definition| definition.path.as_str()).collect();
    for path in
        ["GC/Collection", "JIT/Method", "Exceptions/Catch", "HTTP/Request", "DNS/Query", "Tasks/Task", "Marks/Marked"]
    {
        assert!(paths.contains(&path), "{path}: {paths:?}");
    }
}

#[test]
fn what_is_not_understood_is_an_error_with_its_place() {
    let of = |inside: &str| error(&file(inside)).split_once(": ").expect("a place").1.to_owned();
    let start = "<Start><Event Provider=\"P\" Id=\"1\"/></Start>";
    for (inside, problem) in [
        ("<Colour/>", "<Colour> in <RegionRoot> is not known"),
        ("<Region Name=\"A\" Colour=\"red\"/>", "the attribute Colour of <Region> is not known"),
        ("<Region/>", "<Region> needs a Name"),
        ("<Region Name=\"A\"><Start><Event Id=\"1\"/></Start></Region>", "<Event> needs Provider"),
        ("<Region Name=\"A\"><Start/></Region>", "<Start> needs an <Event>"),
        (
            "<Region Name=\"A\"><Start><Event Provider=\"{1}\" Id=\"1\"/></Start></Region>",
            "Provider=\"{1}\" is no GUID",
        ),
        (
            "<Region Name=\"A\"><Start><Event Provider=\"P\" Id=\"1\" Version=\"x\"/></Start></Region>",
            "Version=\"x\" is no number",
        ),
        (&format!("<Region Name=\"A\">{start}</Region>"), "the region has a Start and no Stop"),
        (
            &format!("<Region Name=\"A\">{EVENTS}<Match><Parent/></Match></Region>"),
            "no region around this one has a Start and a Stop",
        ),
        (
            &format!("<Region Name=\"A\">{EVENTS}<Match><Event PID=\"maybe\"/></Match></Region>"),
            "PID=\"maybe\" is not true or false",
        ),
        (
            &format!("<Region Name=\"A\">{EVENTS}<Match><Event><Field/></Event></Match></Region>"),
            "<Field> in <Event> is not known",
        ),
        (&format!("<Region Name=\"A\">{EVENTS}<Naming><Fixed/></Naming></Region>"), "<Fixed> in <Naming> is not known"),
        (
            "<Region Name=\"A\"><Duration Provider=\"P\" Id=\"1\" Duration=\"D\" Multiplier=\"0\"/></Region>",
            "Multiplier=\"0\" is not above 0",
        ),
    ] {
        assert_eq!(of(inside), problem, "{inside}");
    }
    let xml =
        "<InstrumentationManifest>\n <Instrumentation>\n  <Events/>\n </Instrumentation>\n</InstrumentationManifest>";
    assert_eq!(error(xml), "my.xml:3:3: <Events> in <Instrumentation> is not known");
    assert_eq!(error("<Tag/>"), "my.xml:1:1: the outermost element is <Tag> and not <InstrumentationManifest>");
    assert!(error("").starts_with("my.xml:1:1: this is no well-formed XML: "));
    assert!(error("<InstrumentationManifest>\n <a>").starts_with("my.xml:2:5: this is no well-formed XML: "));
    assert!(error("<!DOCTYPE t [<!ENTITY a \"aaa\">]><t/>").contains("XML with DTD detected"));
}

#[test]
fn hostile_files_are_refused() {
    let deep = "<Region Name=\"a\">".repeat(MAX_DEPTH + 1) + &"</Region>".repeat(MAX_DEPTH + 1);
    assert!(error(&file(&deep)).contains("deep"));
    let many = format!("<Region Name=\"A\">{EVENTS}</Region>").repeat(MAX_DEFINITIONS + 1);
    assert!(error(&file(&many)).contains("more than 1000 regions"));
    let attributes: String = (0..1000).map(|number| format!(" a{number}=\"\"")).collect();
    assert!(error(&format!("<InstrumentationManifest{attributes}/>")).contains("attributes"));
    assert!(error(&file(&format!("<Region Name=\"{}\"/>", "a".repeat(3000)))).contains("1000 bytes"));
    assert!(error(&"<a>".repeat(2_000_000)).contains("more than 4 MiB"));
}
