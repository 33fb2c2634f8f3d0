# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_deskfleet_provider_global_optspecs
    string join \n h/help V/version
end

function __fish_deskfleet_provider_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_deskfleet_provider_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_deskfleet_provider_using_subcommand
    set -l cmd (__fish_deskfleet_provider_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c deskfleet-provider -n "__fish_deskfleet_provider_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskfleet-provider -n "__fish_deskfleet_provider_needs_command" -s V -l version -d 'Print version'
complete -c deskfleet-provider -n "__fish_deskfleet_provider_needs_command" -f -a "aws" -d 'Calls Amazon WorkSpaces, and keeps the inventory as it is there'
complete -c deskfleet-provider -n "__fish_deskfleet_provider_needs_command" -f -a "command" -d 'Runs a program for each action'
complete -c deskfleet-provider -n "__fish_deskfleet_provider_needs_command" -f -a "webhook" -d 'Posts each action to a web service, signed as Standard Webhooks says'
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand aws" -l url -d 'Address of the deskfleet server' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand aws" -l key-file -d 'File with an API key of the server, of the scope admin' -r -F
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand aws" -l ca -d 'PEM file with the CAs that are trusted, in place of those of the system' -r -F
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand aws" -l name -d 'Name in the outbox and the audit; by default that of the subcommand, with the region and the account of aws' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand aws" -l lease -d 'How long another process of this name waits for this one, where it is gone without a word' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand aws" -l max-destructive -d 'Most actions that destroy (Rebuild, Restore, Terminate) begun in an hour' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand aws" -l parallel -d 'Calls at once' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand aws" -l every -d 'Time between two looks at the outbox' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand aws" -l settle -d 'The least time between a call and the end of its action, where the cloud was not seen at it' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand aws" -l listen -d 'Serves /livez and /metrics at this address' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand aws" -l config -d 'TOML file with options, in a table [provider] by their long names' -r -F
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand aws" -l region -d 'The region; by default that of the environment or of the profile' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand aws" -l account -d 'What the inventory calls the account: records of another one are left alone' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand aws" -l endpoint -d 'An endpoint in place of that of the region' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand aws" -l endpoint-ca -d 'PEM file with the CAs that are trusted for the endpoint' -r -F
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand aws" -l rate -d 'Calls a second' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand aws" -l burst -d 'Calls at once after a pause' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand aws" -l scan-every -d 'Time between two scans of the whole inventory, and up to half as much again' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand aws" -l apply -d 'Carries the actions out; without it they are only printed'
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand aws" -l switch-running-mode -d 'Lets a recovery reboot switch the running mode of a desktop that is always on, and back'
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand aws" -l no-sync -d 'Carries actions out and leaves the inventory alone'
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand aws" -l inventory-only -d 'Keeps the inventory as it is there, and does nothing else'
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand aws" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand command" -l url -d 'Address of the deskfleet server' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand command" -l key-file -d 'File with an API key of the server, of the scope admin' -r -F
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand command" -l ca -d 'PEM file with the CAs that are trusted, in place of those of the system' -r -F
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand command" -l name -d 'Name in the outbox and the audit; by default that of the subcommand, with the region and the account of aws' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand command" -l lease -d 'How long another process of this name waits for this one, where it is gone without a word' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand command" -l max-destructive -d 'Most actions that destroy (Rebuild, Restore, Terminate) begun in an hour' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand command" -l parallel -d 'Calls at once' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand command" -l every -d 'Time between two looks at the outbox' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand command" -l settle -d 'The least time between a call and the end of its action, where the cloud was not seen at it' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand command" -l listen -d 'Serves /livez and /metrics at this address' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand command" -l config -d 'TOML file with options, in a table [provider] by their long names' -r -F
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand command" -l timeout -d 'How long the program may run; then it is killed' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand command" -l apply -d 'Carries the actions out; without it they are only printed'
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand webhook" -l url -d 'Address of the deskfleet server' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand webhook" -l key-file -d 'File with an API key of the server, of the scope admin' -r -F
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand webhook" -l ca -d 'PEM file with the CAs that are trusted, in place of those of the system' -r -F
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand webhook" -l name -d 'Name in the outbox and the audit; by default that of the subcommand, with the region and the account of aws' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand webhook" -l lease -d 'How long another process of this name waits for this one, where it is gone without a word' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand webhook" -l max-destructive -d 'Most actions that destroy (Rebuild, Restore, Terminate) begun in an hour' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand webhook" -l parallel -d 'Calls at once' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand webhook" -l every -d 'Time between two looks at the outbox' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand webhook" -l settle -d 'The least time between a call and the end of its action, where the cloud was not seen at it' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand webhook" -l listen -d 'Serves /livez and /metrics at this address' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand webhook" -l config -d 'TOML file with options, in a table [provider] by their long names' -r -F
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand webhook" -l target -d 'Where to post to: an address of http or https' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand webhook" -l secret-file -d 'File with the secret: whsec_ and the base64 of 24 to 64 random bytes' -r -F
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand webhook" -l fleet -d 'Name of the fleet, which makes the numbers of its actions unique' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand webhook" -l timeout -d 'How long an answer may take' -r
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand webhook" -l apply -d 'Carries the actions out; without it they are only printed'
complete -c deskfleet-provider -n "__fish_deskfleet_provider_using_subcommand webhook" -s h -l help -d 'Print help (see more with \'--help\')'
