//! What rows of several questions say about the module that they are of. A question takes the columns that it needs, in its own order, as
//! with [`process_columns`](crate::process_columns).

use tracesift_grammar::Patterns;
use tracesift_trace::rows::ModuleRow;

use crate::answer::{Column, ColumnOf, Kind, View};
use crate::drivers::{self, Driver};
use crate::needs::Needs;

/// A row that is of one module, or of none when the recording does not say.
pub trait OfModule {
    /// The module.
    fn module(&self) -> Option<&ModuleRow>;
}

macro_rules! text {
    ($(#[$doc:meta])* $name:ident, $key:literal, $title:literal, $help:literal, $value:expr) => {
        $(#[$doc])*
        #[must_use]
        pub const fn $name<R: OfModule>() -> ColumnOf<R> {
            ColumnOf::always($key, $title, Kind::Text, |row: &R| row.module().and_then($value).into(), $help)
                .made_of(Needs::NOTHING)
        }
    };
}

text!(
    /// File name.
    name, "module", "Module", "File name of the image.", |module| Some(module.name.clone())
);
text!(
    /// File version, text.
    file_version, "file_version", "File version", "File version text of the version resource.",
    |module| module.file_version.clone()
);
text!(
    /// File version, numbers.
    binary_file_version, "binary_file_version", "Binary version", "File version as four numbers.",
    |module| module.binary_file_version.clone()
);
text!(
    /// Path.
    path, "path", "Image path", "Path of the image.", |module| Some(module.path.clone())
);
text!(
    /// Product version.
    product_version, "product_version", "Product version", "Product version text.",
    |module| module.product_version.clone()
);
text!(
    /// Product.
    product, "product", "Product", "Product name.", |module| module.product_name.clone()
);
text!(
    /// Company.
    company, "company", "Company", "Company name.", |module| module.company.clone()
);
text!(
    /// Description.
    description, "description", "Description", "File description.", |module| module.description.clone()
);
text!(
    /// Maker of a well-known driver.
    driver_vendor, "driver_vendor", "Driver vendor",
    "Maker of the driver, if it is a well-known filter driver.",
    |module| driver(module).map(|driver| driver.vendor.to_owned())
);
text!(
    /// Purpose of a well-known driver.
    driver_category, "driver_category", "Driver category",
    "Purpose of the driver, if it is a well-known filter driver: `antivirus`, `encryption`, `continuous backup` …",
    |module| driver(module).map(|driver| driver.category())
);

/// Shows the columns with these keys in every format.
pub fn show(columns: &mut [Column], keys: &[&str]) {
    for column in columns.iter_mut().filter(|column| keys.contains(&column.key)) {
        column.view = View::Always;
    }
}

fn driver(module: &ModuleRow) -> Option<Driver> {
    drivers::find(&module.name)
}

/// Whether a pattern accepts the path or one of the version texts.
#[must_use]
pub fn version_matches(module: &ModuleRow, patterns: &Patterns) -> bool {
    let texts: Vec<&str> = version_texts(module).collect();
    patterns.is_empty() || patterns.matches_any(&texts)
}

/// Whether a pattern accepts vendor or category of a well-known driver. Other modules match only if nothing is asked.
#[must_use]
pub fn driver_matches(module: &ModuleRow, patterns: &Patterns) -> bool {
    patterns.is_empty()
        || driver(module).is_some_and(|driver| {
            let category = driver.category();
            let each = driver.categories().map(|category| category.name);
            let texts: Vec<&str> = [driver.vendor, &category].into_iter().chain(each).collect();
            patterns.matches_any(&texts)
        })
}

/// Whether a pattern accepts anything that is said of the module.
#[must_use]
pub fn matches(module: &ModuleRow, patterns: &Patterns) -> bool {
    let driver = driver(module);
    let (vendor, category) = (driver.map(|driver| driver.vendor), driver.map(|driver| driver.category()));
    let own = [Some(module.name.as_str()), vendor, category.as_deref()].into_iter().flatten();
    let texts: Vec<&str> = own.chain(version_texts(module)).collect();
    patterns.is_empty() || patterns.matches_any(&texts)
}

fn version_texts(module: &ModuleRow) -> impl Iterator<Item = &str> {
    let texts = [
        Some(&module.path),
        module.file_version.as_ref(),
        module.binary_file_version.as_ref(),
        module.product_version.as_ref(),
        module.product_name.as_ref(),
        module.company.as_ref(),
        module.description.as_ref(),
    ];
    texts.into_iter().flatten().map(String::as_str)
}
