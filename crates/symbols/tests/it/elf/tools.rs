//! Compilers and other tools, as far as they are installed.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;
use tracesift_symbols::Table;

/// Runs a tool in a directory and gives what it prints.
#[track_caller]
pub(crate) fn run(directory: &Path, tool: &str, arguments: &[&str]) -> String {
    run_with(directory, tool, arguments, "")
}

#[track_caller]
pub(crate) fn run_with(directory: &Path, tool: &str, arguments: &[&str], input: &str) -> String {
    let mut child = Command::new(tool)
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    // A tool that needs no input may be gone before it got it.
    let _ = writer.join().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{tool} {arguments:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A program of C++ with templates and of C, in a directory of its own. Flags are separated by spaces.
#[track_caller]
pub(crate) fn program(compiler: &str, flags: &str) -> (TempDir, PathBuf) {
    let directory = sources();
    let at = directory.path();
    let c = if compiler == "g++" { "gcc" } else { "clang" };
    let flags: Vec<&str> = flags.split_whitespace().collect();
    let compile = [&flags[..], &["-O2", "-Iinclude", "-c", "lib/list.c", "-o", "list.o"]].concat();
    run(at, c, &compile);
    let link = [&flags[..], &["-O2", "-Iinclude", "main.cpp", "list.o", "-o", "program", "-Wl,--build-id"]].concat();
    run(at, compiler, &link);
    let program = at.join("program");
    (directory, program)
}

/// A directory with the sources of the program.
pub(crate) fn sources() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in SOURCES {
        let file = directory.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    directory
}

/// The table of a file.
#[track_caller]
pub(crate) fn table(path: &Path) -> Table {
    tracesift_symbols::elf::read(fs::File::open(path).unwrap(), Default::default(), None).unwrap()
}

/// The first executable segment: address, offset, bytes, as readelf reads it.
#[track_caller]
pub(crate) fn code_segment(program: &Path) -> (u64, u64, u64) {
    let text = run(Path::new("."), "readelf", &["-lW", program.to_str().unwrap()]);
    let line = text.lines().find(|line| line.trim_start().starts_with("LOAD") && line.contains("R E")).unwrap();
    let numbers: Vec<u64> =
        line.split_whitespace().filter_map(|word| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()).collect();
    (numbers[1], numbers[0], numbers[3])
}

/// The functions and labels of nm: address, size, kind, name.
#[track_caller]
pub(crate) fn nm(program: &Path, arguments: &[&str]) -> Vec<(u64, u64, char, String)> {
    let arguments = [arguments, &["-S", "--defined-only", program.to_str().unwrap()]].concat();
    let text = run(Path::new("."), "nm", &arguments);
    let lines = text.lines().filter_map(|line| {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        let number = |word: &str| u64::from_str_radix(word, 16).ok();
        match words[..] {
            [address, size, kind, name] if kind.len() == 1 => {
                Some((number(address)?, number(size)?, kind.chars().next()?, name.to_owned()))
            }
            [address, kind, name] => Some((number(address)?, 0, kind.chars().next()?, name.to_owned())),
            _ => None,
        }
    });
    lines.filter(|(_, _, kind, _)| "tTwWi".contains(*kind)).collect()
}

const SOURCES: [(&str, &str); 4] = [
    ("main.cpp", MAIN),
    ("lib/list.c", LIST),
    (
        "include/list.h",
        "struct list { struct list *next; int value; };\nint list_sum(const struct list *list, int depth);\nstruct list *list_push(struct list *list, int value);\n",
    ),
    ("include/shapes.hpp", SHAPES),
];

const LIST: &str = r#"#include "list.h"
#include <stdlib.h>

static inline int scaled(int value, int depth)
{
	return value * depth
		+ depth % 7;
}

static int walk(const struct list *list, int depth)
{
	int sum = 0;
	for (; list; list = list->next) {
		sum += scaled(list->value, depth);
		if (sum < 0)
			abort();
	}
	return sum;
}

int list_sum(const struct list *list, int depth)
{
	if (depth > 3)
		return walk(list, depth) + walk(list->next, depth - 1);
	return walk(list, depth);
}

struct list *list_push(struct list *list, int value)
{
	struct list *first = malloc(sizeof *first);
	if (!first)
		abort();
	first->next = list;
	first->value = value;
	return first;
}
"#;

const SHAPES: &str = r#"#pragma once
#include <cmath>
#include <memory>
#include <stdexcept>

namespace shapes {

template <typename T> inline T square(T x) { return x * x; }

template <typename T, int N> struct Vector {
    T values[N];
    T norm() const {
        T sum = 0;
        for (int i = 0; i < N; i++)
            sum += square(values[i]);
        return std::sqrt(sum);
    }
    Vector operator+(const Vector &other) const {
        Vector result;
        for (int i = 0; i < N; i++)
            result.values[i] = values[i] + other.values[i];
        return result;
    }
};

class Shape {
public:
    virtual ~Shape() = default;
    virtual double area() const = 0;
};

class Circle : public Shape {
    double radius;

public:
    explicit Circle(double radius) : radius(radius) {
        if (radius < 0)
            throw std::invalid_argument("radius");
    }
    double area() const override { return 3.14159 * square(radius); }
};

template <typename T> class Box : public Shape {
    T a, b;

public:
    Box(T a, T b) : a(a), b(b) {}
    double area() const override { return static_cast<double>(a) * static_cast<double>(b); }
};

} // namespace shapes
"#;

const MAIN: &str = r#"#include "shapes.hpp"
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

extern "C" {
#include "list.h"
}

namespace {

template <typename F> int apply(F &&f, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += f(i);
    return sum;
}

struct Counter {
    std::map<std::string, int> counts;
    void operator()(const std::string &word) { ++counts[word]; }
    int total() const {
        return std::accumulate(counts.begin(), counts.end(), 0,
                               [](int sum, const auto &pair) { return sum + pair.second; });
    }
};

__attribute__((noinline)) int lambdas(int n) {
    int outer = n;
    std::vector<std::string> names;
    std::map<int, std::vector<double>> groups;
    for (int i = 0; i < n; i++) {
        names.push_back(std::to_string(i * n));
        groups[i % 3].push_back(i);
    }
    std::stable_sort(names.begin(), names.end(), [](const auto &a, const auto &b) { return a.size() < b.size(); });
    for (auto &group : groups) {
        std::sort(group.second.begin(), group.second.end(), std::greater<>());
        outer += group.second.size();
    }
    auto nested = [&](int i) {
        auto inner = [&](int j) { return j * outer + i; };
        return apply(inner, i % 5);
    };
    return apply(nested, n);
}

__attribute__((noinline)) double vectors(int n) {
    shapes::Vector<double, 3> a{{1, 2, 3}}, b{{4.5, double(n), 6}};
    shapes::Vector<float, 4> c{{1, 2, 3, float(n)}};
    return (a + b).norm() + (c + c).norm();
}

std::vector<std::unique_ptr<shapes::Shape>> shapes_of(int n) {
    std::vector<std::unique_ptr<shapes::Shape>> all;
    for (int i = 0; i < n; i++)
        if (i % 2)
            all.push_back(std::make_unique<shapes::Circle>(i));
        else
            all.emplace_back(new shapes::Box<int>(i, n));
    std::sort(all.begin(), all.end(), [](const auto &a, const auto &b) { return a->area() < b->area(); });
    return all;
}

} // namespace

int main(int argc, char **argv) {
    Counter counter;
    std::unordered_map<std::string, std::function<int(int)>> actions;
    actions["lambdas"] = lambdas;
    actions["twice"] = [](int n) { return 2 * n; };
    for (int i = 0; i < argc; i++) {
        std::string text = argv[i];
        for (size_t at = 0; at < text.size(); at += 3)
            counter(text.substr(at, 3) + std::to_string(at));
    }
    list *list = nullptr;
    for (int i = 0; i < argc * 10; i++)
        list = list_push(list, i);
    double area = 0;
    for (const auto &shape : shapes_of(argc * 3))
        area += shape->area();
    int sum = list_sum(list, argc);
    for (const auto &action : actions)
        sum += action.second(argc);
    std::printf("%d %d %f %f\n", counter.total(), sum, vectors(argc), area);
}
"#;
