# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_deskfleet_global_optspecs
    string join \n h/help V/version
end

function __fish_deskfleet_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_deskfleet_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_deskfleet_using_subcommand
    set -l cmd (__fish_deskfleet_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c deskfleet -n "__fish_deskfleet_needs_command" -s h -l help -d 'Print help'
complete -c deskfleet -n "__fish_deskfleet_needs_command" -s V -l version -d 'Print version'
complete -c deskfleet -n "__fish_deskfleet_needs_command" -f -a "serve" -d 'Serves a store over HTTP'
complete -c deskfleet -n "__fish_deskfleet_needs_command" -f -a "config" -d 'Prints the settings in force, where each comes from, and what it takes'
complete -c deskfleet -n "__fish_deskfleet_needs_command" -f -a "import" -d 'Creates and changes workspaces from a file'
complete -c deskfleet -n "__fish_deskfleet_needs_command" -f -a "export" -d 'Writes telemetry, the workspaces or the audit of a store or of a running server'
complete -c deskfleet -n "__fish_deskfleet_needs_command" -f -a "keys" -d 'Issues, lists and revokes API keys'
complete -c deskfleet -n "__fish_deskfleet_needs_command" -f -a "status" -d 'Prints what is wrong now, the worst first'
complete -c deskfleet -n "__fish_deskfleet_needs_command" -f -a "telemetry" -d 'Removes telemetry'
complete -c deskfleet -n "__fish_deskfleet_needs_command" -f -a "cluster" -d 'Looks after the nodes of a fleet'
complete -c deskfleet -n "__fish_deskfleet_needs_command" -f -a "check" -d 'Reads the whole store and reports what is wrong with it'
complete -c deskfleet -n "__fish_deskfleet_needs_command" -f -a "backup" -d 'Writes a consistent copy of the store to a new file'
complete -c deskfleet -n "__fish_deskfleet_needs_command" -f -a "restore" -d 'Puts a copy in the place of the store, and keeps the old one under a name with the time'
complete -c deskfleet -n "__fish_deskfleet_needs_command" -f -a "compact" -d 'Gives unused pages of the store\'s file back to the file system'
complete -c deskfleet -n "__fish_deskfleet_needs_command" -f -a "double" -d 'Serves a test double of the service in memory, with faults'
complete -c deskfleet -n "__fish_deskfleet_needs_command" -f -a "completions" -d 'Prints the completions of a shell'
complete -c deskfleet -n "__fish_deskfleet_needs_command" -f -a "man" -d 'Prints the manual page'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand serve" -l data -d 'The file of the store; by default deskfleet.redb' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand serve" -l config -d 'The file with the settings, as `deskfleet config` prints them; by default deskfleet.toml, if there is one' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand serve" -l set -d 'Sets one setting, such as `limits.queue_records=50000`; may be repeated' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand serve" -l listen -d 'Address and port; by default 127.0.0.1:8080. One that other machines can reach needs a key in the store first' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand serve" -l host -d 'Accept this host name; may be repeated. Without it a loopback address accepts no name but localhost, others any' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand serve" -l tls-cert -d 'Speak TLS with this certificate: a PEM file, the certificate of the server first, then those that signed it. SIGHUP reads it again. Only in a deskfleet that was built with the feature `tls`' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand serve" -l tls-key -d 'The private key of the certificate: a PEM file without a passphrase' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand serve" -l client-ca -d 'Accept only clients with a certificate of a CA in this PEM file, beside their API keys' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand serve" -l backups -d 'On SIGUSR1 and POST /operator/backups write a consistent copy of the store into this folder, named after the time; requests are served meanwhile' -r -f -a "(__fish_complete_directories)"
complete -c deskfleet -n "__fish_deskfleet_using_subcommand serve" -l connections -d 'Connections at once; by default as many as files may be open, 12288 at most' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand serve" -l connections-per-source -d 'Of them from one address, or from one IPv6 network of 64 bits; by default half. With --proxied: requests at once from one source, at most a quarter of `server.connections_served`' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand serve" -l log -d 'The log that several nodes share, such as `postgres://fleet@db.example.com/fleet` or `nats://n1.example.com`: each serves the same fleet. Other users of the machine can read a password here; put it into --log-credentials' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand serve" -l log-ca -d 'The certificates, in PEM, that the servers of the log are verified with; by default those of the system' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand serve" -l log-cert -d 'The certificate, in PEM, that is shown to servers of the log that ask for one' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand serve" -l log-key -d 'The private key of --log-cert, in PEM without a passphrase' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand serve" -l log-credentials -d 'The password for PostgreSQL, alone in its file, or the credentials for NATS' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand serve" -l node -d 'The name of this node among all of them; by default that of the host' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand serve" -l archive -d 'The folder that this node archives the log into, one for each node: with a backup, `deskfleet cluster restore` makes the store of any later time from it' -r -f -a "(__fish_complete_directories)"
complete -c deskfleet -n "__fish_deskfleet_using_subcommand serve" -l join -d 'Another node, such as `http://node-2:8080`, whose store is copied where there is none here, or the log no longer has what this one lacks' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand serve" -l join-key-file -d 'The file with an admin key of the fleet, for --join' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand serve" -l join-ca -d 'The CAs that may have signed the certificate of the node of --join, in PEM; by default those of the system' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand serve" -l join-cert -d 'The certificate, in PEM, that is shown to the node of --join where it asks for one' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand serve" -l join-key -d 'The private key of --join-cert, in PEM without a passphrase' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand serve" -l demo -d 'Load a demo fleet with telemetry into an empty store'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand serve" -l memory -d 'Keep everything in memory; it is gone at the end'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand serve" -l quiet -d 'No access log'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand serve" -l proxied -d 'A proxy adds the source of each request as the last address in X-Forwarded-For; only where nobody can bypass the proxy'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand serve" -l configure-fleet -d 'Make the settings that all nodes share, `actions` and `retention_days`, those of this node'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand serve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand config" -l data -d 'The file of the store; by default deskfleet.redb' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand config" -l config -d 'The file with the settings, as `deskfleet config` prints them; by default deskfleet.toml, if there is one' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand config" -l set -d 'Sets one setting, such as `limits.queue_records=50000`; may be repeated' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand config" -l listen -d 'Address and port; by default 127.0.0.1:8080. One that other machines can reach needs a key in the store first' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand config" -l host -d 'Accept this host name; may be repeated. Without it a loopback address accepts no name but localhost, others any' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand config" -l tls-cert -d 'Speak TLS with this certificate: a PEM file, the certificate of the server first, then those that signed it. SIGHUP reads it again. Only in a deskfleet that was built with the feature `tls`' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand config" -l tls-key -d 'The private key of the certificate: a PEM file without a passphrase' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand config" -l client-ca -d 'Accept only clients with a certificate of a CA in this PEM file, beside their API keys' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand config" -l backups -d 'On SIGUSR1 and POST /operator/backups write a consistent copy of the store into this folder, named after the time; requests are served meanwhile' -r -f -a "(__fish_complete_directories)"
complete -c deskfleet -n "__fish_deskfleet_using_subcommand config" -l connections -d 'Connections at once; by default as many as files may be open, 12288 at most' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand config" -l connections-per-source -d 'Of them from one address, or from one IPv6 network of 64 bits; by default half. With --proxied: requests at once from one source, at most a quarter of `server.connections_served`' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand config" -l log -d 'The log that several nodes share, such as `postgres://fleet@db.example.com/fleet` or `nats://n1.example.com`: each serves the same fleet. Other users of the machine can read a password here; put it into --log-credentials' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand config" -l log-ca -d 'The certificates, in PEM, that the servers of the log are verified with; by default those of the system' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand config" -l log-cert -d 'The certificate, in PEM, that is shown to servers of the log that ask for one' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand config" -l log-key -d 'The private key of --log-cert, in PEM without a passphrase' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand config" -l log-credentials -d 'The password for PostgreSQL, alone in its file, or the credentials for NATS' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand config" -l node -d 'The name of this node among all of them; by default that of the host' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand config" -l archive -d 'The folder that this node archives the log into, one for each node: with a backup, `deskfleet cluster restore` makes the store of any later time from it' -r -f -a "(__fish_complete_directories)"
complete -c deskfleet -n "__fish_deskfleet_using_subcommand config" -l join -d 'Another node, such as `http://node-2:8080`, whose store is copied where there is none here, or the log no longer has what this one lacks' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand config" -l join-key-file -d 'The file with an admin key of the fleet, for --join' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand config" -l join-ca -d 'The CAs that may have signed the certificate of the node of --join, in PEM; by default those of the system' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand config" -l join-cert -d 'The certificate, in PEM, that is shown to the node of --join where it asks for one' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand config" -l join-key -d 'The private key of --join-cert, in PEM without a passphrase' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand config" -l memory -d 'Keep everything in memory; it is gone at the end'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand config" -l quiet -d 'No access log'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand config" -l proxied -d 'A proxy adds the source of each request as the last address in X-Forwarded-For; only where nobody can bypass the proxy'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand config" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand import" -l url -d 'Use the server that runs at this address, such as `http://127.0.0.1:8080`, instead of a file' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand import" -l key-file -d 'The file with the API key for --url; by default the key is that of the environment variable `DESKFLEET_KEY`' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand import" -l ca -d 'The CAs that may have signed the server\'s certificate, in PEM; by default those of the system. TLS is only in a deskfleet that was built with the feature `tls`' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand import" -l client-cert -d 'The certificate to show to a server that asks for one, in PEM' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand import" -l client-key -d 'The private key of --client-cert, in PEM without a passphrase' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand import" -l data -d 'The file of the store; by default deskfleet.redb' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand import" -l config -d 'The file with the settings, as `deskfleet config` prints them; by default deskfleet.toml, if there is one' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand import" -l set -d 'Sets one setting, such as `limits.queue_records=50000`; may be repeated' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand import" -l create -d 'Make the store where there is none'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand import" -l dry-run -d 'Write nothing, and report what would be done and which name means which field'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand export" -l from -d 'Records of this time or later: a date-time, or a time before now such as `-24h`; not for workspaces. For parquet the days of UTC in which this and `--to` lie are exported whole' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand export" -l to -d 'Records before this time, in the same forms; not for workspaces' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand export" -l instance -d 'Telemetry of this instance alone: the workspace id or computer name that the records name, exactly; not for parquet' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand export" -l format -d 'How to write it' -r -f -a "ndjson\t'One JSON object a line'
csv\t'A line with the names of the fields, then a line for each row; null is an empty cell'
parquet\t'Apache Parquet: `day=2026-11-20/stats.parquet` for each day. Only in a deskfleet that was built with the feature `parquet`'"
complete -c deskfleet -n "__fish_deskfleet_using_subcommand export" -l output -d 'The file to write, in place of one that is there; - and the default are standard output. For parquet the folder' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand export" -l url -d 'Use the server that runs at this address, such as `http://127.0.0.1:8080`, instead of a file' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand export" -l key-file -d 'The file with the API key for --url; by default the key is that of the environment variable `DESKFLEET_KEY`' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand export" -l ca -d 'The CAs that may have signed the server\'s certificate, in PEM; by default those of the system. TLS is only in a deskfleet that was built with the feature `tls`' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand export" -l client-cert -d 'The certificate to show to a server that asks for one, in PEM' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand export" -l client-key -d 'The private key of --client-cert, in PEM without a passphrase' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand export" -l data -d 'The file of the store; by default deskfleet.redb' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand export" -l config -d 'The file with the settings, as `deskfleet config` prints them; by default deskfleet.toml, if there is one' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand export" -l set -d 'Sets one setting, such as `limits.queue_records=50000`; may be repeated' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and not __fish_seen_subcommand_from issue list revoke" -s h -l help -d 'Print help'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and not __fish_seen_subcommand_from issue list revoke" -f -a "issue" -d 'Issues a key and prints it; it cannot be shown again'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and not __fish_seen_subcommand_from issue list revoke" -f -a "list" -d 'Prints all keys, one JSON object a line, without secrets'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and not __fish_seen_subcommand_from issue list revoke" -f -a "revoke" -d 'Ends a key'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from issue" -l name -d 'For people and the audit' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from issue" -l for -d 'The task that the key is for' -r -f -a "helpdesk\t'Reads, and starts Reboot, `RecoveryReboot` and Start'
operator\t'Reads, reads the audit, and starts all actions, 20 destructive ones in an hour'
auditor\t'Reads the audit and the holds, and nothing else'
agent\t'Posts telemetry, and reads nothing'
collector\t'Reads: for Prometheus, Grafana and reports'
provider\t'Carries out actions and imports workspaces: for deskfleet-provider'"
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from issue" -l scope -d 'read, act, admin (includes both, and audit), ingest or audit; may be repeated' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from issue" -l action -d 'An action that the key may start, such as Reboot; may be repeated; by default all' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from issue" -l region -d 'The region of the workspaces on which it may start actions: a value, in.A,B or ne.A' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from issue" -l directory -d 'The directory of these workspaces, likewise' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from issue" -l destructive-per-hour -d 'How many of Rebuild, Restore, Terminate and Remove it may start in an hour' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from issue" -l expires -d 'Such as 2027-01-31 or 2027-01-31T12:00:00Z; by default the key does not expire' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from issue" -l url -d 'Use the server that runs at this address, such as `http://127.0.0.1:8080`, instead of a file' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from issue" -l key-file -d 'The file with the API key for --url; by default the key is that of the environment variable `DESKFLEET_KEY`' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from issue" -l ca -d 'The CAs that may have signed the server\'s certificate, in PEM; by default those of the system. TLS is only in a deskfleet that was built with the feature `tls`' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from issue" -l client-cert -d 'The certificate to show to a server that asks for one, in PEM' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from issue" -l client-key -d 'The private key of --client-cert, in PEM without a passphrase' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from issue" -l data -d 'The file of the store; by default deskfleet.redb' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from issue" -l config -d 'The file with the settings, as `deskfleet config` prints them; by default deskfleet.toml, if there is one' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from issue" -l set -d 'Sets one setting, such as `limits.queue_records=50000`; may be repeated' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from issue" -l create -d 'Make the store where there is none'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from issue" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from list" -l url -d 'Use the server that runs at this address, such as `http://127.0.0.1:8080`, instead of a file' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from list" -l key-file -d 'The file with the API key for --url; by default the key is that of the environment variable `DESKFLEET_KEY`' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from list" -l ca -d 'The CAs that may have signed the server\'s certificate, in PEM; by default those of the system. TLS is only in a deskfleet that was built with the feature `tls`' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from list" -l client-cert -d 'The certificate to show to a server that asks for one, in PEM' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from list" -l client-key -d 'The private key of --client-cert, in PEM without a passphrase' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from list" -l data -d 'The file of the store; by default deskfleet.redb' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from list" -l config -d 'The file with the settings, as `deskfleet config` prints them; by default deskfleet.toml, if there is one' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from list" -l set -d 'Sets one setting, such as `limits.queue_records=50000`; may be repeated' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from revoke" -l url -d 'Use the server that runs at this address, such as `http://127.0.0.1:8080`, instead of a file' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from revoke" -l key-file -d 'The file with the API key for --url; by default the key is that of the environment variable `DESKFLEET_KEY`' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from revoke" -l ca -d 'The CAs that may have signed the server\'s certificate, in PEM; by default those of the system. TLS is only in a deskfleet that was built with the feature `tls`' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from revoke" -l client-cert -d 'The certificate to show to a server that asks for one, in PEM' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from revoke" -l client-key -d 'The private key of --client-cert, in PEM without a passphrase' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from revoke" -l data -d 'The file of the store; by default deskfleet.redb' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from revoke" -l config -d 'The file with the settings, as `deskfleet config` prints them; by default deskfleet.toml, if there is one' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from revoke" -l set -d 'Sets one setting, such as `limits.queue_records=50000`; may be repeated' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from revoke" -l force -d 'Even the last key of the scope admin'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand keys; and __fish_seen_subcommand_from revoke" -s h -l help -d 'Print help'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand status" -l url -d 'Use the server that runs at this address, such as `http://127.0.0.1:8080`, instead of a file' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand status" -l key-file -d 'The file with the API key for --url; by default the key is that of the environment variable `DESKFLEET_KEY`' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand status" -l ca -d 'The CAs that may have signed the server\'s certificate, in PEM; by default those of the system. TLS is only in a deskfleet that was built with the feature `tls`' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand status" -l client-cert -d 'The certificate to show to a server that asks for one, in PEM' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand status" -l client-key -d 'The private key of --client-cert, in PEM without a passphrase' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand status" -l data -d 'The file of the store; by default deskfleet.redb' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand status" -l config -d 'The file with the settings, as `deskfleet config` prints them; by default deskfleet.toml, if there is one' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand status" -l set -d 'Sets one setting, such as `limits.queue_records=50000`; may be repeated' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand telemetry; and not __fish_seen_subcommand_from remove" -s h -l help -d 'Print help'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand telemetry; and not __fish_seen_subcommand_from remove" -f -a "remove" -d 'Removes telemetry, from a store or through a running server'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand telemetry; and __fish_seen_subcommand_from remove" -l instance -d 'Records of this instance: the workspace id or computer name that they name, in any case and spelling' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand telemetry; and __fish_seen_subcommand_from remove" -l stream -d 'Records of this stream: stats, activity, startup or processes' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand telemetry; and __fish_seen_subcommand_from remove" -l before -d 'Records whose day (UTC) is before that of this time: a date-time, or a time before now such as `-30d`. The day of a record is that of the time it carries, or of its receipt where it carries none that is believed' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand telemetry; and __fish_seen_subcommand_from remove" -l url -d 'Use the server that runs at this address, such as `http://127.0.0.1:8080`, instead of a file' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand telemetry; and __fish_seen_subcommand_from remove" -l key-file -d 'The file with the API key for --url; by default the key is that of the environment variable `DESKFLEET_KEY`' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand telemetry; and __fish_seen_subcommand_from remove" -l ca -d 'The CAs that may have signed the server\'s certificate, in PEM; by default those of the system. TLS is only in a deskfleet that was built with the feature `tls`' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand telemetry; and __fish_seen_subcommand_from remove" -l client-cert -d 'The certificate to show to a server that asks for one, in PEM' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand telemetry; and __fish_seen_subcommand_from remove" -l client-key -d 'The private key of --client-cert, in PEM without a passphrase' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand telemetry; and __fish_seen_subcommand_from remove" -l data -d 'The file of the store; by default deskfleet.redb' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand telemetry; and __fish_seen_subcommand_from remove" -l config -d 'The file with the settings, as `deskfleet config` prints them; by default deskfleet.toml, if there is one' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand telemetry; and __fish_seen_subcommand_from remove" -l set -d 'Sets one setting, such as `limits.queue_records=50000`; may be repeated' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand telemetry; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and not __fish_seen_subcommand_from leave restore status doctor settings finalize forget" -s h -l help -d 'Print help'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and not __fish_seen_subcommand_from leave restore status doctor settings finalize forget" -f -a "leave" -d 'Makes the file of a node, or a copy of it, a store of its own that is served without a log'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and not __fish_seen_subcommand_from leave restore status doctor settings finalize forget" -f -a "restore" -d 'Makes the file of a node from an archive of the log, as of a time'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and not __fish_seen_subcommand_from leave restore status doctor settings finalize forget" -f -a "status" -d 'Prints the nodes of a fleet, how far each is, and what is wrong'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and not __fish_seen_subcommand_from leave restore status doctor settings finalize forget" -f -a "doctor" -d 'Prints what is wrong with a fleet, with the commands to type'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and not __fish_seen_subcommand_from leave restore status doctor settings finalize forget" -f -a "settings" -d 'Prints the settings that hold on all nodes of a fleet, or changes some'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and not __fish_seen_subcommand_from leave restore status doctor settings finalize forget" -f -a "finalize" -d 'Ends an upgrade: all nodes write by the newest rules from here on'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and not __fish_seen_subcommand_from leave restore status doctor settings finalize forget" -f -a "forget" -d 'Takes a node that is gone for good off the list'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from leave" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from restore" -l archive -d 'The folder with the archive, or a copy of it' -r -f -a "(__fish_complete_directories)"
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from restore" -l from -d 'A backup of a node, to begin with' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from restore" -l until -d 'The time of the last entry that is applied, such as 2026-11-29T09:59:00Z or -1h; by default all are' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from restore" -l data -d 'The file to make' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from restore" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from status" -l url -d 'The address of a node of the fleet, such as `http://127.0.0.1:8080`' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from status" -l key-file -d 'The file with the API key for --url; by default the key is that of the environment variable `DESKFLEET_KEY`' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from status" -l ca -d 'The CAs that may have signed the server\'s certificate, in PEM; by default those of the system. TLS is only in a deskfleet that was built with the feature `tls`' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from status" -l client-cert -d 'The certificate to show to a server that asks for one, in PEM' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from status" -l client-key -d 'The private key of --client-cert, in PEM without a passphrase' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from status" -l json -d 'The answer of the server, as one line of JSON'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from doctor" -l url -d 'The address of a node of the fleet, such as `http://127.0.0.1:8080`' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from doctor" -l key-file -d 'The file with the API key for --url; by default the key is that of the environment variable `DESKFLEET_KEY`' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from doctor" -l ca -d 'The CAs that may have signed the server\'s certificate, in PEM; by default those of the system. TLS is only in a deskfleet that was built with the feature `tls`' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from doctor" -l client-cert -d 'The certificate to show to a server that asks for one, in PEM' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from doctor" -l client-key -d 'The private key of --client-cert, in PEM without a passphrase' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from settings" -l url -d 'The address of a node of the fleet, such as `http://127.0.0.1:8080`' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from settings" -l key-file -d 'The file with the API key for --url; by default the key is that of the environment variable `DESKFLEET_KEY`' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from settings" -l ca -d 'The CAs that may have signed the server\'s certificate, in PEM; by default those of the system. TLS is only in a deskfleet that was built with the feature `tls`' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from settings" -l client-cert -d 'The certificate to show to a server that asks for one, in PEM' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from settings" -l client-key -d 'The private key of --client-cert, in PEM without a passphrase' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from settings" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from finalize" -l url -d 'The address of a node of the fleet, such as `http://127.0.0.1:8080`' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from finalize" -l key-file -d 'The file with the API key for --url; by default the key is that of the environment variable `DESKFLEET_KEY`' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from finalize" -l ca -d 'The CAs that may have signed the server\'s certificate, in PEM; by default those of the system. TLS is only in a deskfleet that was built with the feature `tls`' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from finalize" -l client-cert -d 'The certificate to show to a server that asks for one, in PEM' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from finalize" -l client-key -d 'The private key of --client-cert, in PEM without a passphrase' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from finalize" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from forget" -l url -d 'The address of a node of the fleet, such as `http://127.0.0.1:8080`' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from forget" -l key-file -d 'The file with the API key for --url; by default the key is that of the environment variable `DESKFLEET_KEY`' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from forget" -l ca -d 'The CAs that may have signed the server\'s certificate, in PEM; by default those of the system. TLS is only in a deskfleet that was built with the feature `tls`' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from forget" -l client-cert -d 'The certificate to show to a server that asks for one, in PEM' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from forget" -l client-key -d 'The private key of --client-cert, in PEM without a passphrase' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand cluster; and __fish_seen_subcommand_from forget" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand check" -l data -d 'The file of the store; by default deskfleet.redb' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand check" -l config -d 'The file with the settings, as `deskfleet config` prints them; by default deskfleet.toml, if there is one' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand check" -l set -d 'Sets one setting, such as `limits.queue_records=50000`; may be repeated' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand check" -s h -l help -d 'Print help'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand backup" -l data -d 'The file of the store; by default deskfleet.redb' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand backup" -l config -d 'The file with the settings, as `deskfleet config` prints them; by default deskfleet.toml, if there is one' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand backup" -l set -d 'Sets one setting, such as `limits.queue_records=50000`; may be repeated' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand backup" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand restore" -l data -d 'The file of the store; by default deskfleet.redb' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand restore" -l config -d 'The file with the settings, as `deskfleet config` prints them; by default deskfleet.toml, if there is one' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand restore" -l set -d 'Sets one setting, such as `limits.queue_records=50000`; may be repeated' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand restore" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand compact" -l data -d 'The file of the store; by default deskfleet.redb' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand compact" -l config -d 'The file with the settings, as `deskfleet config` prints them; by default deskfleet.toml, if there is one' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand compact" -l set -d 'Sets one setting, such as `limits.queue_records=50000`; may be repeated' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand compact" -s h -l help -d 'Print help'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand double" -l rules -d 'The faults: a JSON file with a rule, or a list of rules' -r -F
complete -c deskfleet -n "__fish_deskfleet_using_subcommand double" -l listen -d 'Address and port; port 0 takes a free one' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand double" -l desktops -d 'Begin with `N` desktops, `ws-000000001` of `user1` and so on' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand double" -l seed -d 'The source of keys and trace ids: the same number and requests give the same bytes' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand double" -l clock -d 'The time at which the clock begins and stands [default: 2026-01-01T00:00:00Z]' -r
complete -c deskfleet -n "__fish_deskfleet_using_subcommand double" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand completions" -s h -l help -d 'Print help'
complete -c deskfleet -n "__fish_deskfleet_using_subcommand man" -s h -l help -d 'Print help'
