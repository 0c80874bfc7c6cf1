//! scratch
use tracesift_etl::*;
use tracesift_etl::payload::*;
use std::collections::*;
fn main() {
    for a in std::env::args().skip(1) {
        let sel = tracesift_extract::input::select(&[a.clone()], &Default::default());
        for t in sel.targets { if let tracesift_extract::input::Target::Recording(r) = t {
            let o = tracesift_extract::input::open(&r, &Default::default(), &mut |_| std::ops::ControlFlow::Continue(())).unwrap();
            let files: Vec<EtlFile> = o.members.into_iter().map(|m| EtlFile::open(Box::new(m)).unwrap()).collect();
            let mut m = Merge::new(&files, MergeOptions::default());
            let mut k: HashMap<u32, Vec<(i64,u32)>> = HashMap::new();
            let mut users: HashSet<(i64,u32)> = HashSet::new();
            let mut events: HashMap<i64,Vec<String>> = HashMap::new();
            let mut recs = vec![];
            while let Some(r) = m.next() {
                if !r.is_stack_walk() { events.entry(r.time()).or_default().push(format!("{:?}", r.class())); continue; }
                match r.opcode() {
                    37|38 => { let s = StackReference::parse(r.payload(), 2, r.pointer_size()).unwrap(); recs.push((r.time(), r.opcode(), s.event_timestamp as i64, s.thread_id, s.process_id)); if r.opcode()==38 { users.insert((s.event_timestamp as i64, s.thread_id)); } }
                    32 => { let s = Stack::parse(r.payload(), 2, r.pointer_size()).unwrap(); let k = is_kernel_address(s.frames.iter().next().unwrap_or(0), 8); let k2 = is_kernel_address(s.frames.iter().last().unwrap_or(0), 8); let op = if k && !k2 {99} else if k {37} else {38}; recs.push((r.time(), op, s.event_timestamp as i64, s.thread_id, s.process_id)); if op==38 { users.insert((s.event_timestamp as i64, s.thread_id)); } }
                    _ => {}
                }
            }
            let (mut exact, mut shared, mut alone) = (0,0,0); let mut kinds: BTreeMap<String, u32> = BTreeMap::new();
            for (t, op, e, tid, _p) in &recs {
                if *op == 37 { if users.contains(&(*e,*tid)) { exact+=1 } else { k.entry(*tid).or_default().push((*e,*tid)); } }
                if *op == 38 { for (e2,_) in k.remove(tid).unwrap_or_default() { shared+=1; let gap=(t-e2)/10; *kinds.entry(format!("{:?} gap>{}", events.get(&e2), if gap>1000000 {"1s"} else if gap>10000 {"10ms"} else {"0"})).or_default()+=1; } }
            }
            for v in k.values() { alone += v.len(); }
            println!("{a}: kernel halves with exact user {exact}, would be shared {shared}, kernel only to the end {alone}");
            for (k,v) in kinds { println!("   {v} {k}"); }
        }}
    }
}
