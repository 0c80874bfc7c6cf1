//! Writes small recordings, so that what no case has can be tested: other byte orders, damage, disorder.
