# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_deskfleet_agent_global_optspecs
    string join \n url= key-file= ca= instance= spool= spool-bytes= stats-every= processes-every= compute-type= tenant= config= once dry-run h/help V/version
end

function __fish_deskfleet_agent_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_deskfleet_agent_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_deskfleet_agent_using_subcommand
    set -l cmd (__fish_deskfleet_agent_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c deskfleet-agent -n "__fish_deskfleet_agent_needs_command" -l url -d 'Address of the server, such as https://fleet.example.com' -r -f
complete -c deskfleet-agent -n "__fish_deskfleet_agent_needs_command" -l key-file -d 'File with an API key of the scope ingest; by default the key is that of the environment variable DESKFLEET_KEY' -r -F
complete -c deskfleet-agent -n "__fish_deskfleet_agent_needs_command" -l ca -d 'The CAs that may have signed the server\'s certificate, in PEM; by default those of the system' -r -F
complete -c deskfleet-agent -n "__fish_deskfleet_agent_needs_command" -l instance -d 'The workSpId or computer name of this desktop in the inventory; by default the computer name' -r -f
complete -c deskfleet-agent -n "__fish_deskfleet_agent_needs_command" -l spool -d 'Folder for pending records; by default that of the environment variable STATE_DIRECTORY, which systemd sets, else deskfleet-agent.spool' -r -f -a "(__fish_complete_directories)"
complete -c deskfleet-agent -n "__fish_deskfleet_agent_needs_command" -l spool-bytes -d 'Bytes of the spool; above it the oldest records are dropped. By default 16 MiB, about three weeks' -r -f
complete -c deskfleet-agent -n "__fish_deskfleet_agent_needs_command" -l stats-every -d 'Time between two records of the load; by default 5m' -r -f
complete -c deskfleet-agent -n "__fish_deskfleet_agent_needs_command" -l processes-every -d 'Time between two reports of the processes; by default 15m' -r -f
complete -c deskfleet-agent -n "__fish_deskfleet_agent_needs_command" -l compute-type -d 'The compute type in each record, such as STANDARD; by default none' -r -f
complete -c deskfleet-agent -n "__fish_deskfleet_agent_needs_command" -l tenant -d 'The tenant in records of the load and of activity; by default none' -r -f
complete -c deskfleet-agent -n "__fish_deskfleet_agent_needs_command" -l config -d 'TOML file with settings; by default deskfleet-agent.toml, if there is one' -r -F
complete -c deskfleet-agent -n "__fish_deskfleet_agent_needs_command" -l once -d 'Measure once, send that and all pending records, and end'
complete -c deskfleet-agent -n "__fish_deskfleet_agent_needs_command" -l dry-run -d 'With --once: print what would be sent, and send nothing'
complete -c deskfleet-agent -n "__fish_deskfleet_agent_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskfleet-agent -n "__fish_deskfleet_agent_needs_command" -s V -l version -d 'Print version'
complete -c deskfleet-agent -n "__fish_deskfleet_agent_needs_command" -f -a "report" -d 'Reports what a script knows, through the running agent'
complete -c deskfleet-agent -n "__fish_deskfleet_agent_needs_command" -f -a "swarm" -d 'Sends what many synthetic desktops measure, for sizing a server'
complete -c deskfleet-agent -n "__fish_deskfleet_agent_using_subcommand report" -l user -d 'The user; by default that of the environment variables PAM_USER, USERNAME or USER' -r
complete -c deskfleet-agent -n "__fish_deskfleet_agent_using_subcommand report" -l profile-ms -d 'Time to load the profile' -r
complete -c deskfleet-agent -n "__fish_deskfleet_agent_using_subcommand report" -l group-policy-ms -d 'Time to apply group policy' -r
complete -c deskfleet-agent -n "__fish_deskfleet_agent_using_subcommand report" -l shell-ms -d 'Time to start the shell' -r
complete -c deskfleet-agent -n "__fish_deskfleet_agent_using_subcommand report" -l total-ms -d 'Time of the whole logon; by default the sum of the others' -r
complete -c deskfleet-agent -n "__fish_deskfleet_agent_using_subcommand report" -l instance -d 'The workSpId or computer name of this desktop in the inventory; by default the computer name' -r -f
complete -c deskfleet-agent -n "__fish_deskfleet_agent_using_subcommand report" -l spool -d 'Folder for pending records; by default that of the environment variable STATE_DIRECTORY, which systemd sets, else deskfleet-agent.spool' -r -f -a "(__fish_complete_directories)"
complete -c deskfleet-agent -n "__fish_deskfleet_agent_using_subcommand report" -l config -d 'TOML file with settings; by default deskfleet-agent.toml, if there is one' -r -F
complete -c deskfleet-agent -n "__fish_deskfleet_agent_using_subcommand report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c deskfleet-agent -n "__fish_deskfleet_agent_using_subcommand swarm" -l agents -d 'Agents' -r
complete -c deskfleet-agent -n "__fish_deskfleet_agent_using_subcommand swarm" -l minutes -d 'Minutes in which they measure; then they send what is pending, for 10 minutes at most' -r
complete -c deskfleet-agent -n "__fish_deskfleet_agent_using_subcommand swarm" -l backlog-days -d 'Days for which each was offline at the start, and has kept its records' -r
complete -c deskfleet-agent -n "__fish_deskfleet_agent_using_subcommand swarm" -l connections -d 'Agents that send at once' -r
complete -c deskfleet-agent -n "__fish_deskfleet_agent_using_subcommand swarm" -l url -d 'Address of the server, such as https://fleet.example.com' -r -f
complete -c deskfleet-agent -n "__fish_deskfleet_agent_using_subcommand swarm" -l key-file -d 'File with an API key of the scope ingest; by default the key is that of the environment variable DESKFLEET_KEY' -r -F
complete -c deskfleet-agent -n "__fish_deskfleet_agent_using_subcommand swarm" -l ca -d 'The CAs that may have signed the server\'s certificate, in PEM; by default those of the system' -r -F
complete -c deskfleet-agent -n "__fish_deskfleet_agent_using_subcommand swarm" -l config -d 'TOML file with settings; by default deskfleet-agent.toml, if there is one' -r -F
complete -c deskfleet-agent -n "__fish_deskfleet_agent_using_subcommand swarm" -l inventory -d 'Print the desktops for an import, and send nothing'
complete -c deskfleet-agent -n "__fish_deskfleet_agent_using_subcommand swarm" -s h -l help -d 'Print help (see more with \'--help\')'
