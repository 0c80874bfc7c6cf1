//! A system whose recorder is not known.

use std::convert::Infallible;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use crate::error::{Error, Shortfall};
use crate::options::{Options, Scope};
use crate::staging::Staging;

pub(crate) const EXTENSION: &str = "data";

#[derive(Clone, Copy, Debug)]
pub(crate) struct Prepared(Infallible);

#[derive(Debug)]
pub(crate) struct Running(Infallible);

pub(crate) fn prepare(_options: &Options) -> Result<Prepared, Error> {
    Err(Error::UnknownSystem)
}

pub(crate) fn counters() -> Result<Vec<String>, Error> {
    Err(Error::UnknownSystem)
}

impl Prepared {
    pub(crate) fn shortfalls(&self) -> &[Shortfall] {
        match self.0 {}
    }

    pub(crate) fn scope(&self) -> &Scope {
        match self.0 {}
    }

    pub(crate) fn recorder(&self) -> (String, String) {
        match self.0 {}
    }

    pub(crate) fn start(
        &self,
        _staging: &Staging,
        _program: Option<&OsStr>,
        _cancel: &AtomicBool,
    ) -> Result<Running, Error> {
        match self.0 {}
    }
}

impl Running {
    pub(crate) fn shortfalls(&self) -> Vec<Shortfall> {
        match self.0 {}
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        match self.0 {}
    }

    pub(crate) fn finished(&self, _staging: &Staging) -> Vec<PathBuf> {
        match self.0 {}
    }

    pub(crate) fn finish(self, _staging: &Staging) -> Result<Vec<PathBuf>, Error> {
        match self.0 {}
    }

    pub(crate) fn stop(&mut self) {
        match self.0 {}
    }
}
