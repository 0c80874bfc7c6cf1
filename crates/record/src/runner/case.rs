//! One test with one value for each parameter of its matrix.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::settings::{Cache, DurationFrom, FailedWhen};

/// What is run again and again, always in the same way.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name of the test with the values of its parameters, as it stands in the names of recordings.
    pub name: String,
    /// Name of the test.
    pub test: String,
    /// The parameters and their values.
    pub values: Vec<(String, String)>,
    /// The program and its arguments.
    pub command: Vec<String>,
    pub(super) environment: BTreeMap<String, String>,
    /// Where it runs.
    pub(super) directory: PathBuf,
    /// The same as the plan names it; empty where it names none.
    pub(super) named_directory: PathBuf,
    pub(super) set_up: Vec<Vec<String>>,
    pub(super) clean_up: Vec<Vec<String>>,
    pub(super) duration: DurationFrom,
    pub(super) failed_when: FailedWhen,
    /// How often it is recorded.
    pub repetitions: u32,
    /// How often it runs without a recorder as well, so that what recording costs is known.
    pub overhead: u32,
    /// Time before and after each run in which nothing happens.
    pub settle: Duration,
    pub(super) timeout: Option<Duration>,
    /// What happens to the caches of files before each run.
    pub cache: Cache,
}

impl Case {
    /// The command, not started.
    pub(super) fn to_command(&self, words: &[String]) -> Option<Command> {
        let (program, arguments) = words.split_first()?;
        // A path is meant from where the command runs, whatever the system makes of it.
        let is_path = program.contains(['/', '\\']);
        let beside = [program.clone(), format!("{program}{}", std::env::consts::EXE_SUFFIX)];
        let beside = beside.iter().map(|program| self.directory_or_here().join(program)).find(|path| path.is_file());
        let beside = beside.and_then(|path| std::path::absolute(path).ok());
        let mut command = Command::new(beside.filter(|_| is_path).unwrap_or_else(|| program.into()));
        command.args(arguments).envs(&self.environment).current_dir(self.directory_or_here()).stdin(Stdio::null());
        Some(command)
    }

    pub(super) fn directory_or_here(&self) -> PathBuf {
        if self.directory.as_os_str().is_empty() { PathBuf::from(".") } else { self.directory.clone() }
    }

    /// A number that is another one when anything that a run depends on has changed. Where the plan itself lies does not count: its path
    /// can be spelled in many ways.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.command, &self.environment, &self.named_directory, &self.set_up, &self.clean_up).hash(&mut hasher);
        format!("{:?} {:?} {:?} {:?}", self.duration, self.failed_when, self.cache, self.timeout).hash(&mut hasher);
        hasher.finish()
    }
}

/// The cases of a test: one for each combination of values, those of the last parameter changing first.
pub(super) fn expand(model: &Case, matrix: &[(String, Vec<String>)], most: usize) -> Result<Vec<Case>, String> {
    let many = matrix.iter().try_fold(1_usize, |product, (_, values)| product.checked_mul(values.len()));
    if many.is_none_or(|many| many > most) {
        return Err(format!("`matrix` makes more than {most} cases"));
    }
    let mut combinations: Vec<Vec<(String, String)>> = vec![Vec::new()];
    for (name, values) in matrix {
        let with = |before: &Vec<(String, String)>, value: &String| {
            let mut longer = before.clone();
            longer.push((name.clone(), value.clone()));
            longer
        };
        combinations =
            combinations.iter().flat_map(|before| values.iter().map(move |value| with(before, value))).collect();
    }
    combinations.into_iter().map(|values| of_values(model, values)).collect()
}

fn of_values(model: &Case, values: Vec<(String, String)>) -> Result<Case, String> {
    let fill = |text: &String| filled(text, &values);
    let all = |words: &Vec<String>| words.iter().map(fill).collect::<Result<Vec<_>, _>>();
    let lists = |lists: &Vec<Vec<String>>| lists.iter().map(all).collect::<Result<Vec<_>, _>>();
    let environment = model.environment.iter().map(|(name, value)| Ok((name.clone(), fill(value)?)));
    Ok(Case {
        name: name(&model.name, &values),
        command: all(&model.command)?,
        environment: environment.collect::<Result<_, String>>()?,
        set_up: lists(&model.set_up)?,
        clean_up: lists(&model.clean_up)?,
        values,
        ..model.clone()
    })
}

/// A text with the values of parameters in the place of their names in braces. `{{` is a brace.
fn filled(text: &str, values: &[(String, String)]) -> Result<String, String> {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        if let Some(after) = after.strip_prefix('{') {
            out.push('{');
            rest = after;
            continue;
        }
        let Some((name, after)) = after.split_once('}') else {
            return Err(format!("`{text}` has a brace that is not closed; `{{{{` is a brace itself"));
        };
        let value = values.iter().find(|(known, _)| known == name);
        let (_, value) = value.ok_or_else(|| {
            format!("`{text}` has {{{name}}}, which is no parameter of `matrix`; `{{{{` is a brace itself")
        })?;
        out.push_str(value);
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

/// A name without the characters that part the names of recordings, or that file systems do not take.
fn name(test: &str, values: &[(String, String)]) -> String {
    let clean = |text: &str| cleaned(text.trim(), "-+=,.@");
    let mut name = clean(test);
    for (parameter, value) in values {
        // `threads3`, but `mode-parallel`.
        let gap = if value.starts_with(|c: char| c.is_ascii_digit()) { "" } else { "-" };
        name.push_str(&format!("-{}{gap}{}", clean(parameter), clean(value)));
    }
    name
}

/// A text with `-` in the place of what is neither a letter nor a digit nor one of the others.
pub(super) fn cleaned(text: &str, others: &str) -> String {
    text.chars().map(|c| if c.is_alphanumeric() || others.contains(c) { c } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_where_their_names_stood() {
        let values = [("n".to_owned(), "5".to_owned())];
        assert_eq!(filled("a{n}b{n}", &values).as_deref(), Ok("a5b5"));
        assert_eq!(filled("{{n}", &values).as_deref(), Ok("{n}"));
        assert!(filled("{m}", &values).is_err() && filled("{n", &values).is_err());
        assert_eq!(name("My test_1", &[("mode".to_owned(), "a/b".to_owned())]), "My-test-1-mode-a-b");
    }
}
