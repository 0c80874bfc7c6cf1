//! The statistics against SciPy, R, and simulations whose truth is known.

mod calibration;
mod gates;
mod golden;
mod history;
mod properties;
