
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'deskfleet' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'deskfleet'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'deskfleet' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('serve', 'serve', [CompletionResultType]::ParameterValue, 'Serves a store over HTTP')
            [CompletionResult]::new('config', 'config', [CompletionResultType]::ParameterValue, 'Prints the settings in force, where each comes from, and what it takes')
            [CompletionResult]::new('import', 'import', [CompletionResultType]::ParameterValue, 'Creates and changes workspaces from a file')
            [CompletionResult]::new('export', 'export', [CompletionResultType]::ParameterValue, 'Writes telemetry, the workspaces or the audit of a store or of a running server')
            [CompletionResult]::new('keys', 'keys', [CompletionResultType]::ParameterValue, 'Issues, lists and revokes API keys')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'Prints what is wrong now, the worst first')
            [CompletionResult]::new('telemetry', 'telemetry', [CompletionResultType]::ParameterValue, 'Removes telemetry')
            [CompletionResult]::new('cluster', 'cluster', [CompletionResultType]::ParameterValue, 'Looks after the nodes of a fleet')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Reads the whole store and reports what is wrong with it')
            [CompletionResult]::new('backup', 'backup', [CompletionResultType]::ParameterValue, 'Writes a consistent copy of the store to a new file')
            [CompletionResult]::new('restore', 'restore', [CompletionResultType]::ParameterValue, 'Puts a copy in the place of the store, and keeps the old one under a name with the time')
            [CompletionResult]::new('compact', 'compact', [CompletionResultType]::ParameterValue, 'Gives unused pages of the store''s file back to the file system')
            [CompletionResult]::new('double', 'double', [CompletionResultType]::ParameterValue, 'Serves a test double of the service in memory, with faults')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Prints the completions of a shell')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Prints the manual page')
            break
        }
        'deskfleet;serve' {
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'The file of the store; by default deskfleet.redb')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The file with the settings, as `deskfleet config` prints them; by default deskfleet.toml, if there is one')
            [CompletionResult]::new('--set', '--set', [CompletionResultType]::ParameterName, 'Sets one setting, such as `limits.queue_records=50000`; may be repeated')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Address and port; by default 127.0.0.1:8080. One that other machines can reach needs a key in the store first')
            [CompletionResult]::new('--host', '--host', [CompletionResultType]::ParameterName, 'Accept this host name; may be repeated. Without it a loopback address accepts no name but localhost, others any')
            [CompletionResult]::new('--tls-cert', '--tls-cert', [CompletionResultType]::ParameterName, 'Speak TLS with this certificate: a PEM file, the certificate of the server first, then those that signed it. SIGHUP reads it again. Only in a deskfleet that was built with the feature `tls`')
            [CompletionResult]::new('--tls-key', '--tls-key', [CompletionResultType]::ParameterName, 'The private key of the certificate: a PEM file without a passphrase')
            [CompletionResult]::new('--client-ca', '--client-ca', [CompletionResultType]::ParameterName, 'Accept only clients with a certificate of a CA in this PEM file, beside their API keys')
            [CompletionResult]::new('--backups', '--backups', [CompletionResultType]::ParameterName, 'On SIGUSR1 and POST /operator/backups write a consistent copy of the store into this folder, named after the time; requests are served meanwhile')
            [CompletionResult]::new('--connections', '--connections', [CompletionResultType]::ParameterName, 'Connections at once; by default as many as files may be open, 12288 at most')
            [CompletionResult]::new('--connections-per-source', '--connections-per-source', [CompletionResultType]::ParameterName, 'Of them from one address, or from one IPv6 network of 64 bits; by default half. With --proxied: requests at once from one source, at most a quarter of `server.connections_served`')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'The log that several nodes share, such as `postgres://fleet@db.example.com/fleet` or `nats://n1.example.com`: each serves the same fleet. Other users of the machine can read a password here; put it into --log-credentials')
            [CompletionResult]::new('--log-ca', '--log-ca', [CompletionResultType]::ParameterName, 'The certificates, in PEM, that the servers of the log are verified with; by default those of the system')
            [CompletionResult]::new('--log-cert', '--log-cert', [CompletionResultType]::ParameterName, 'The certificate, in PEM, that is shown to servers of the log that ask for one')
            [CompletionResult]::new('--log-key', '--log-key', [CompletionResultType]::ParameterName, 'The private key of --log-cert, in PEM without a passphrase')
            [CompletionResult]::new('--log-credentials', '--log-credentials', [CompletionResultType]::ParameterName, 'The password for PostgreSQL, alone in its file, or the credentials for NATS')
            [CompletionResult]::new('--node', '--node', [CompletionResultType]::ParameterName, 'The name of this node among all of them; by default that of the host')
            [CompletionResult]::new('--archive', '--archive', [CompletionResultType]::ParameterName, 'The folder that this node archives the log into, one for each node: with a backup, `deskfleet cluster restore` makes the store of any later time from it')
            [CompletionResult]::new('--join', '--join', [CompletionResultType]::ParameterName, 'Another node, such as `http://node-2:8080`, whose store is copied where there is none here, or the log no longer has what this one lacks')
            [CompletionResult]::new('--join-key-file', '--join-key-file', [CompletionResultType]::ParameterName, 'The file with an admin key of the fleet, for --join')
            [CompletionResult]::new('--join-ca', '--join-ca', [CompletionResultType]::ParameterName, 'The CAs that may have signed the certificate of the node of --join, in PEM; by default those of the system')
            [CompletionResult]::new('--join-cert', '--join-cert', [CompletionResultType]::ParameterName, 'The certificate, in PEM, that is shown to the node of --join where it asks for one')
            [CompletionResult]::new('--join-key', '--join-key', [CompletionResultType]::ParameterName, 'The private key of --join-cert, in PEM without a passphrase')
            [CompletionResult]::new('--demo', '--demo', [CompletionResultType]::ParameterName, 'Load a demo fleet with telemetry into an empty store')
            [CompletionResult]::new('--memory', '--memory', [CompletionResultType]::ParameterName, 'Keep everything in memory; it is gone at the end')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No access log')
            [CompletionResult]::new('--proxied', '--proxied', [CompletionResultType]::ParameterName, 'A proxy adds the source of each request as the last address in X-Forwarded-For; only where nobody can bypass the proxy')
            [CompletionResult]::new('--configure-fleet', '--configure-fleet', [CompletionResultType]::ParameterName, 'Make the settings that all nodes share, `actions` and `retention_days`, those of this node')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'deskfleet;config' {
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'The file of the store; by default deskfleet.redb')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The file with the settings, as `deskfleet config` prints them; by default deskfleet.toml, if there is one')
            [CompletionResult]::new('--set', '--set', [CompletionResultType]::ParameterName, 'Sets one setting, such as `limits.queue_records=50000`; may be repeated')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Address and port; by default 127.0.0.1:8080. One that other machines can reach needs a key in the store first')
            [CompletionResult]::new('--host', '--host', [CompletionResultType]::ParameterName, 'Accept this host name; may be repeated. Without it a loopback address accepts no name but localhost, others any')
            [CompletionResult]::new('--tls-cert', '--tls-cert', [CompletionResultType]::ParameterName, 'Speak TLS with this certificate: a PEM file, the certificate of the server first, then those that signed it. SIGHUP reads it again. Only in a deskfleet that was built with the feature `tls`')
            [CompletionResult]::new('--tls-key', '--tls-key', [CompletionResultType]::ParameterName, 'The private key of the certificate: a PEM file without a passphrase')
            [CompletionResult]::new('--client-ca', '--client-ca', [CompletionResultType]::ParameterName, 'Accept only clients with a certificate of a CA in this PEM file, beside their API keys')
            [CompletionResult]::new('--backups', '--backups', [CompletionResultType]::ParameterName, 'On SIGUSR1 and POST /operator/backups write a consistent copy of the store into this folder, named after the time; requests are served meanwhile')
            [CompletionResult]::new('--connections', '--connections', [CompletionResultType]::ParameterName, 'Connections at once; by default as many as files may be open, 12288 at most')
            [CompletionResult]::new('--connections-per-source', '--connections-per-source', [CompletionResultType]::ParameterName, 'Of them from one address, or from one IPv6 network of 64 bits; by default half. With --proxied: requests at once from one source, at most a quarter of `server.connections_served`')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'The log that several nodes share, such as `postgres://fleet@db.example.com/fleet` or `nats://n1.example.com`: each serves the same fleet. Other users of the machine can read a password here; put it into --log-credentials')
            [CompletionResult]::new('--log-ca', '--log-ca', [CompletionResultType]::ParameterName, 'The certificates, in PEM, that the servers of the log are verified with; by default those of the system')
            [CompletionResult]::new('--log-cert', '--log-cert', [CompletionResultType]::ParameterName, 'The certificate, in PEM, that is shown to servers of the log that ask for one')
            [CompletionResult]::new('--log-key', '--log-key', [CompletionResultType]::ParameterName, 'The private key of --log-cert, in PEM without a passphrase')
            [CompletionResult]::new('--log-credentials', '--log-credentials', [CompletionResultType]::ParameterName, 'The password for PostgreSQL, alone in its file, or the credentials for NATS')
            [CompletionResult]::new('--node', '--node', [CompletionResultType]::ParameterName, 'The name of this node among all of them; by default that of the host')
            [CompletionResult]::new('--archive', '--archive', [CompletionResultType]::ParameterName, 'The folder that this node archives the log into, one for each node: with a backup, `deskfleet cluster restore` makes the store of any later time from it')
            [CompletionResult]::new('--join', '--join', [CompletionResultType]::ParameterName, 'Another node, such as `http://node-2:8080`, whose store is copied where there is none here, or the log no longer has what this one lacks')
            [CompletionResult]::new('--join-key-file', '--join-key-file', [CompletionResultType]::ParameterName, 'The file with an admin key of the fleet, for --join')
            [CompletionResult]::new('--join-ca', '--join-ca', [CompletionResultType]::ParameterName, 'The CAs that may have signed the certificate of the node of --join, in PEM; by default those of the system')
            [CompletionResult]::new('--join-cert', '--join-cert', [CompletionResultType]::ParameterName, 'The certificate, in PEM, that is shown to the node of --join where it asks for one')
            [CompletionResult]::new('--join-key', '--join-key', [CompletionResultType]::ParameterName, 'The private key of --join-cert, in PEM without a passphrase')
            [CompletionResult]::new('--memory', '--memory', [CompletionResultType]::ParameterName, 'Keep everything in memory; it is gone at the end')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'No access log')
            [CompletionResult]::new('--proxied', '--proxied', [CompletionResultType]::ParameterName, 'A proxy adds the source of each request as the last address in X-Forwarded-For; only where nobody can bypass the proxy')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'deskfleet;import' {
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Use the server that runs at this address, such as `http://127.0.0.1:8080`, instead of a file')
            [CompletionResult]::new('--key-file', '--key-file', [CompletionResultType]::ParameterName, 'The file with the API key for --url; by default the key is that of the environment variable `DESKFLEET_KEY`')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'The CAs that may have signed the server''s certificate, in PEM; by default those of the system. TLS is only in a deskfleet that was built with the feature `tls`')
            [CompletionResult]::new('--client-cert', '--client-cert', [CompletionResultType]::ParameterName, 'The certificate to show to a server that asks for one, in PEM')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'The private key of --client-cert, in PEM without a passphrase')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'The file of the store; by default deskfleet.redb')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The file with the settings, as `deskfleet config` prints them; by default deskfleet.toml, if there is one')
            [CompletionResult]::new('--set', '--set', [CompletionResultType]::ParameterName, 'Sets one setting, such as `limits.queue_records=50000`; may be repeated')
            [CompletionResult]::new('--create', '--create', [CompletionResultType]::ParameterName, 'Make the store where there is none')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Write nothing, and report what would be done and which name means which field')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'deskfleet;export' {
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Records of this time or later: a date-time, or a time before now such as `-24h`; not for workspaces. For parquet the days of UTC in which this and `--to` lie are exported whole')
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'Records before this time, in the same forms; not for workspaces')
            [CompletionResult]::new('--instance', '--instance', [CompletionResultType]::ParameterName, 'Telemetry of this instance alone: the workspace id or computer name that the records name, exactly; not for parquet')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to write it')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The file to write, in place of one that is there; - and the default are standard output. For parquet the folder')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Use the server that runs at this address, such as `http://127.0.0.1:8080`, instead of a file')
            [CompletionResult]::new('--key-file', '--key-file', [CompletionResultType]::ParameterName, 'The file with the API key for --url; by default the key is that of the environment variable `DESKFLEET_KEY`')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'The CAs that may have signed the server''s certificate, in PEM; by default those of the system. TLS is only in a deskfleet that was built with the feature `tls`')
            [CompletionResult]::new('--client-cert', '--client-cert', [CompletionResultType]::ParameterName, 'The certificate to show to a server that asks for one, in PEM')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'The private key of --client-cert, in PEM without a passphrase')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'The file of the store; by default deskfleet.redb')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The file with the settings, as `deskfleet config` prints them; by default deskfleet.toml, if there is one')
            [CompletionResult]::new('--set', '--set', [CompletionResultType]::ParameterName, 'Sets one setting, such as `limits.queue_records=50000`; may be repeated')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'deskfleet;keys' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('issue', 'issue', [CompletionResultType]::ParameterValue, 'Issues a key and prints it; it cannot be shown again')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Prints all keys, one JSON object a line, without secrets')
            [CompletionResult]::new('revoke', 'revoke', [CompletionResultType]::ParameterValue, 'Ends a key')
            break
        }
        'deskfleet;keys;issue' {
            [CompletionResult]::new('--name', '--name', [CompletionResultType]::ParameterName, 'For people and the audit')
            [CompletionResult]::new('--for', '--for', [CompletionResultType]::ParameterName, 'The task that the key is for')
            [CompletionResult]::new('--scope', '--scope', [CompletionResultType]::ParameterName, 'read, act, admin (includes both, and audit), ingest or audit; may be repeated')
            [CompletionResult]::new('--action', '--action', [CompletionResultType]::ParameterName, 'An action that the key may start, such as Reboot; may be repeated; by default all')
            [CompletionResult]::new('--region', '--region', [CompletionResultType]::ParameterName, 'The region of the workspaces on which it may start actions: a value, in.A,B or ne.A')
            [CompletionResult]::new('--directory', '--directory', [CompletionResultType]::ParameterName, 'The directory of these workspaces, likewise')
            [CompletionResult]::new('--destructive-per-hour', '--destructive-per-hour', [CompletionResultType]::ParameterName, 'How many of Rebuild, Restore, Terminate and Remove it may start in an hour')
            [CompletionResult]::new('--expires', '--expires', [CompletionResultType]::ParameterName, 'Such as 2027-01-31 or 2027-01-31T12:00:00Z; by default the key does not expire')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Use the server that runs at this address, such as `http://127.0.0.1:8080`, instead of a file')
            [CompletionResult]::new('--key-file', '--key-file', [CompletionResultType]::ParameterName, 'The file with the API key for --url; by default the key is that of the environment variable `DESKFLEET_KEY`')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'The CAs that may have signed the server''s certificate, in PEM; by default those of the system. TLS is only in a deskfleet that was built with the feature `tls`')
            [CompletionResult]::new('--client-cert', '--client-cert', [CompletionResultType]::ParameterName, 'The certificate to show to a server that asks for one, in PEM')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'The private key of --client-cert, in PEM without a passphrase')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'The file of the store; by default deskfleet.redb')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The file with the settings, as `deskfleet config` prints them; by default deskfleet.toml, if there is one')
            [CompletionResult]::new('--set', '--set', [CompletionResultType]::ParameterName, 'Sets one setting, such as `limits.queue_records=50000`; may be repeated')
            [CompletionResult]::new('--create', '--create', [CompletionResultType]::ParameterName, 'Make the store where there is none')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'deskfleet;keys;list' {
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Use the server that runs at this address, such as `http://127.0.0.1:8080`, instead of a file')
            [CompletionResult]::new('--key-file', '--key-file', [CompletionResultType]::ParameterName, 'The file with the API key for --url; by default the key is that of the environment variable `DESKFLEET_KEY`')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'The CAs that may have signed the server''s certificate, in PEM; by default those of the system. TLS is only in a deskfleet that was built with the feature `tls`')
            [CompletionResult]::new('--client-cert', '--client-cert', [CompletionResultType]::ParameterName, 'The certificate to show to a server that asks for one, in PEM')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'The private key of --client-cert, in PEM without a passphrase')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'The file of the store; by default deskfleet.redb')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The file with the settings, as `deskfleet config` prints them; by default deskfleet.toml, if there is one')
            [CompletionResult]::new('--set', '--set', [CompletionResultType]::ParameterName, 'Sets one setting, such as `limits.queue_records=50000`; may be repeated')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'deskfleet;keys;revoke' {
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Use the server that runs at this address, such as `http://127.0.0.1:8080`, instead of a file')
            [CompletionResult]::new('--key-file', '--key-file', [CompletionResultType]::ParameterName, 'The file with the API key for --url; by default the key is that of the environment variable `DESKFLEET_KEY`')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'The CAs that may have signed the server''s certificate, in PEM; by default those of the system. TLS is only in a deskfleet that was built with the feature `tls`')
            [CompletionResult]::new('--client-cert', '--client-cert', [CompletionResultType]::ParameterName, 'The certificate to show to a server that asks for one, in PEM')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'The private key of --client-cert, in PEM without a passphrase')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'The file of the store; by default deskfleet.redb')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The file with the settings, as `deskfleet config` prints them; by default deskfleet.toml, if there is one')
            [CompletionResult]::new('--set', '--set', [CompletionResultType]::ParameterName, 'Sets one setting, such as `limits.queue_records=50000`; may be repeated')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Even the last key of the scope admin')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'deskfleet;status' {
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Use the server that runs at this address, such as `http://127.0.0.1:8080`, instead of a file')
            [CompletionResult]::new('--key-file', '--key-file', [CompletionResultType]::ParameterName, 'The file with the API key for --url; by default the key is that of the environment variable `DESKFLEET_KEY`')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'The CAs that may have signed the server''s certificate, in PEM; by default those of the system. TLS is only in a deskfleet that was built with the feature `tls`')
            [CompletionResult]::new('--client-cert', '--client-cert', [CompletionResultType]::ParameterName, 'The certificate to show to a server that asks for one, in PEM')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'The private key of --client-cert, in PEM without a passphrase')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'The file of the store; by default deskfleet.redb')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The file with the settings, as `deskfleet config` prints them; by default deskfleet.toml, if there is one')
            [CompletionResult]::new('--set', '--set', [CompletionResultType]::ParameterName, 'Sets one setting, such as `limits.queue_records=50000`; may be repeated')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'deskfleet;telemetry' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Removes telemetry, from a store or through a running server')
            break
        }
        'deskfleet;telemetry;remove' {
            [CompletionResult]::new('--instance', '--instance', [CompletionResultType]::ParameterName, 'Records of this instance: the workspace id or computer name that they name, in any case and spelling')
            [CompletionResult]::new('--stream', '--stream', [CompletionResultType]::ParameterName, 'Records of this stream: stats, activity, startup or processes')
            [CompletionResult]::new('--before', '--before', [CompletionResultType]::ParameterName, 'Records whose day (UTC) is before that of this time: a date-time, or a time before now such as `-30d`. The day of a record is that of the time it carries, or of its receipt where it carries none that is believed')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Use the server that runs at this address, such as `http://127.0.0.1:8080`, instead of a file')
            [CompletionResult]::new('--key-file', '--key-file', [CompletionResultType]::ParameterName, 'The file with the API key for --url; by default the key is that of the environment variable `DESKFLEET_KEY`')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'The CAs that may have signed the server''s certificate, in PEM; by default those of the system. TLS is only in a deskfleet that was built with the feature `tls`')
            [CompletionResult]::new('--client-cert', '--client-cert', [CompletionResultType]::ParameterName, 'The certificate to show to a server that asks for one, in PEM')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'The private key of --client-cert, in PEM without a passphrase')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'The file of the store; by default deskfleet.redb')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The file with the settings, as `deskfleet config` prints them; by default deskfleet.toml, if there is one')
            [CompletionResult]::new('--set', '--set', [CompletionResultType]::ParameterName, 'Sets one setting, such as `limits.queue_records=50000`; may be repeated')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'deskfleet;cluster' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('leave', 'leave', [CompletionResultType]::ParameterValue, 'Makes the file of a node, or a copy of it, a store of its own that is served without a log')
            [CompletionResult]::new('restore', 'restore', [CompletionResultType]::ParameterValue, 'Makes the file of a node from an archive of the log, as of a time')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'Prints the nodes of a fleet, how far each is, and what is wrong')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'Prints what is wrong with a fleet, with the commands to type')
            [CompletionResult]::new('settings', 'settings', [CompletionResultType]::ParameterValue, 'Prints the settings that hold on all nodes of a fleet, or changes some')
            [CompletionResult]::new('finalize', 'finalize', [CompletionResultType]::ParameterValue, 'Ends an upgrade: all nodes write by the newest rules from here on')
            [CompletionResult]::new('forget', 'forget', [CompletionResultType]::ParameterValue, 'Takes a node that is gone for good off the list')
            break
        }
        'deskfleet;cluster;leave' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'deskfleet;cluster;restore' {
            [CompletionResult]::new('--archive', '--archive', [CompletionResultType]::ParameterName, 'The folder with the archive, or a copy of it')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'A backup of a node, to begin with')
            [CompletionResult]::new('--until', '--until', [CompletionResultType]::ParameterName, 'The time of the last entry that is applied, such as 2026-11-29T09:59:00Z or -1h; by default all are')
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'The file to make')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'deskfleet;cluster;status' {
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'The address of a node of the fleet, such as `http://127.0.0.1:8080`')
            [CompletionResult]::new('--key-file', '--key-file', [CompletionResultType]::ParameterName, 'The file with the API key for --url; by default the key is that of the environment variable `DESKFLEET_KEY`')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'The CAs that may have signed the server''s certificate, in PEM; by default those of the system. TLS is only in a deskfleet that was built with the feature `tls`')
            [CompletionResult]::new('--client-cert', '--client-cert', [CompletionResultType]::ParameterName, 'The certificate to show to a server that asks for one, in PEM')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'The private key of --client-cert, in PEM without a passphrase')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'The answer of the server, as one line of JSON')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'deskfleet;cluster;doctor' {
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'The address of a node of the fleet, such as `http://127.0.0.1:8080`')
            [CompletionResult]::new('--key-file', '--key-file', [CompletionResultType]::ParameterName, 'The file with the API key for --url; by default the key is that of the environment variable `DESKFLEET_KEY`')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'The CAs that may have signed the server''s certificate, in PEM; by default those of the system. TLS is only in a deskfleet that was built with the feature `tls`')
            [CompletionResult]::new('--client-cert', '--client-cert', [CompletionResultType]::ParameterName, 'The certificate to show to a server that asks for one, in PEM')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'The private key of --client-cert, in PEM without a passphrase')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'deskfleet;cluster;settings' {
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'The address of a node of the fleet, such as `http://127.0.0.1:8080`')
            [CompletionResult]::new('--key-file', '--key-file', [CompletionResultType]::ParameterName, 'The file with the API key for --url; by default the key is that of the environment variable `DESKFLEET_KEY`')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'The CAs that may have signed the server''s certificate, in PEM; by default those of the system. TLS is only in a deskfleet that was built with the feature `tls`')
            [CompletionResult]::new('--client-cert', '--client-cert', [CompletionResultType]::ParameterName, 'The certificate to show to a server that asks for one, in PEM')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'The private key of --client-cert, in PEM without a passphrase')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'deskfleet;cluster;finalize' {
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'The address of a node of the fleet, such as `http://127.0.0.1:8080`')
            [CompletionResult]::new('--key-file', '--key-file', [CompletionResultType]::ParameterName, 'The file with the API key for --url; by default the key is that of the environment variable `DESKFLEET_KEY`')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'The CAs that may have signed the server''s certificate, in PEM; by default those of the system. TLS is only in a deskfleet that was built with the feature `tls`')
            [CompletionResult]::new('--client-cert', '--client-cert', [CompletionResultType]::ParameterName, 'The certificate to show to a server that asks for one, in PEM')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'The private key of --client-cert, in PEM without a passphrase')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'deskfleet;cluster;forget' {
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'The address of a node of the fleet, such as `http://127.0.0.1:8080`')
            [CompletionResult]::new('--key-file', '--key-file', [CompletionResultType]::ParameterName, 'The file with the API key for --url; by default the key is that of the environment variable `DESKFLEET_KEY`')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'The CAs that may have signed the server''s certificate, in PEM; by default those of the system. TLS is only in a deskfleet that was built with the feature `tls`')
            [CompletionResult]::new('--client-cert', '--client-cert', [CompletionResultType]::ParameterName, 'The certificate to show to a server that asks for one, in PEM')
            [CompletionResult]::new('--client-key', '--client-key', [CompletionResultType]::ParameterName, 'The private key of --client-cert, in PEM without a passphrase')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'deskfleet;check' {
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'The file of the store; by default deskfleet.redb')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The file with the settings, as `deskfleet config` prints them; by default deskfleet.toml, if there is one')
            [CompletionResult]::new('--set', '--set', [CompletionResultType]::ParameterName, 'Sets one setting, such as `limits.queue_records=50000`; may be repeated')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'deskfleet;backup' {
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'The file of the store; by default deskfleet.redb')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The file with the settings, as `deskfleet config` prints them; by default deskfleet.toml, if there is one')
            [CompletionResult]::new('--set', '--set', [CompletionResultType]::ParameterName, 'Sets one setting, such as `limits.queue_records=50000`; may be repeated')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'deskfleet;restore' {
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'The file of the store; by default deskfleet.redb')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The file with the settings, as `deskfleet config` prints them; by default deskfleet.toml, if there is one')
            [CompletionResult]::new('--set', '--set', [CompletionResultType]::ParameterName, 'Sets one setting, such as `limits.queue_records=50000`; may be repeated')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'deskfleet;compact' {
            [CompletionResult]::new('--data', '--data', [CompletionResultType]::ParameterName, 'The file of the store; by default deskfleet.redb')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The file with the settings, as `deskfleet config` prints them; by default deskfleet.toml, if there is one')
            [CompletionResult]::new('--set', '--set', [CompletionResultType]::ParameterName, 'Sets one setting, such as `limits.queue_records=50000`; may be repeated')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'deskfleet;double' {
            [CompletionResult]::new('--rules', '--rules', [CompletionResultType]::ParameterName, 'The faults: a JSON file with a rule, or a list of rules')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Address and port; port 0 takes a free one')
            [CompletionResult]::new('--desktops', '--desktops', [CompletionResultType]::ParameterName, 'Begin with `N` desktops, `ws-000000001` of `user1` and so on')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'The source of keys and trace ids: the same number and requests give the same bytes')
            [CompletionResult]::new('--clock', '--clock', [CompletionResultType]::ParameterName, 'The time at which the clock begins and stands [default: 2026-01-01T00:00:00Z]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'deskfleet;completions' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'deskfleet;man' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
