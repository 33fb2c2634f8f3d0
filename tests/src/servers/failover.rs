//! What a test does to the servers of PostgreSQL: kills, stops, another primary.

use super::postgres::Postgres;

impl Postgres {
    /// Kills the primary with its processes, as a loss of power of its machine would look to the others.
    pub fn kill_primary(&mut self) {
        self.kill(self.primary);
    }

    /// Stops the processes of the primary, as a machine would look from which no packet comes any more.
    pub fn stop_primary(&self) {
        self.signal("STOP", self.primary);
    }

    /// Continues those that [`Self::stop_primary`] stopped.
    pub fn continue_primary(&self) {
        self.signal("CONT", self.primary);
    }

    /// Stops the processes of the standbys: no commit is acknowledged.
    pub fn stop_standbys(&self) {
        let standbys = self.running_standbys();
        standbys.for_each(|index| self.signal("STOP", index));
    }

    /// Continues those that [`Self::stop_standbys`] stopped.
    pub fn continue_standbys(&self) {
        let standbys = self.running_standbys();
        standbys.for_each(|index| self.signal("CONT", index));
    }

    /// Has the standbys receive nothing more: they lag from here on, until another server is promoted.
    pub fn detach_standbys(&self) {
        for standby in self.running_standbys() {
            self.sql_at(standby, "ALTER SYSTEM SET primary_conninfo = ''");
            self.sql_at(standby, "SELECT pg_reload_conf()");
        }
        self.wait("the end of replication", |own| {
            own.sql("SELECT count(*) FROM pg_stat_replication") == "0"
        });
    }

    /// The ports of the standbys that run.
    pub fn standby_ports(&self) -> Vec<u16> {
        let standbys = self.running_standbys();
        standbys.map(|index| self.servers[index].port).collect()
    }

    /// Makes the standby that has most the primary; returns once it takes writes. The other standby follows it.
    pub fn promote(&mut self) {
        let received = "SELECT pg_wal_lsn_diff(greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()), '0/0')";
        let most = self.running_standbys().max_by_key(|index| {
            let bytes = self.sql_at(*index, received);
            bytes.parse::<u64>().unwrap()
        });
        self.primary = most.expect("a standby that runs");
        self.sql("SELECT pg_promote(true, 120)");
        self.wait("the new primary", |own| {
            own.sql("SELECT pg_is_in_recovery()") == "f"
        });
        let follow = format!("ALTER SYSTEM SET {}", self.followed());
        for standby in self.running_standbys() {
            for statement in [&follow, "SELECT pg_reload_conf()"] {
                let mut psql = self.psql(standby, statement);
                // Without success at a former primary that is stopped.
                psql.env("PGCONNECT_TIMEOUT", "10").output().unwrap();
            }
        }
    }

    /// Starts the servers that do not run as they were: a former primary takes itself for one still.
    pub fn restart(&mut self) {
        for index in 0..self.servers.len() {
            if self.servers[index].process.is_none() {
                self.launch(index);
            }
        }
    }

    /// Starts the servers that do not run, as standbys with a copy of the primary; returns once all standbys replicate.
    pub fn revive(&mut self) {
        for index in 0..self.servers.len() {
            if self.servers[index].process.is_none() {
                self.copy(index);
            }
        }
        self.wait_for_standbys();
    }
}
