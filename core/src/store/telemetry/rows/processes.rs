//! The process items of reports.

use crate::model::identity::folded;
use crate::store::telemetry::texts::{self, Texts};

use super::{Rows, items_of};

/// A process item.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Process {
    /// The number of its name, for [`Rows::process_name`].
    pub(crate) name: u32,
    /// Processor load in percent.
    pub(crate) cpu: Option<f64>,
    /// Memory in bytes.
    pub(crate) memory: Option<f64>,
}

/// The places of fields: of the items in a report, of the others in an item.
const ITEMS: usize = 3;
const NAME: usize = 0;
const CPU: usize = 1;
const MEMORY: usize = 2;

impl Rows {
    /// The process items of a report that have a name.
    pub(crate) fn processes(&self, row: usize) -> impl Iterator<Item = Process> + '_ {
        let items = self.cells(row).value(ITEMS).map_or(0..0, items_of);
        items.filter_map(|item| {
            let cells = self.item(item);
            let name = Texts::number(cells.value(NAME)?);
            let number = |index| cells.value(index).map(f64::from_bits);
            (name != Texts::EMPTY).then(|| Process {
                name,
                cpu: number(CPU),
                memory: number(MEMORY),
            })
        })
    }

    /// The name of that number.
    pub(crate) fn process_name(&self, number: u32) -> &str {
        self.texts.text(number)
    }

    /// Stands for the instance of a record, whatever its case.
    pub(crate) fn machine(&self, row: usize) -> u64 {
        texts::hash(0, &folded(self.instance_id(row)))
    }
}

#[cfg(test)]
mod tests {
    use crate::model::{ProcessItem, ProcessReport};

    use super::*;

    #[test]
    fn places_are_those_of_the_fields() {
        let names = |fields: &[crate::model::FieldSpec], places: &[usize]| -> Vec<&str> {
            let named = places.iter().filter_map(|place| fields.get(*place));
            named.map(|spec| spec.name).collect()
        };
        assert_eq!(names(ProcessReport::FIELDS, &[ITEMS]), ["processes"]);
        assert_eq!(
            names(ProcessItem::FIELDS, &[NAME, CPU, MEMORY]),
            ["processName", "processorUsage", "memoryUsage"]
        );
    }
}
