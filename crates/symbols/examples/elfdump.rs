use std::fs::File;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let start = std::time::Instant::now();
    let mut c = tracesift_symbols::elf::Companions::default();
    if let Some(p) = args.get(2).filter(|p| *p != "-") {
        c.image = Some(File::open(p).unwrap());
    }
    if let Some(p) = args.get(3).filter(|p| *p != "-") {
        c.supplementary = Some(File::open(p).unwrap());
    }
    let table = tracesift_symbols::elf::read(File::open(&args[1]).unwrap(), c, None);
    let table = match table {
        Ok(t) => t,
        Err(e) => {
            println!("error {e}");
            return;
        }
    };
    eprintln!("{:?} {table:?}", start.elapsed());
    if args.len() > 4 {
        for line in std::io::stdin().lines() {
            let a = u64::from_str_radix(line.unwrap().trim_start_matches("0x"), 16).unwrap();
            println!("{a:#x}");
            for f in table.frames(a) {
                println!(
                    "{}{}|{}|{}:{}",
                    f.function,
                    f.arguments.unwrap_or(""),
                    f.source,
                    f.file.unwrap_or("??"),
                    f.line.unwrap_or(0)
                );
            }
        }
    }
}
