//! scratch
use tracesift_extract::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let sel = input::select(&a[1..2], &input::SelectOptions::default());
    println!("{:?} {:?}", sel.notes, sel.problems);
    for t in sel.targets {
        if let input::Target::Recording(r) = t {
            let o = Options { out: Some(a[2].clone().into()), overwrite: true, ..Options::default() };
            match extract(&r, &o, &mut unwatched) {
                Ok(e) => for x in e.outcomes { if let Outcome::Extracted(r) = x { println!("{} {:?}\n{:#?}", r.archive.display(), r.health, r.info) } },
                Err(e) => println!("ERR {e}"),
            }
        }
    }
}
