//! The questions: filters and dumps over one archive or hundreds.
