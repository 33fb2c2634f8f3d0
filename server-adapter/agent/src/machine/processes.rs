//! The processes that use most, by name. Neither their command lines nor their users are read.

use std::collections::BTreeMap;
use std::time::SystemTime;

use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System};

use crate::records::{Names, ProcessItem, ProcessReport, written_time};

/// Names in a report.
const NAMES_MAX: usize = 50;
/// Characters of a name.
const NAME_MAX: usize = 128;

/// The processes, and what each has used since the report before.
#[derive(Debug)]
pub(crate) struct ProcessTable(System);

impl ProcessTable {
    /// Begins to measure: the first report covers the time from now on.
    pub(crate) fn new() -> Self {
        let mut table = Self(System::new());
        table.0.refresh_memory();
        table.refresh();
        table
    }

    fn refresh(&mut self) {
        let kind = ProcessRefreshKind::nothing().with_cpu().with_memory();
        self.0
            .refresh_processes_specifics(ProcessesToUpdate::All, true, kind.without_tasks());
    }

    /// The report of now.
    pub(crate) fn measure(&mut self, names: Names, now: SystemTime) -> ProcessReport {
        self.refresh();
        let processors = f64::from(u32::try_from(self.0.cpus().len()).unwrap_or(1).max(1));
        let mut by_name: BTreeMap<String, ProcessItem> = BTreeMap::new();
        #[expect(
            clippy::iter_over_hash_type,
            reason = "sums by name are the same in any order"
        )]
        for process in self.0.processes().values() {
            // Threads of the kernel have no memory.
            if process.memory() == 0 {
                continue;
            }
            let name = process.name().to_string_lossy();
            let name: String = name
                .chars()
                .filter(|char| !char.is_control())
                .take(NAME_MAX)
                .collect();
            let item = by_name.entry(name.clone()).or_default();
            item.process_name = name;
            item.processor_usage += f64::from(process.cpu_usage()) / processors;
            item.memory_usage += process.memory();
            item.process_count += 1;
        }
        ProcessReport {
            names,
            created_date: written_time(now),
            processes: most_used(by_name.into_values().collect(), self.0.total_memory()),
        }
    }
}

/// Those with the largest shares of processors and memory together, the largest first.
#[expect(clippy::cast_precision_loss, reason = "shares are only compared")]
fn most_used(mut items: Vec<ProcessItem>, memory: u64) -> Vec<ProcessItem> {
    let share = |item: &ProcessItem| {
        item.processor_usage / 100.0 + item.memory_usage as f64 / memory.max(1) as f64
    };
    items.sort_by(|one, other| share(other).total_cmp(&share(one)));
    items.truncate(NAMES_MAX);
    for item in &mut items {
        item.processor_usage = (item.processor_usage * 100.0).round() / 100.0;
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_has_the_fifty_names_that_use_most() {
        let item = |number: u32, processor_usage: f64| ProcessItem {
            process_name: format!("p{number}"),
            processor_usage,
            memory_usage: u64::from(number),
            process_count: 1,
        };
        let mut items: Vec<_> = (0..100).map(|number| item(number, 0.0)).collect();
        items.push(item(200, 12.345));
        let most = most_used(items, 1000);
        assert_eq!(most.len(), NAMES_MAX);
        assert_eq!(
            (most[0].process_name.as_str(), most[0].processor_usage),
            ("p200", 12.35)
        );
        assert_eq!(most[1].process_name, "p99");
        assert_eq!(most[49].process_name, "p51");
    }

    #[test]
    fn own_process_is_in_the_table_under_its_name() {
        let report = ProcessTable::new().measure(Names::default(), SystemTime::UNIX_EPOCH);
        let name = std::fs::read_to_string("/proc/self/comm");
        if let Ok(name) = name {
            // Large enough to be among the fifty on any machine that compiles.
            let _held = std::hint::black_box(vec![1_u8; 1 << 20]);
            let found = report
                .processes
                .iter()
                .any(|item| item.process_name.starts_with(name.trim()));
            assert!(found || report.processes.len() == NAMES_MAX, "{name}");
        }
    }
}
