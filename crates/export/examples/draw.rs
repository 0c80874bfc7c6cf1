#[path = "../tests/synthetic/mod.rs"]
mod synthetic;
use std::time::Instant;
use tracesift_export::flame::*;
fn main() {
    let dir = std::env::args().nth(1).unwrap();
    let n: usize = std::env::args().nth(2).map_or(100_000, |a| a.parse().unwrap());
    let stacks: usize = std::env::args().nth(3).map_or(3000, |a| a.parse().unwrap());
    let t = Instant::now();
    let p = synthetic::large(n, stacks, 77);
    println!("made {:?} {} nodes", t.elapsed(), p.catalog.stack_count());
    let t = Instant::now();
    let f = p.fold();
    println!("fold {:?} {} rows", t.elapsed(), f.weights.len());
    for (name, orientation) in [("flame", Orientation::Flame), ("icicle", Orientation::Icicle)] {
        let t = Instant::now();
        let mut out = Vec::new();
        let d = Flame { orientation, subtitle: "-p server;client".into(), ..Flame::default() }.write(&f, &mut out).unwrap();
        println!("{name} {:?} {d:?}", t.elapsed());
        std::fs::write(format!("{dir}/{name}.svg"), out).unwrap();
    }
    let mut out = Vec::new();
    let g = synthetic::large(n, stacks, 77);
    let mut g2 = synthetic::large(n, stacks, 77);
    let all: Vec<_> = g.samples.iter().collect();
    for s in all.iter().filter(|s| s.stack.row() % 7 < 2 || s.stack.row() % 11 == 5) { g2.samples.push(*s); }
    let d = Flame::default().write_change(&f, &g2.fold(), Change::Share, &mut out).unwrap();
    println!("diff {d:?}");
    std::fs::write(format!("{dir}/diff.svg"), out).unwrap();
    for (name, p) in [("small", synthetic::small()), ("hostile", synthetic::hostile()), ("large", synthetic::large(n, stacks, 5)), ("deep", synthetic::deep(10000))] {
        let f = std::fs::File::create(format!("{dir}/{name}.speedscope.json")).unwrap();
        let t = Instant::now();
        tracesift_export::speedscope::write(&p, &mut std::io::BufWriter::new(f)).unwrap();
        println!("{name} speedscope {:?}", t.elapsed());
        let t = Instant::now();
        let f = std::fs::File::create(format!("{dir}/{name}.firefox.json")).unwrap();
        tracesift_export::firefox::write(&p, &mut std::io::BufWriter::new(f)).unwrap();
        println!("{name} firefox {:?}", t.elapsed());
        let t = Instant::now();
        let f = std::fs::File::create(format!("{dir}/{name}.perfetto")).unwrap();
        tracesift_export::perfetto::write(&p, &mut std::io::BufWriter::new(f)).unwrap();
        println!("{name} perfetto {:?}", t.elapsed());
        let t = Instant::now();
        let p = p.fold();
        let f = std::fs::File::create(format!("{dir}/{name}.pb.gz")).unwrap();
        tracesift_export::pprof::write(&p, &mut std::io::BufWriter::new(f)).unwrap();
        println!("{name} pprof {:?}", t.elapsed());
        let t = Instant::now();
        let f = std::fs::File::create(format!("{dir}/{name}.folded")).unwrap();
        tracesift_export::folded::write(&p, tracesift_export::Grouping::Process, &mut std::io::BufWriter::new(f)).unwrap();
        println!("{name} folded {:?}", t.elapsed());
    }
    let mut out = Vec::new();
    Flame::default().write(&synthetic::small().fold(), &mut out).unwrap();
    std::fs::write(format!("{dir}/small.svg"), out).unwrap();
    let mut out = Vec::new();
    Flame::default().write(&synthetic::hostile().fold(), &mut out).unwrap();
    std::fs::write(format!("{dir}/hostile.svg"), out).unwrap();
}
