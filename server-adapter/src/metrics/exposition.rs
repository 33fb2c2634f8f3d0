//! The Prometheus exposition format, version 0.0.4.

use std::fmt::{Display, Write as _};

/// A text that is written family by family. Names begin with `deskfleet_`, which is left out of the arguments.
#[derive(Debug, Default)]
pub(super) struct Exposition(String);

// Writing to a String never fails, so the results below are dropped.
impl Exposition {
    pub(super) fn into_text(self) -> String {
        self.0
    }

    /// Adds whole families.
    pub(super) fn families(&mut self, text: &str) {
        self.0.push_str(text);
    }

    /// Begins the family `name`; returns its whole name.
    pub(super) fn family(&mut self, name: &str, kind: &str, help: &str) -> String {
        let name = format!("deskfleet_{name}");
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
        name
    }

    /// One value of a series: a name and its labels.
    pub(super) fn sample(&mut self, series: &str, value: impl Display) {
        self.line(series, &value);
    }

    pub(super) fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.single(name, "gauge", help, &value);
    }

    pub(super) fn counter(&mut self, name: &str, help: &str, value: impl Display) {
        self.single(name, "counter", help, &value);
    }

    /// A family with one value.
    fn single(&mut self, name: &str, kind: &str, help: &str, value: &dyn Display) {
        let name = self.family(name, kind, help);
        self.line(&name, value);
    }

    fn line(&mut self, series: &str, value: &dyn Display) {
        let _ = writeln!(self.0, "{series} {value}");
    }
}
