//! Colours say where code comes from, and shades of them tell modules apart. They depend on names alone, so that a module looks the
//! same in every picture.

use std::fmt::Write;

use crate::profile::Origin;
use crate::tree::Kind;

/// Shades per kind: six hues, by module, in two tones, by function.
const SHADES: u32 = 12;

/// Steps of a change, in each direction.
pub(super) const STEPS: u32 = 7;

/// A kind of frame in the legend and its colours.
pub(super) struct Family {
    pub(super) kind: Kind,
    pub(super) label: &'static str,
    /// The first letter of the style classes.
    letter: char,
    /// First and last hue in degrees.
    hues: (f64, f64),
    saturation: f64,
}

/// All kinds, in the order of the legend.
pub(super) const FAMILIES: [Family; 8] = [
    Family { kind: Kind::Code(Origin::User), label: "User", letter: 'u', hues: (20.0, 50.0), saturation: 0.92 },
    Family { kind: Kind::Code(Origin::Kernel), label: "Kernel", letter: 'k', hues: (203.0, 232.0), saturation: 0.74 },
    Family { kind: Kind::Code(Origin::Managed), label: "Managed", letter: 'm', hues: (92.0, 138.0), saturation: 0.50 },
    Family { kind: Kind::Code(Origin::Jit), label: "JIT", letter: 'j', hues: (284.0, 322.0), saturation: 0.52 },
    Family {
        kind: Kind::Code(Origin::Unresolved),
        label: "Unresolved",
        letter: 'n',
        hues: (40.0, 60.0),
        saturation: 0.07,
    },
    Family {
        kind: Kind::Code(Origin::State),
        label: "Thread or state",
        letter: 's',
        hues: (170.0, 188.0),
        saturation: 0.24,
    },
    Family {
        kind: Kind::Code(Origin::Disturbance),
        label: "Disturbance",
        letter: 'd',
        hues: (346.0, 362.0),
        saturation: 0.88,
    },
    Family { kind: Kind::Group, label: "", letter: 'g', hues: (212.0, 220.0), saturation: 0.14 },
];

/// The style class of a frame.
pub(super) fn class(kind: Kind, module: &str, function: &str) -> String {
    let letter = FAMILIES.iter().find(|family| family.kind == kind).map_or('n', |family| family.letter);
    // Code without a module still is told apart, by function.
    let group = if module.is_empty() { function } else { module };
    format!("{letter}{}", (hash(group) % (SHADES / 2)) * 2 + (hash(function) >> 8) % 2)
}

/// The style class of a sample of the kind in the legend.
pub(super) fn legend_class(family: &Family) -> String {
    format!("{}5", family.letter)
}

/// The style class of a change, from −1 to 1.
pub(super) fn change_class(change: f64) -> String {
    // The root brings out small changes beside a large one.
    let step = (change.abs().min(1.0).sqrt() * f64::from(STEPS)).ceil() as u32;
    match step {
        0 => "z".to_owned(),
        step if change > 0.0 => format!("r{step}"),
        step => format!("b{step}"),
    }
}

/// Style rules of all classes, for light and dark surroundings. Colours are written out: some viewers know no variables.
pub(super) fn rules(change: bool) -> String {
    let (mut light, mut dark) = (String::new(), String::new());
    let mut rule = |class: &str, [day, night]: [String; 2]| {
        let _ = write!(light, ".{class} rect{{fill:{day}}}");
        let _ = write!(dark, ".{class} rect{{fill:{night}}}");
    };
    for family in &FAMILIES {
        for shade in 0..SHADES {
            let (hue, tone) = (f64::from(shade / 2) / 5.0, f64::from(shade % 2));
            let hue = family.hues.0 + (family.hues.1 - family.hues.0) * hue;
            let day = hsl(hue, family.saturation, 0.72 + 0.055 * tone);
            let night = hsl(hue, family.saturation * 0.62, 0.33 + 0.05 * tone);
            rule(&format!("{}{shade}", family.letter), [day, night]);
        }
    }
    if change {
        rule("z", [hsl(220.0, 0.06, 0.90), hsl(220.0, 0.06, 0.30)]);
        for step in 1..=STEPS {
            let strength = f64::from(step) / f64::from(STEPS);
            for (letter, hue) in [('r', 8.0), ('b', 214.0)] {
                let day = hsl(hue, 0.45 + 0.45 * strength, 0.91 - 0.29 * strength);
                let night = hsl(hue, 0.16 + 0.58 * strength, 0.31 + 0.14 * strength);
                rule(&format!("{letter}{step}"), [day, night]);
            }
        }
    }
    format!("{light}@media(prefers-color-scheme:dark){{{dark}}}")
}

/// FNV-1a, which will never change.
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// A colour by hue in degrees, saturation and lightness, as `#rrggbb`.
fn hsl(hue: f64, saturation: f64, lightness: f64) -> String {
    let reach = saturation * lightness.min(1.0 - lightness);
    let part = |offset: f64| {
        let k = (offset + hue / 30.0) % 12.0;
        let level = lightness - reach * (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0);
        (level * 255.0).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", part(0.0), part(8.0), part(4.0))
}
