
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'deskfleet-provider' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'deskfleet-provider'
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
        'deskfleet-provider' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('aws', 'aws', [CompletionResultType]::ParameterValue, 'Calls Amazon WorkSpaces, and keeps the inventory as it is there')
            [CompletionResult]::new('command', 'command', [CompletionResultType]::ParameterValue, 'Runs a program for each action')
            [CompletionResult]::new('webhook', 'webhook', [CompletionResultType]::ParameterValue, 'Posts each action to a web service, signed as Standard Webhooks says')
            break
        }
        'deskfleet-provider;aws' {
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Address of the deskfleet server')
            [CompletionResult]::new('--key-file', '--key-file', [CompletionResultType]::ParameterName, 'File with an API key of the server, of the scope admin')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'PEM file with the CAs that are trusted, in place of those of the system')
            [CompletionResult]::new('--name', '--name', [CompletionResultType]::ParameterName, 'Name in the outbox and the audit; by default that of the subcommand, with the region and the account of aws')
            [CompletionResult]::new('--lease', '--lease', [CompletionResultType]::ParameterName, 'How long another process of this name waits for this one, where it is gone without a word')
            [CompletionResult]::new('--max-destructive', '--max-destructive', [CompletionResultType]::ParameterName, 'Most actions that destroy (Rebuild, Restore, Terminate) begun in an hour')
            [CompletionResult]::new('--parallel', '--parallel', [CompletionResultType]::ParameterName, 'Calls at once')
            [CompletionResult]::new('--every', '--every', [CompletionResultType]::ParameterName, 'Time between two looks at the outbox')
            [CompletionResult]::new('--settle', '--settle', [CompletionResultType]::ParameterName, 'The least time between a call and the end of its action, where the cloud was not seen at it')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Serves /livez and /metrics at this address')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'TOML file with options, in a table [provider] by their long names')
            [CompletionResult]::new('--region', '--region', [CompletionResultType]::ParameterName, 'The region; by default that of the environment or of the profile')
            [CompletionResult]::new('--account', '--account', [CompletionResultType]::ParameterName, 'What the inventory calls the account: records of another one are left alone')
            [CompletionResult]::new('--endpoint', '--endpoint', [CompletionResultType]::ParameterName, 'An endpoint in place of that of the region')
            [CompletionResult]::new('--endpoint-ca', '--endpoint-ca', [CompletionResultType]::ParameterName, 'PEM file with the CAs that are trusted for the endpoint')
            [CompletionResult]::new('--rate', '--rate', [CompletionResultType]::ParameterName, 'Calls a second')
            [CompletionResult]::new('--burst', '--burst', [CompletionResultType]::ParameterName, 'Calls at once after a pause')
            [CompletionResult]::new('--scan-every', '--scan-every', [CompletionResultType]::ParameterName, 'Time between two scans of the whole inventory, and up to half as much again')
            [CompletionResult]::new('--apply', '--apply', [CompletionResultType]::ParameterName, 'Carries the actions out; without it they are only printed')
            [CompletionResult]::new('--switch-running-mode', '--switch-running-mode', [CompletionResultType]::ParameterName, 'Lets a recovery reboot switch the running mode of a desktop that is always on, and back')
            [CompletionResult]::new('--no-sync', '--no-sync', [CompletionResultType]::ParameterName, 'Carries actions out and leaves the inventory alone')
            [CompletionResult]::new('--inventory-only', '--inventory-only', [CompletionResultType]::ParameterName, 'Keeps the inventory as it is there, and does nothing else')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'deskfleet-provider;command' {
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Address of the deskfleet server')
            [CompletionResult]::new('--key-file', '--key-file', [CompletionResultType]::ParameterName, 'File with an API key of the server, of the scope admin')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'PEM file with the CAs that are trusted, in place of those of the system')
            [CompletionResult]::new('--name', '--name', [CompletionResultType]::ParameterName, 'Name in the outbox and the audit; by default that of the subcommand, with the region and the account of aws')
            [CompletionResult]::new('--lease', '--lease', [CompletionResultType]::ParameterName, 'How long another process of this name waits for this one, where it is gone without a word')
            [CompletionResult]::new('--max-destructive', '--max-destructive', [CompletionResultType]::ParameterName, 'Most actions that destroy (Rebuild, Restore, Terminate) begun in an hour')
            [CompletionResult]::new('--parallel', '--parallel', [CompletionResultType]::ParameterName, 'Calls at once')
            [CompletionResult]::new('--every', '--every', [CompletionResultType]::ParameterName, 'Time between two looks at the outbox')
            [CompletionResult]::new('--settle', '--settle', [CompletionResultType]::ParameterName, 'The least time between a call and the end of its action, where the cloud was not seen at it')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Serves /livez and /metrics at this address')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'TOML file with options, in a table [provider] by their long names')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long the program may run; then it is killed')
            [CompletionResult]::new('--apply', '--apply', [CompletionResultType]::ParameterName, 'Carries the actions out; without it they are only printed')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'deskfleet-provider;webhook' {
            [CompletionResult]::new('--url', '--url', [CompletionResultType]::ParameterName, 'Address of the deskfleet server')
            [CompletionResult]::new('--key-file', '--key-file', [CompletionResultType]::ParameterName, 'File with an API key of the server, of the scope admin')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'PEM file with the CAs that are trusted, in place of those of the system')
            [CompletionResult]::new('--name', '--name', [CompletionResultType]::ParameterName, 'Name in the outbox and the audit; by default that of the subcommand, with the region and the account of aws')
            [CompletionResult]::new('--lease', '--lease', [CompletionResultType]::ParameterName, 'How long another process of this name waits for this one, where it is gone without a word')
            [CompletionResult]::new('--max-destructive', '--max-destructive', [CompletionResultType]::ParameterName, 'Most actions that destroy (Rebuild, Restore, Terminate) begun in an hour')
            [CompletionResult]::new('--parallel', '--parallel', [CompletionResultType]::ParameterName, 'Calls at once')
            [CompletionResult]::new('--every', '--every', [CompletionResultType]::ParameterName, 'Time between two looks at the outbox')
            [CompletionResult]::new('--settle', '--settle', [CompletionResultType]::ParameterName, 'The least time between a call and the end of its action, where the cloud was not seen at it')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Serves /livez and /metrics at this address')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'TOML file with options, in a table [provider] by their long names')
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'Where to post to: an address of http or https')
            [CompletionResult]::new('--secret-file', '--secret-file', [CompletionResultType]::ParameterName, 'File with the secret: whsec_ and the base64 of 24 to 64 random bytes')
            [CompletionResult]::new('--fleet', '--fleet', [CompletionResultType]::ParameterName, 'Name of the fleet, which makes the numbers of its actions unique')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long an answer may take')
            [CompletionResult]::new('--apply', '--apply', [CompletionResultType]::ParameterName, 'Carries the actions out; without it they are only printed')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
