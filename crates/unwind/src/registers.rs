//! The registers of a frame, as far as they are known.

use crate::architecture::Architecture;

/// More than any architecture has.
const MOST: usize = 33;

/// Registers by their DWARF numbers.
#[derive(Clone, Copy, Debug)]
pub struct Registers {
    architecture: Architecture,
    values: [u64; MOST],
    /// A bit for each that is known.
    known: u64,
}

impl Registers {
    /// None known.
    #[must_use]
    pub fn new(architecture: Architecture) -> Self {
        Self { architecture, values: [0; MOST], known: 0 }
    }

    /// Whose they are.
    #[must_use]
    pub fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// A register's value; `None` where it is not known or there is no such register.
    #[must_use]
    pub fn get(&self, register: u8) -> Option<u64> {
        let value = *self.values.get(usize::from(register))?;
        (self.known >> register & 1 == 1).then_some(value)
    }

    /// Sets a register; ignored where there is none of that number.
    pub fn set(&mut self, register: u8, value: u64) {
        if register < self.architecture.registers()
            && let Some(slot) = self.values.get_mut(usize::from(register))
        {
            *slot = value;
            self.known |= 1 << register;
        }
    }

    pub(crate) fn put(&mut self, register: u8, value: Option<u64>) {
        match value {
            Some(value) => self.set(register, value),
            None if usize::from(register) < MOST => self.known &= !(1 << register),
            None => {}
        }
    }
}
