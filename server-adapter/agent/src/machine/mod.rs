//! What is measured of the machine.

mod disk_operations;
mod processes;

use std::time::{Instant, SystemTime};

use sysinfo::{Disks, Networks, System};

use self::disk_operations::DiskOperations;
pub(crate) use self::processes::ProcessTable;
use super::records::{Names, RootVolume, StatsRecord, UserVolume, os_version, written_time};

/// Where the operating system is mounted, and where the files of users are if they have a volume of their own.
const ROOT_MOUNTS: [&str; 2] = ["/", "C:\\"];
const USER_MOUNTS: [&str; 2] = ["/home", "D:\\"];

/// The load of the machine since the record before.
#[derive(Debug)]
pub(crate) struct Machine {
    system: System,
    networks: Networks,
    operations: Option<DiskOperations>,
    measured: Instant,
}

impl Machine {
    /// Begins to measure: the first record covers the time from now on.
    pub(crate) fn new() -> Self {
        let mut system = System::new();
        system.refresh_cpu_usage();
        Self {
            system,
            networks: Networks::new_with_refreshed_list(),
            operations: DiskOperations::read(),
            measured: Instant::now(),
        }
    }

    /// The record of now.
    pub(crate) fn measure(
        &mut self,
        names: Names,
        now: SystemTime,
        tenant: Option<&str>,
    ) -> StatsRecord {
        let seconds = self.measured.elapsed().as_secs_f32().max(f32::EPSILON);
        self.measured = Instant::now();
        self.system.refresh_cpu_usage();
        self.system.refresh_memory();
        self.networks.refresh(true);
        // Loopback and tunnels have no hardware address; their bytes are counted at the interface that carries them.
        let carriers = self.networks.values();
        let (received, sent) = carriers
            .filter(|network| !network.mac_address().is_unspecified())
            .fold((0, 0), |(received, sent), network| {
                (received + network.received(), sent + network.transmitted())
            });
        let before = std::mem::replace(&mut self.operations, DiskOperations::read());
        let operations = self.operations.zip(before);
        let operations = operations.map(|(now, before)| now.since(before));
        let physical = self.system.total_memory();
        let available = self.system.available_memory();
        let disks = Disks::new_with_refreshed_list();
        let volume = |mounts: [&str; 2]| {
            let is_mounted = |disk: &&sysinfo::Disk| {
                mounts
                    .iter()
                    .any(|at| disk.mount_point().as_os_str() == *at)
            };
            let disk = disks.list().iter().find(is_mounted);
            disk.map(|disk| (disk.total_space(), disk.available_space()))
                .unzip()
        };
        let (root_total, root_available) = volume(ROOT_MOUNTS);
        let (user_total, user_available) = volume(USER_MOUNTS);
        StatsRecord {
            names,
            updatetime: written_time(now),
            processor_count: self.system.cpus().len(),
            processor_in_use: percent(self.system.global_cpu_usage()),
            physical_memory: physical,
            available_physical_memory: available,
            virtual_memory: physical + self.system.total_swap(),
            available_virtual_memory: available + self.system.free_swap(),
            memory_in_use: physical.saturating_sub(available),
            root: RootVolume {
                root_total,
                root_available,
            },
            user: UserVolume {
                user_total,
                user_available,
            },
            disk_reads: operations.map(|(reads, _)| rate(reads, seconds)),
            disk_writes: operations.map(|(_, writes)| rate(writes, seconds)),
            network_received: rate(received, seconds),
            network_sent: rate(sent, seconds),
            uptime: System::uptime(),
            os_version: System::os_version().map(|version| os_version(&version)),
            tenant_id: tenant.map(str::to_owned),
        }
    }
}

/// The name of this computer.
pub(crate) fn computer_name() -> Option<String> {
    System::host_name().filter(|name| !name.is_empty())
}

/// When the machine was started.
pub(crate) fn boot_time() -> SystemTime {
    SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(System::boot_time())
}

#[expect(clippy::cast_possible_truncation, reason = "a percentage is small")]
fn percent(value: f32) -> i32 {
    value.round() as i32
}

/// With two decimals, which is enough for a rate and half the bytes.
#[expect(
    clippy::cast_precision_loss,
    reason = "a rate is not more exact than its seven digits"
)]
fn rate(count: u64, seconds: f32) -> f32 {
    (count as f32 / seconds * 100.0).round() / 100.0
}
