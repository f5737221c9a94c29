# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_squire_global_optspecs
    string join \n h/help V/version
end

function __fish_squire_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_squire_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_squire_using_subcommand
    set -l cmd (__fish_squire_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c squire -n "__fish_squire_needs_command" -s h -l help -d 'Print help'
complete -c squire -n "__fish_squire_needs_command" -s V -l version -d 'Print version'
complete -c squire -n "__fish_squire_needs_command" -f -a "launch" -d 'Run an agent with your servers, for this one launch'
complete -c squire -n "__fish_squire_needs_command" -f -a "describe" -d 'Show how an agent takes servers, and what a launch would give it; starts nothing'
complete -c squire -n "__fish_squire_needs_command" -f -a "list" -d 'List the servers with tier, state, route and origin'
complete -c squire -n "__fish_squire_needs_command" -f -a "show" -d 'Show one server: every value with its origin, what it may receive, and how each agent gets it'
complete -c squire -n "__fish_squire_needs_command" -f -a "check" -d 'Tell everything that is wrong or will be left out, for each agent; starts nothing'
complete -c squire -n "__fish_squire_needs_command" -f -a "probe" -d 'Connect to servers as an agent would, and tell which answer, with what, and what it costs'
complete -c squire -n "__fish_squire_needs_command" -f -a "tools" -d 'List the tools of servers, as an agent gets them'
complete -c squire -n "__fish_squire_needs_command" -f -a "call" -d 'Call one tool of a server'
complete -c squire -n "__fish_squire_needs_command" -f -a "init" -d 'Make a squire.toml to begin with'
complete -c squire -n "__fish_squire_needs_command" -f -a "add" -d 'Add servers: from a command line, an address, or what a README shows'
complete -c squire -n "__fish_squire_needs_command" -f -a "import" -d 'Take over the servers that agents and other tools have, from their own files'
complete -c squire -n "__fish_squire_needs_command" -f -a "remove" -d 'Take a server out'
complete -c squire -n "__fish_squire_needs_command" -f -a "enable" -d 'Switch a server on that was switched off'
complete -c squire -n "__fish_squire_needs_command" -f -a "disable" -d 'Switch a server off'
complete -c squire -n "__fish_squire_needs_command" -f -a "set" -d 'Set a field of a server'
complete -c squire -n "__fish_squire_needs_command" -f -a "profile" -d 'Make, change and show profiles: named selections of servers'
complete -c squire -n "__fish_squire_needs_command" -f -a "export" -d 'Print servers in the format of an agent or editor that squire does not launch'
complete -c squire -n "__fish_squire_needs_command" -f -a "approve" -d 'Let a server run that somebody else declared, after showing all of it'
complete -c squire -n "__fish_squire_needs_command" -f -a "revoke" -d 'Take approvals back'
complete -c squire -n "__fish_squire_needs_command" -f -a "secret" -d 'Say where the values come from that servers need and nobody else gets; no value is ever shown'
complete -c squire -n "__fish_squire_needs_command" -f -a "log" -d 'Tell what agents asked of the servers that they reach through the gateway, call by call'
complete -c squire -n "__fish_squire_needs_command" -f -a "status" -d 'Show how far each server of each launch has come'
complete -c squire -n "__fish_squire_needs_command" -f -a "doctor" -d 'Look at the agents that are here, squire\'s own directories, and what launches left'
complete -c squire -n "__fish_squire_needs_command" -f -a "clean" -d 'Clear away what launches left; with --all everything that squire keeps, for uninstalling it'
complete -c squire -n "__fish_squire_needs_command" -f -a "gateway" -d 'Stand in a server\'s place: what agents start'
complete -c squire -n "__fish_squire_needs_command" -f -a "completions" -d 'Print what a shell needs to complete command lines of squire'
complete -c squire -n "__fish_squire_needs_command" -f -a "man" -d 'Print a page of the manual'
complete -c squire -n "__fish_squire_needs_command" -f -a "schema" -d 'Print the JSON Schema of squire.toml or of secrets.toml, for editors'
complete -c squire -n "__fish_squire_using_subcommand launch" -l profile -d 'Select the servers of a profile; several append' -r
complete -c squire -n "__fish_squire_using_subcommand launch" -l server -d 'Select one server; several append, behind those of profiles' -r
complete -c squire -n "__fish_squire_using_subcommand launch" -l require -d 'Refuse the launch without this server; `all` means every selected one' -r
complete -c squire -n "__fish_squire_using_subcommand launch" -l strict -d 'Switch the agent\'s own servers off for this launch'
complete -c squire -n "__fish_squire_using_subcommand launch" -l agent-servers -d 'Leave the servers of the agent\'s own project files on, such as those of .mcp.json'
complete -c squire -n "__fish_squire_using_subcommand launch" -l allow-missing -d 'Leave servers out whose references can\'t be resolved, instead of refusing the launch'
complete -c squire -n "__fish_squire_using_subcommand launch" -l dry-run -d 'Print what the launch would do, and start nothing'
complete -c squire -n "__fish_squire_using_subcommand launch" -l json -d 'Print JSON: of --dry-run on stdout, else one line on stderr in the summary\'s place'
complete -c squire -n "__fish_squire_using_subcommand launch" -s q -l quiet -d 'Leave the summary away'
complete -c squire -n "__fish_squire_using_subcommand launch" -s h -l help -d 'Print help'
complete -c squire -n "__fish_squire_using_subcommand describe" -l profile -d 'Select the servers of a profile; several append' -r
complete -c squire -n "__fish_squire_using_subcommand describe" -l json -d 'Print JSON'
complete -c squire -n "__fish_squire_using_subcommand describe" -s h -l help -d 'Print help'
complete -c squire -n "__fish_squire_using_subcommand list" -l profile -d 'List the servers of a profile alone; several append' -r
complete -c squire -n "__fish_squire_using_subcommand list" -l json -d 'Print JSON'
complete -c squire -n "__fish_squire_using_subcommand list" -s h -l help -d 'Print help'
complete -c squire -n "__fish_squire_using_subcommand show" -l json -d 'Print JSON'
complete -c squire -n "__fish_squire_using_subcommand show" -s h -l help -d 'Print help'
complete -c squire -n "__fish_squire_using_subcommand check" -l agent -d 'Check for this agent alone, and whether it is installed' -r
complete -c squire -n "__fish_squire_using_subcommand check" -l json -d 'Print JSON'
complete -c squire -n "__fish_squire_using_subcommand check" -l sarif -d 'Print SARIF 2.1.0, which editors and CI show beside the lines'
complete -c squire -n "__fish_squire_using_subcommand check" -s h -l help -d 'Print help'
complete -c squire -n "__fish_squire_using_subcommand probe" -l profile -d 'Select the servers of a profile; several append' -r
complete -c squire -n "__fish_squire_using_subcommand probe" -l agent -d 'As this agent gets them: its profile, its filters, the length of its tools\' names' -r
complete -c squire -n "__fish_squire_using_subcommand probe" -l timeout -d 'Wait this long for each answer, as in 5s; without it as long as the server may take to start' -r
complete -c squire -n "__fish_squire_using_subcommand probe" -l json -d 'Print JSON'
complete -c squire -n "__fish_squire_using_subcommand probe" -s h -l help -d 'Print help'
complete -c squire -n "__fish_squire_using_subcommand tools" -l profile -d 'Select the servers of a profile; several append' -r
complete -c squire -n "__fish_squire_using_subcommand tools" -l agent -d 'As this agent gets them: its profile and its filters' -r
complete -c squire -n "__fish_squire_using_subcommand tools" -l schemas -d 'Show whole descriptions and the JSON Schemas'
complete -c squire -n "__fish_squire_using_subcommand tools" -l json -d 'Print JSON: the definitions as they came'
complete -c squire -n "__fish_squire_using_subcommand tools" -s h -l help -d 'Print help'
complete -c squire -n "__fish_squire_using_subcommand call" -l args -d 'All arguments as a JSON object, which `-` reads from stdin' -r
complete -c squire -n "__fish_squire_using_subcommand call" -l output -d 'Write images, audio and other bytes to new files in this directory, and print their paths' -r -F
complete -c squire -n "__fish_squire_using_subcommand call" -l profile -d 'Narrow by the filters of a profile; several append' -r
complete -c squire -n "__fish_squire_using_subcommand call" -l agent -d 'Under the filters of this agent' -r
complete -c squire -n "__fish_squire_using_subcommand call" -l json -d 'Print the result as it came'
complete -c squire -n "__fish_squire_using_subcommand call" -s h -l help -d 'Print help'
complete -c squire -n "__fish_squire_using_subcommand init" -l layer -d 'Edit this file; without it the one where the entry lives' -r -f -a "user\t'Your squire.toml'
local\t'Your own changes for this project, which lie outside it'
project\t'The project\'s squire.toml'"
complete -c squire -n "__fish_squire_using_subcommand init" -l dry-run -d 'Print the difference, and write nothing'
complete -c squire -n "__fish_squire_using_subcommand init" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c squire -n "__fish_squire_using_subcommand add" -l json -d 'Take the servers of a JSON snippet, or of stdin where it is `-`' -r
complete -c squire -n "__fish_squire_using_subcommand add" -l transport -d 'How the server is spoken to: http or sse' -r
complete -c squire -n "__fish_squire_using_subcommand add" -s e -l env -d 'A variable of the server, as in NAME=VALUE; several append' -r
complete -c squire -n "__fish_squire_using_subcommand add" -l header -d 'A header for a remote server, as in NAME=VALUE; several append' -r
complete -c squire -n "__fish_squire_using_subcommand add" -l bearer -d 'Send this secret of secrets.toml behind `Bearer `' -r
complete -c squire -n "__fish_squire_using_subcommand add" -l cwd -d 'Where the program runs' -r
complete -c squire -n "__fish_squire_using_subcommand add" -l description -d 'What the server is good for' -r
complete -c squire -n "__fish_squire_using_subcommand add" -l layer -d 'Edit this file; without it the one where the entry lives' -r -f -a "user\t'Your squire.toml'
local\t'Your own changes for this project, which lie outside it'
project\t'The project\'s squire.toml'"
complete -c squire -n "__fish_squire_using_subcommand add" -l replace -d 'Give a server that is there a new definition; its filters and limits stay'
complete -c squire -n "__fish_squire_using_subcommand add" -l dry-run -d 'Print the difference, and write nothing'
complete -c squire -n "__fish_squire_using_subcommand add" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c squire -n "__fish_squire_using_subcommand import" -l layer -d 'Write into this file; without it into your squire.toml' -r -f -a "user\t'Your squire.toml'
local\t'Your own servers for this project, which lie outside it'"
complete -c squire -n "__fish_squire_using_subcommand import" -l server -d 'Take this server alone, by its name there or here; several append' -r
complete -c squire -n "__fish_squire_using_subcommand import" -l as -d 'What the files are, where that can\'t be told: an agent\'s name, kaged, workstacean or kedi' -r
complete -c squire -n "__fish_squire_using_subcommand import" -l dry-run -d 'Print what would be written, and write nothing'
complete -c squire -n "__fish_squire_using_subcommand import" -l json -d 'Print JSON'
complete -c squire -n "__fish_squire_using_subcommand import" -l replace -d 'Give servers that are there a new definition; their filters and limits stay where the new one has none'
complete -c squire -n "__fish_squire_using_subcommand import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c squire -n "__fish_squire_using_subcommand remove" -l layer -d 'Edit this file; without it the one where the entry lives' -r -f -a "user\t'Your squire.toml'
local\t'Your own changes for this project, which lie outside it'
project\t'The project\'s squire.toml'"
complete -c squire -n "__fish_squire_using_subcommand remove" -l dry-run -d 'Print the difference, and write nothing'
complete -c squire -n "__fish_squire_using_subcommand remove" -l json -d 'Print JSON: what was done, and where'
complete -c squire -n "__fish_squire_using_subcommand remove" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c squire -n "__fish_squire_using_subcommand enable" -l layer -d 'Edit this file; without it the one where the entry lives' -r -f -a "user\t'Your squire.toml'
local\t'Your own changes for this project, which lie outside it'
project\t'The project\'s squire.toml'"
complete -c squire -n "__fish_squire_using_subcommand enable" -l dry-run -d 'Print the difference, and write nothing'
complete -c squire -n "__fish_squire_using_subcommand enable" -l json -d 'Print JSON: what was done, and where'
complete -c squire -n "__fish_squire_using_subcommand enable" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c squire -n "__fish_squire_using_subcommand disable" -l layer -d 'Edit this file; without it the one where the entry lives' -r -f -a "user\t'Your squire.toml'
local\t'Your own changes for this project, which lie outside it'
project\t'The project\'s squire.toml'"
complete -c squire -n "__fish_squire_using_subcommand disable" -l dry-run -d 'Print the difference, and write nothing'
complete -c squire -n "__fish_squire_using_subcommand disable" -l json -d 'Print JSON: what was done, and where'
complete -c squire -n "__fish_squire_using_subcommand disable" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c squire -n "__fish_squire_using_subcommand set" -l layer -d 'Edit this file; without it the one where the entry lives' -r -f -a "user\t'Your squire.toml'
local\t'Your own changes for this project, which lie outside it'
project\t'The project\'s squire.toml'"
complete -c squire -n "__fish_squire_using_subcommand set" -l unset -d 'Take the field out'
complete -c squire -n "__fish_squire_using_subcommand set" -l dry-run -d 'Print the difference, and write nothing'
complete -c squire -n "__fish_squire_using_subcommand set" -l json -d 'Print JSON: what was done, and where'
complete -c squire -n "__fish_squire_using_subcommand set" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c squire -n "__fish_squire_using_subcommand profile; and not __fish_seen_subcommand_from add remove list show" -s h -l help -d 'Print help'
complete -c squire -n "__fish_squire_using_subcommand profile; and not __fish_seen_subcommand_from add remove list show" -f -a "add" -d 'Make a profile, or add servers to one'
complete -c squire -n "__fish_squire_using_subcommand profile; and not __fish_seen_subcommand_from add remove list show" -f -a "remove" -d 'Take servers out of a profile, or all of it'
complete -c squire -n "__fish_squire_using_subcommand profile; and not __fish_seen_subcommand_from add remove list show" -f -a "list" -d 'List the profiles'
complete -c squire -n "__fish_squire_using_subcommand profile; and not __fish_seen_subcommand_from add remove list show" -f -a "show" -d 'Show one profile and the servers that a launch with it would have'
complete -c squire -n "__fish_squire_using_subcommand profile; and __fish_seen_subcommand_from add" -l extends -d 'A profile whose servers come first; several append' -r
complete -c squire -n "__fish_squire_using_subcommand profile; and __fish_seen_subcommand_from add" -l require -d 'A server without which there is no launch; several append' -r
complete -c squire -n "__fish_squire_using_subcommand profile; and __fish_seen_subcommand_from add" -l layer -d 'Edit this file; without it the one where the entry lives' -r -f -a "user\t'Your squire.toml'
local\t'Your own changes for this project, which lie outside it'
project\t'The project\'s squire.toml'"
complete -c squire -n "__fish_squire_using_subcommand profile; and __fish_seen_subcommand_from add" -l dry-run -d 'Print the difference, and write nothing'
complete -c squire -n "__fish_squire_using_subcommand profile; and __fish_seen_subcommand_from add" -l json -d 'Print JSON: what was done, and where'
complete -c squire -n "__fish_squire_using_subcommand profile; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c squire -n "__fish_squire_using_subcommand profile; and __fish_seen_subcommand_from remove" -l layer -d 'Edit this file; without it the one where the entry lives' -r -f -a "user\t'Your squire.toml'
local\t'Your own changes for this project, which lie outside it'
project\t'The project\'s squire.toml'"
complete -c squire -n "__fish_squire_using_subcommand profile; and __fish_seen_subcommand_from remove" -l dry-run -d 'Print the difference, and write nothing'
complete -c squire -n "__fish_squire_using_subcommand profile; and __fish_seen_subcommand_from remove" -l json -d 'Print JSON: what was done, and where'
complete -c squire -n "__fish_squire_using_subcommand profile; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c squire -n "__fish_squire_using_subcommand profile; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c squire -n "__fish_squire_using_subcommand profile; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c squire -n "__fish_squire_using_subcommand profile; and __fish_seen_subcommand_from show" -l json -d 'Print JSON'
complete -c squire -n "__fish_squire_using_subcommand profile; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c squire -n "__fish_squire_using_subcommand export" -l server -d 'Export these servers; several append' -r
complete -c squire -n "__fish_squire_using_subcommand export" -l profile -d 'Export the servers of this profile, under its filters; several append' -r
complete -c squire -n "__fish_squire_using_subcommand export" -l output -d 'Write a new file; one that is there is not touched' -r -F
complete -c squire -n "__fish_squire_using_subcommand export" -l gateway -d 'Write entries that start `squire gateway` in each server\'s place'
complete -c squire -n "__fish_squire_using_subcommand export" -l json -d 'Print JSON: the text, what is in it and what is not'
complete -c squire -n "__fish_squire_using_subcommand export" -s h -l help -d 'Print help'
complete -c squire -n "__fish_squire_using_subcommand approve" -l digest -d 'Approve without a question, if this is the digest that the question shows' -r
complete -c squire -n "__fish_squire_using_subcommand approve" -s h -l help -d 'Print help'
complete -c squire -n "__fish_squire_using_subcommand revoke" -s h -l help -d 'Print help'
complete -c squire -n "__fish_squire_using_subcommand secret; and not __fish_seen_subcommand_from list set remove check" -s h -l help -d 'Print help'
complete -c squire -n "__fish_squire_using_subcommand secret; and not __fish_seen_subcommand_from list set remove check" -f -a "list" -d 'List the secrets: where each value comes from, which servers may have it, which use it'
complete -c squire -n "__fish_squire_using_subcommand secret; and not __fish_seen_subcommand_from list set remove check" -f -a "set" -d 'Set where a value comes from; without a source it is asked for, or read from stdin'
complete -c squire -n "__fish_squire_using_subcommand secret; and not __fish_seen_subcommand_from list set remove check" -f -a "remove" -d 'Take a secret out'
complete -c squire -n "__fish_squire_using_subcommand secret; and not __fish_seen_subcommand_from list set remove check" -f -a "check" -d 'Try whether each value can be had, and say nothing of it'
complete -c squire -n "__fish_squire_using_subcommand secret; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c squire -n "__fish_squire_using_subcommand secret; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c squire -n "__fish_squire_using_subcommand secret; and __fish_seen_subcommand_from set" -l env -d 'Take the value from this environment variable' -r
complete -c squire -n "__fish_squire_using_subcommand secret; and __fish_seen_subcommand_from set" -l file -d 'Take the value from this file, which only you may read' -r -F
complete -c squire -n "__fish_squire_using_subcommand secret; and __fish_seen_subcommand_from set" -l inherit-env -d 'Hand this variable on to the command; several append' -r
complete -c squire -n "__fish_squire_using_subcommand secret; and __fish_seen_subcommand_from set" -l server -d 'Bind the secret to this server of yours; several append' -r
complete -c squire -n "__fish_squire_using_subcommand secret; and __fish_seen_subcommand_from set" -l command -d 'Take what the program behind `--` prints'
complete -c squire -n "__fish_squire_using_subcommand secret; and __fish_seen_subcommand_from set" -l replace -d 'Give a secret that is there a new source'
complete -c squire -n "__fish_squire_using_subcommand secret; and __fish_seen_subcommand_from set" -s h -l help -d 'Print help'
complete -c squire -n "__fish_squire_using_subcommand secret; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help'
complete -c squire -n "__fish_squire_using_subcommand secret; and __fish_seen_subcommand_from check" -l json -d 'Print JSON'
complete -c squire -n "__fish_squire_using_subcommand secret; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help'
complete -c squire -n "__fish_squire_using_subcommand log" -l launch -d 'Tell of this launch alone: its id, or how that begins' -r
complete -c squire -n "__fish_squire_using_subcommand log" -l lines -d 'Tell the last N calls; all without it, and with --follow the last 10' -r
complete -c squire -n "__fish_squire_using_subcommand log" -s f -l follow -d 'Go on with every call that comes, until interrupted'
complete -c squire -n "__fish_squire_using_subcommand log" -l json -d 'Print the lines of JSON as they were recorded'
complete -c squire -n "__fish_squire_using_subcommand log" -s h -l help -d 'Print help'
complete -c squire -n "__fish_squire_using_subcommand status" -l launch -d 'Tell of this launch alone, with the time of every step: its id, or how that begins' -r
complete -c squire -n "__fish_squire_using_subcommand status" -l json -d 'Print JSON'
complete -c squire -n "__fish_squire_using_subcommand status" -s h -l help -d 'Print help'
complete -c squire -n "__fish_squire_using_subcommand doctor" -l json -d 'Print JSON'
complete -c squire -n "__fish_squire_using_subcommand doctor" -s h -l help -d 'Print help'
complete -c squire -n "__fish_squire_using_subcommand clean" -l all -d 'Remove everything that squire keeps in its state directory; refused while launches run'
complete -c squire -n "__fish_squire_using_subcommand clean" -l json -d 'Print JSON'
complete -c squire -n "__fish_squire_using_subcommand clean" -s h -l help -d 'Print help'
complete -c squire -n "__fish_squire_using_subcommand gateway" -l agent -d 'The agent that it is started for' -r
complete -c squire -n "__fish_squire_using_subcommand gateway" -l project -d 'The project\'s real path' -r -F
complete -c squire -n "__fish_squire_using_subcommand gateway" -l declared-in -d 'The directory of the project\'s squire.toml, where that is not the project\'s own' -r -F
complete -c squire -n "__fish_squire_using_subcommand gateway" -l profile -d 'The profiles of the launch' -r
complete -c squire -n "__fish_squire_using_subcommand gateway" -l config -d 'The config directory' -r -F
complete -c squire -n "__fish_squire_using_subcommand gateway" -l state -d 'The state directory' -r -F
complete -c squire -n "__fish_squire_using_subcommand gateway" -l trial -d 'Of `squire add`: its user has agreed to one start of this declaration, which is not approved yet' -r
complete -c squire -n "__fish_squire_using_subcommand gateway" -l candid -d 'Of squire\'s own client: failures as they are, one start, and the names of tools that are hidden'
complete -c squire -n "__fish_squire_using_subcommand gateway" -l whole -d 'Of squire\'s own client: results of any length, for who writes them to files'
complete -c squire -n "__fish_squire_using_subcommand gateway" -s h -l help -d 'Print help'
complete -c squire -n "__fish_squire_using_subcommand completions" -s h -l help -d 'Print help'
complete -c squire -n "__fish_squire_using_subcommand man" -s h -l help -d 'Print help'
complete -c squire -n "__fish_squire_using_subcommand schema" -s h -l help -d 'Print help (see more with \'--help\')'
