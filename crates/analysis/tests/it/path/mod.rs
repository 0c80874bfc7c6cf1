//! The bounded critical path against its recursive definition, and against rows that no machine writes.

mod cases;
mod chaos;
mod consistent;
mod machine;
mod naive;
mod walked;
