//! Care for the decoders of packed files, which are other people's code and read what strangers wrote.
//!
//! Archives come packed as zip, 7z, cabinet and more. Most of what can be wrong with them their decoders tell. What they do not tell is here:
//! that they have stopped to get anywhere ([`watched`]), that an error has left them in a state from which they must not be asked again
//! ([`LastingErrors`]), and how much memory they are about to take ([`dictionary`]).

mod dictionary;
mod lasting;
mod stall;
#[cfg(test)]
mod tests;
mod watched;

pub use dictionary::dictionary;
pub use lasting::LastingErrors;
pub use watched::{Reporter, Unfinished, watched};
