
use builtin;
use str;

set edit:completion:arg-completer[squire] = {|@words|
    fn spaces {|n|
        builtin:repeat $n ' ' | str:join ''
    }
    fn cand {|text desc|
        edit:complex-candidate $text &display=$text' '(spaces (- 14 (wcswidth $text)))$desc
    }
    var command = 'squire'
    for word $words[1..-1] {
        if (str:has-prefix $word '-') {
            break
        }
        set command = $command';'$word
    }
    var completions = [
        &'squire'= {
            cand -h 'Print help'
            cand --help 'Print help'
            cand -V 'Print version'
            cand --version 'Print version'
            cand launch 'Run an agent with your servers, for this one launch'
            cand describe 'Show how an agent takes servers, and what a launch would give it; starts nothing'
            cand list 'List the servers with tier, state, route and origin'
            cand show 'Show one server: every value with its origin, what it may receive, and how each agent gets it'
            cand check 'Tell everything that is wrong or will be left out, for each agent; starts nothing'
            cand probe 'Connect to servers as an agent would, and tell which answer, with what, and what it costs'
            cand tools 'List the tools of servers, as an agent gets them'
            cand call 'Call one tool of a server'
            cand init 'Make a squire.toml to begin with'
            cand add 'Add servers: from a command line, an address, or what a README shows'
            cand import 'Take over the servers that agents and other tools have, from their own files'
            cand remove 'Take a server out'
            cand enable 'Switch a server on that was switched off'
            cand disable 'Switch a server off'
            cand set 'Set a field of a server'
            cand profile 'Make, change and show profiles: named selections of servers'
            cand export 'Print servers in the format of an agent or editor that squire does not launch'
            cand approve 'Let a server run that somebody else declared, after showing all of it'
            cand revoke 'Take approvals back'
            cand secret 'Say where the values come from that servers need and nobody else gets; no value is ever shown'
            cand log 'Tell what agents asked of the servers that they reach through the gateway, call by call'
            cand status 'Show how far each server of each launch has come'
            cand doctor 'Look at the agents that are here, squire''s own directories, and what launches left'
            cand clean 'Clear away what launches left; with --all everything that squire keeps, for uninstalling it'
            cand gateway 'Stand in a server''s place: what agents start'
            cand completions 'Print what a shell needs to complete command lines of squire'
            cand man 'Print a page of the manual'
            cand schema 'Print the JSON Schema of squire.toml or of secrets.toml, for editors'
        }
        &'squire;launch'= {
            cand --profile 'Select the servers of a profile; several append'
            cand --server 'Select one server; several append, behind those of profiles'
            cand --require 'Refuse the launch without this server; `all` means every selected one'
            cand --strict 'Switch the agent''s own servers off for this launch'
            cand --agent-servers 'Leave the servers of the agent''s own project files on, such as those of .mcp.json'
            cand --allow-missing 'Leave servers out whose references can''t be resolved, instead of refusing the launch'
            cand --dry-run 'Print what the launch would do, and start nothing'
            cand --json 'Print JSON: of --dry-run on stdout, else one line on stderr in the summary''s place'
            cand -q 'Leave the summary away'
            cand --quiet 'Leave the summary away'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'squire;describe'= {
            cand --profile 'Select the servers of a profile; several append'
            cand --json 'Print JSON'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'squire;list'= {
            cand --profile 'List the servers of a profile alone; several append'
            cand --json 'Print JSON'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'squire;show'= {
            cand --json 'Print JSON'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'squire;check'= {
            cand --agent 'Check for this agent alone, and whether it is installed'
            cand --json 'Print JSON'
            cand --sarif 'Print SARIF 2.1.0, which editors and CI show beside the lines'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'squire;probe'= {
            cand --profile 'Select the servers of a profile; several append'
            cand --agent 'As this agent gets them: its profile, its filters, the length of its tools'' names'
            cand --timeout 'Wait this long for each answer, as in 5s; without it as long as the server may take to start'
            cand --json 'Print JSON'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'squire;tools'= {
            cand --profile 'Select the servers of a profile; several append'
            cand --agent 'As this agent gets them: its profile and its filters'
            cand --schemas 'Show whole descriptions and the JSON Schemas'
            cand --json 'Print JSON: the definitions as they came'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'squire;call'= {
            cand --args 'All arguments as a JSON object, which `-` reads from stdin'
            cand --output 'Write images, audio and other bytes to new files in this directory, and print their paths'
            cand --profile 'Narrow by the filters of a profile; several append'
            cand --agent 'Under the filters of this agent'
            cand --json 'Print the result as it came'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'squire;init'= {
            cand --layer 'Edit this file; without it the one where the entry lives'
            cand --dry-run 'Print the difference, and write nothing'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'squire;add'= {
            cand --json 'Take the servers of a JSON snippet, or of stdin where it is `-`'
            cand --transport 'How the server is spoken to: http or sse'
            cand -e 'A variable of the server, as in NAME=VALUE; several append'
            cand --env 'A variable of the server, as in NAME=VALUE; several append'
            cand --header 'A header for a remote server, as in NAME=VALUE; several append'
            cand --bearer 'Send this secret of secrets.toml behind `Bearer `'
            cand --cwd 'Where the program runs'
            cand --description 'What the server is good for'
            cand --layer 'Edit this file; without it the one where the entry lives'
            cand --replace 'Give a server that is there a new definition; its filters and limits stay'
            cand --dry-run 'Print the difference, and write nothing'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'squire;import'= {
            cand --layer 'Write into this file; without it into your squire.toml'
            cand --server 'Take this server alone, by its name there or here; several append'
            cand --as 'What the files are, where that can''t be told: an agent''s name, kaged, workstacean or kedi'
            cand --dry-run 'Print what would be written, and write nothing'
            cand --json 'Print JSON'
            cand --replace 'Give servers that are there a new definition; their filters and limits stay where the new one has none'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'squire;remove'= {
            cand --layer 'Edit this file; without it the one where the entry lives'
            cand --dry-run 'Print the difference, and write nothing'
            cand --json 'Print JSON: what was done, and where'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'squire;enable'= {
            cand --layer 'Edit this file; without it the one where the entry lives'
            cand --dry-run 'Print the difference, and write nothing'
            cand --json 'Print JSON: what was done, and where'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'squire;disable'= {
            cand --layer 'Edit this file; without it the one where the entry lives'
            cand --dry-run 'Print the difference, and write nothing'
            cand --json 'Print JSON: what was done, and where'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'squire;set'= {
            cand --layer 'Edit this file; without it the one where the entry lives'
            cand --unset 'Take the field out'
            cand --dry-run 'Print the difference, and write nothing'
            cand --json 'Print JSON: what was done, and where'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'squire;profile'= {
            cand -h 'Print help'
            cand --help 'Print help'
            cand add 'Make a profile, or add servers to one'
            cand remove 'Take servers out of a profile, or all of it'
            cand list 'List the profiles'
            cand show 'Show one profile and the servers that a launch with it would have'
        }
        &'squire;profile;add'= {
            cand --extends 'A profile whose servers come first; several append'
            cand --require 'A server without which there is no launch; several append'
            cand --layer 'Edit this file; without it the one where the entry lives'
            cand --dry-run 'Print the difference, and write nothing'
            cand --json 'Print JSON: what was done, and where'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'squire;profile;remove'= {
            cand --layer 'Edit this file; without it the one where the entry lives'
            cand --dry-run 'Print the difference, and write nothing'
            cand --json 'Print JSON: what was done, and where'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'squire;profile;list'= {
            cand --json 'Print JSON'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'squire;profile;show'= {
            cand --json 'Print JSON'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'squire;export'= {
            cand --server 'Export these servers; several append'
            cand --profile 'Export the servers of this profile, under its filters; several append'
            cand --output 'Write a new file; one that is there is not touched'
            cand --gateway 'Write entries that start `squire gateway` in each server''s place'
            cand --json 'Print JSON: the text, what is in it and what is not'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'squire;approve'= {
            cand --digest 'Approve without a question, if this is the digest that the question shows'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'squire;revoke'= {
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'squire;secret'= {
            cand -h 'Print help'
            cand --help 'Print help'
            cand list 'List the secrets: where each value comes from, which servers may have it, which use it'
            cand set 'Set where a value comes from; without a source it is asked for, or read from stdin'
            cand remove 'Take a secret out'
            cand check 'Try whether each value can be had, and say nothing of it'
        }
        &'squire;secret;list'= {
            cand --json 'Print JSON'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'squire;secret;set'= {
            cand --env 'Take the value from this environment variable'
            cand --file 'Take the value from this file, which only you may read'
            cand --inherit-env 'Hand this variable on to the command; several append'
            cand --server 'Bind the secret to this server of yours; several append'
            cand --command 'Take what the program behind `--` prints'
            cand --replace 'Give a secret that is there a new source'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'squire;secret;remove'= {
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'squire;secret;check'= {
            cand --json 'Print JSON'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'squire;log'= {
            cand --launch 'Tell of this launch alone: its id, or how that begins'
            cand --lines 'Tell the last N calls; all without it, and with --follow the last 10'
            cand -f 'Go on with every call that comes, until interrupted'
            cand --follow 'Go on with every call that comes, until interrupted'
            cand --json 'Print the lines of JSON as they were recorded'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'squire;status'= {
            cand --launch 'Tell of this launch alone, with the time of every step: its id, or how that begins'
            cand --json 'Print JSON'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'squire;doctor'= {
            cand --json 'Print JSON'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'squire;clean'= {
            cand --all 'Remove everything that squire keeps in its state directory; refused while launches run'
            cand --json 'Print JSON'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'squire;gateway'= {
            cand --agent 'The agent that it is started for'
            cand --project 'The project''s real path'
            cand --declared-in 'The directory of the project''s squire.toml, where that is not the project''s own'
            cand --profile 'The profiles of the launch'
            cand --config 'The config directory'
            cand --state 'The state directory'
            cand --trial 'Of `squire add`: its user has agreed to one start of this declaration, which is not approved yet'
            cand --candid 'Of squire''s own client: failures as they are, one start, and the names of tools that are hidden'
            cand --whole 'Of squire''s own client: results of any length, for who writes them to files'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'squire;completions'= {
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'squire;man'= {
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'squire;schema'= {
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
    ]
    $completions[$command]
}
