//! Programs for Windows of generated C++, compiled by clang and linked by lld-link, as large as one likes.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What the units need besides each other: no library of C is at hand.
const MAIN: &str = r#"
volatile int sink;
extern "C" int _fltused = 0;
extern "C" void *memset(void *to, int value, __SIZE_TYPE__ count) {
    for (char *at = (char *)to; count--;)
        *at++ = (char)value;
    return to;
}
"#;

/// One class of a unit: templates with functions that are inlined three deep, virtual functions, a lambda, loops of some lines.
const CLASS: &str = r#"
template <typename Element, int Capacity> struct collection_with_bounded_capacity_@ {
    Element items[Capacity];
    int length;
    INLINE Element element_or_length(int index) const {
        if (index < 0)
            return Element(length);
        return items[unsigned(index) % Capacity];
    }
    INLINE int sum_of_all_elements(const Element &start) const {
        int total = int(start);
        for (int at = 0; at < length; at++)
            total += int(element_or_length(at + @));
        return total;
    }
    INLINE int sum_twice(const Element &start) const {
        int once = sum_of_all_elements(start);
        return once + sum_of_all_elements(Element(once));
    }
    NOINLINE int walk_over_elements(int count, const char *text) {
        int total = 0;
        for (int at = 0; at < count; at++) {
            total += sum_twice(Element(at)) ^ text[at];
            if (total > @)
                total -= int(element_or_length(total));
            items[unsigned(at) % Capacity] = Element(total);
        }
        sink = total;
        return total;
    }
};
class department_store_number_@ {
    collection_with_bounded_capacity_@<int, 3 + @ % 5> first;
    collection_with_bounded_capacity_@<short, 2 + @ % 7> second;
public:
    NOINLINE int price(int amount, department_store_number_@ &other, int (*change)(int));
    NOINLINE static int total(department_store_number_@ *shops, unsigned count);
};
int department_store_number_@::price(int amount, department_store_number_@ &other, int (*change)(int)) {
    int value = first.walk_over_elements(amount, "price@");
    value += second.walk_over_elements(amount + 1, "other@");
    if (change && value > amount)
        value -= change(other.first.sum_of_all_elements(amount));
    return value + sink;
}
int department_store_number_@::total(department_store_number_@ *shops, unsigned count) {
    int all = 0;
    for (unsigned at = 0; at < count; at++) {
        auto one = [&](int more) {
            sink = more;
            return shops[at].price(more, shops[0], nullptr) + shops[at].first.sum_twice(more);
        };
        all += one(all) + @;
    }
    return all;
}
"#;

/// A program to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// As clang calls it: `x86_64-pc-windows-msvc`.
    pub(crate) target: &'static str,
    /// `-O2`
    pub(crate) optimize: &'static str,
    pub(crate) units: usize,
    pub(crate) classes: usize,
}

/// About 60 MB of PDB in about a minute of processor time.
pub(crate) const BIG: Plan = Plan { target: "x86_64-pc-windows-msvc", optimize: "-O0", units: 40, classes: 180 };

fn unit(number: usize, classes: usize) -> String {
    let mut text = String::from(
        "#define INLINE __forceinline\n#define NOINLINE __declspec(noinline)\nextern volatile int sink;\n",
    );
    let _ = writeln!(text, "namespace first_level_of_the_application {{ namespace second_level_of_unit_{number} {{");
    for class in 0..classes {
        text.push_str(&CLASS.replace('@', &class.to_string()));
    }
    let _ = writeln!(
        text,
        "}} }}\nint run_unit_{number}(void *memory) {{\n    using namespace first_level_of_the_application::second_level_of_unit_{number};\n    int all = 0;"
    );
    for class in 0..classes {
        let _ = writeln!(
            text,
            "    all += department_store_number_{class}::total((department_store_number_{class} *)memory, {class});"
        );
    }
    text.push_str("    return all;\n}\n");
    text
}

fn run(directory: &Path, program: &str, arguments: &[&str]) -> io::Result<()> {
    let output = Command::new(program).args(arguments).current_dir(directory).output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(io::Error::other(format!("{program}: {}", String::from_utf8_lossy(&output.stderr))))
}

/// Makes `program.exe` and `program.pdb` in a directory, with two compilers at work; gives the path of the image.
pub(crate) fn make(directory: &Path, plan: Plan) -> io::Result<PathBuf> {
    let mut main = MAIN.to_owned();
    for number in 0..plan.units {
        std::fs::write(directory.join(format!("unit{number}.cpp")), unit(number, plan.classes))?;
        let _ = writeln!(main, "int run_unit_{number}(void *);");
    }
    main.push_str("extern \"C\" int start() {\n    static char memory[65536];\n    int all = 0;\n");
    for number in 0..plan.units {
        let _ = writeln!(main, "    all += run_unit_{number}(memory);");
    }
    main.push_str("    return all;\n}\n");
    std::fs::write(directory.join("main.cpp"), main)?;
    let mut names: Vec<String> = (0..plan.units).map(|number| format!("unit{number}")).collect();
    names.push("main".to_owned());
    let next = AtomicUsize::new(0);
    let compile = || -> io::Result<()> {
        while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
            let target = format!("--target={}", plan.target);
            let (source, object) = (format!("{name}.cpp"), format!("{name}.obj"));
            let options =
                ["-g", "-gcodeview", "-fno-exceptions", "-fno-builtin", plan.optimize, "-c", &source, "-o", &object];
            run(directory, "clang", &[&[&*target], &options[..]].concat())?;
            std::fs::remove_file(directory.join(source))?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(compile);
        compile().and(other.join().unwrap_or_else(|_| Err(io::Error::other("a compiler's thread has ended"))))
    })?;
    let objects: Vec<String> = names.iter().map(|name| format!("{name}.obj")).collect();
    let mut arguments =
        vec!["/debug", "/nodefaultlib", "/entry:start", "/subsystem:console", "/safeseh:no", "/out:program.exe"];
    // What is inlined everywhere stays, so that the PDB is large.
    arguments.extend(["/opt:noref", "/opt:noicf", "/pdb:program.pdb"]);
    arguments.extend(objects.iter().map(String::as_str));
    run(directory, "lld-link", &arguments)?;
    objects.iter().try_for_each(|object| std::fs::remove_file(directory.join(object)))?;
    Ok(directory.join("program.exe"))
}
