//! scratch
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let f = std::fs::File::create(&a[1]).unwrap();
    let r = tracesift_scenario::scale(std::io::BufWriter::with_capacity(1<<20, f), a[2].parse().unwrap(), 1).unwrap();
    println!("{r:?}");
}
