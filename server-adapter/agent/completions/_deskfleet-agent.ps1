
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'deskfleet-agent' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'deskfleet-agent'
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
        'deskfleet-agent' {
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Address of the server, such as https://fleet.example.com')
            [CompletionResult]::new('--key-file', '--key-file', [CompletionResultType]::ParameterName, 'File with an API key of the scope ingest; by default the key is that of the environment variable DESKFLEET_KEY')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'The CAs that may have signed the server''s certificate, in PEM; by default those of the system')
            [CompletionResult]::new('--instance', '--instance', [CompletionResultType]::ParameterName, 'The workSpId or computer name of this desktop in the inventory; by default the computer name')
            [CompletionResult]::new('--spool', '--spool', [CompletionResultType]::ParameterName, 'Folder for pending records; by default that of the environment variable STATE_DIRECTORY, which systemd sets, else deskfleet-agent.spool')
            [CompletionResult]::new('--spool-bytes', '--spool-bytes', [CompletionResultType]::ParameterName, 'Bytes of the spool; above it the oldest records are dropped. By default 16 MiB, about three weeks')
            [CompletionResult]::new('--stats-every', '--stats-every', [CompletionResultType]::ParameterName, 'Time between two records of the load; by default 5m')
            [CompletionResult]::new('--processes-every', '--processes-every', [CompletionResultType]::ParameterName, 'Time between two reports of the processes; by default 15m')
            [CompletionResult]::new('--compute-type', '--compute-type', [CompletionResultType]::ParameterName, 'The compute type in each record, such as STANDARD; by default none')
            [CompletionResult]::new('--tenant', '--tenant', [CompletionResultType]::ParameterName, 'The tenant in records of the load and of activity; by default none')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'TOML file with settings; by default deskfleet-agent.toml, if there is one')
            [CompletionResult]::new('--once', '--once', [CompletionResultType]::ParameterName, 'Measure once, send that and all pending records, and end')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'With --once: print what would be sent, and send nothing')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('report', 'report', [CompletionResultType]::ParameterValue, 'Reports what a script knows, through the running agent')
            [CompletionResult]::new('swarm', 'swarm', [CompletionResultType]::ParameterValue, 'Sends what many synthetic desktops measure, for sizing a server')
            break
        }
        'deskfleet-agent;report' {
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user; by default that of the environment variables PAM_USER, USERNAME or USER')
            [CompletionResult]::new('--profile-ms', '--profile-ms', [CompletionResultType]::ParameterName, 'Time to load the profile')
            [CompletionResult]::new('--group-policy-ms', '--group-policy-ms', [CompletionResultType]::ParameterName, 'Time to apply group policy')
            [CompletionResult]::new('--shell-ms', '--shell-ms', [CompletionResultType]::ParameterName, 'Time to start the shell')
            [CompletionResult]::new('--total-ms', '--total-ms', [CompletionResultType]::ParameterName, 'Time of the whole logon; by default the sum of the others')
            [CompletionResult]::new('--instance', '--instance', [CompletionResultType]::ParameterName, 'The workSpId or computer name of this desktop in the inventory; by default the computer name')
            [CompletionResult]::new('--spool', '--spool', [CompletionResultType]::ParameterName, 'Folder for pending records; by default that of the environment variable STATE_DIRECTORY, which systemd sets, else deskfleet-agent.spool')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'TOML file with settings; by default deskfleet-agent.toml, if there is one')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'deskfleet-agent;swarm' {
            [CompletionResult]::new('--agents', '--agents', [CompletionResultType]::ParameterName, 'Agents')
            [CompletionResult]::new('--minutes', '--minutes', [CompletionResultType]::ParameterName, 'Minutes in which they measure; then they send what is pending, for 10 minutes at most')
            [CompletionResult]::new('--backlog-days', '--backlog-days', [CompletionResultType]::ParameterName, 'Days for which each was offline at the start, and has kept its records')
            [CompletionResult]::new('--connections', '--connections', [CompletionResultType]::ParameterName, 'Agents that send at once')
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Address of the server, such as https://fleet.example.com')
            [CompletionResult]::new('--key-file', '--key-file', [CompletionResultType]::ParameterName, 'File with an API key of the scope ingest; by default the key is that of the environment variable DESKFLEET_KEY')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'The CAs that may have signed the server''s certificate, in PEM; by default those of the system')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'TOML file with settings; by default deskfleet-agent.toml, if there is one')
            [CompletionResult]::new('--inventory', '--inventory', [CompletionResultType]::ParameterName, 'Print the desktops for an import, and send nothing')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
