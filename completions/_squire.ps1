
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'squire' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'squire'
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
        'squire' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('launch', 'launch', [CompletionResultType]::ParameterValue, 'Run an agent with your servers, for this one launch')
            [CompletionResult]::new('describe', 'describe', [CompletionResultType]::ParameterValue, 'Show how an agent takes servers, and what a launch would give it; starts nothing')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the servers with tier, state, route and origin')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show one server: every value with its origin, what it may receive, and how each agent gets it')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Tell everything that is wrong or will be left out, for each agent; starts nothing')
            [CompletionResult]::new('probe', 'probe', [CompletionResultType]::ParameterValue, 'Connect to servers as an agent would, and tell which answer, with what, and what it costs')
            [CompletionResult]::new('tools', 'tools', [CompletionResultType]::ParameterValue, 'List the tools of servers, as an agent gets them')
            [CompletionResult]::new('call', 'call', [CompletionResultType]::ParameterValue, 'Call one tool of a server')
            [CompletionResult]::new('init', 'init', [CompletionResultType]::ParameterValue, 'Make a squire.toml to begin with')
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Add servers: from a command line, an address, or what a README shows')
            [CompletionResult]::new('import', 'import', [CompletionResultType]::ParameterValue, 'Take over the servers that agents and other tools have, from their own files')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Take a server out')
            [CompletionResult]::new('enable', 'enable', [CompletionResultType]::ParameterValue, 'Switch a server on that was switched off')
            [CompletionResult]::new('disable', 'disable', [CompletionResultType]::ParameterValue, 'Switch a server off')
            [CompletionResult]::new('set', 'set', [CompletionResultType]::ParameterValue, 'Set a field of a server')
            [CompletionResult]::new('profile', 'profile', [CompletionResultType]::ParameterValue, 'Make, change and show profiles: named selections of servers')
            [CompletionResult]::new('export', 'export', [CompletionResultType]::ParameterValue, 'Print servers in the format of an agent or editor that squire does not launch')
            [CompletionResult]::new('approve', 'approve', [CompletionResultType]::ParameterValue, 'Let a server run that somebody else declared, after showing all of it')
            [CompletionResult]::new('revoke', 'revoke', [CompletionResultType]::ParameterValue, 'Take approvals back')
            [CompletionResult]::new('secret', 'secret', [CompletionResultType]::ParameterValue, 'Say where the values come from that servers need and nobody else gets; no value is ever shown')
            [CompletionResult]::new('log', 'log', [CompletionResultType]::ParameterValue, 'Tell what agents asked of the servers that they reach through the gateway, call by call')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'Show how far each server of each launch has come')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'Look at the agents that are here, squire''s own directories, and what launches left')
            [CompletionResult]::new('clean', 'clean', [CompletionResultType]::ParameterValue, 'Clear away what launches left; with --all everything that squire keeps, for uninstalling it')
            [CompletionResult]::new('gateway', 'gateway', [CompletionResultType]::ParameterValue, 'Stand in a server''s place: what agents start')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print what a shell needs to complete command lines of squire')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Print a page of the manual')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON Schema of squire.toml or of secrets.toml, for editors')
            break
        }
        'squire;launch' {
            [CompletionResult]::new('--profile', '--profile', [CompletionResultType]::ParameterName, 'Select the servers of a profile; several append')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Select one server; several append, behind those of profiles')
            [CompletionResult]::new('--require', '--require', [CompletionResultType]::ParameterName, 'Refuse the launch without this server; `all` means every selected one')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Switch the agent''s own servers off for this launch')
            [CompletionResult]::new('--agent-servers', '--agent-servers', [CompletionResultType]::ParameterName, 'Leave the servers of the agent''s own project files on, such as those of .mcp.json')
            [CompletionResult]::new('--allow-missing', '--allow-missing', [CompletionResultType]::ParameterName, 'Leave servers out whose references can''t be resolved, instead of refusing the launch')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Print what the launch would do, and start nothing')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON: of --dry-run on stdout, else one line on stderr in the summary''s place')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Leave the summary away')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Leave the summary away')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'squire;describe' {
            [CompletionResult]::new('--profile', '--profile', [CompletionResultType]::ParameterName, 'Select the servers of a profile; several append')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'squire;list' {
            [CompletionResult]::new('--profile', '--profile', [CompletionResultType]::ParameterName, 'List the servers of a profile alone; several append')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'squire;show' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'squire;check' {
            [CompletionResult]::new('--agent', '--agent', [CompletionResultType]::ParameterName, 'Check for this agent alone, and whether it is installed')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('--sarif', '--sarif', [CompletionResultType]::ParameterName, 'Print SARIF 2.1.0, which editors and CI show beside the lines')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'squire;probe' {
            [CompletionResult]::new('--profile', '--profile', [CompletionResultType]::ParameterName, 'Select the servers of a profile; several append')
            [CompletionResult]::new('--agent', '--agent', [CompletionResultType]::ParameterName, 'As this agent gets them: its profile, its filters, the length of its tools'' names')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Wait this long for each answer, as in 5s; without it as long as the server may take to start')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'squire;tools' {
            [CompletionResult]::new('--profile', '--profile', [CompletionResultType]::ParameterName, 'Select the servers of a profile; several append')
            [CompletionResult]::new('--agent', '--agent', [CompletionResultType]::ParameterName, 'As this agent gets them: its profile and its filters')
            [CompletionResult]::new('--schemas', '--schemas', [CompletionResultType]::ParameterName, 'Show whole descriptions and the JSON Schemas')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON: the definitions as they came')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'squire;call' {
            [CompletionResult]::new('--args', '--args', [CompletionResultType]::ParameterName, 'All arguments as a JSON object, which `-` reads from stdin')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Write images, audio and other bytes to new files in this directory, and print their paths')
            [CompletionResult]::new('--profile', '--profile', [CompletionResultType]::ParameterName, 'Narrow by the filters of a profile; several append')
            [CompletionResult]::new('--agent', '--agent', [CompletionResultType]::ParameterName, 'Under the filters of this agent')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print the result as it came')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'squire;init' {
            [CompletionResult]::new('--layer', '--layer', [CompletionResultType]::ParameterName, 'Edit this file; without it the one where the entry lives')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Print the difference, and write nothing')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'squire;add' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Take the servers of a JSON snippet, or of stdin where it is `-`')
            [CompletionResult]::new('--transport', '--transport', [CompletionResultType]::ParameterName, 'How the server is spoken to: http or sse')
            [CompletionResult]::new('-e', '-e', [CompletionResultType]::ParameterName, 'A variable of the server, as in NAME=VALUE; several append')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'A variable of the server, as in NAME=VALUE; several append')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'A header for a remote server, as in NAME=VALUE; several append')
            [CompletionResult]::new('--bearer', '--bearer', [CompletionResultType]::ParameterName, 'Send this secret of secrets.toml behind `Bearer `')
            [CompletionResult]::new('--cwd', '--cwd', [CompletionResultType]::ParameterName, 'Where the program runs')
            [CompletionResult]::new('--description', '--description', [CompletionResultType]::ParameterName, 'What the server is good for')
            [CompletionResult]::new('--layer', '--layer', [CompletionResultType]::ParameterName, 'Edit this file; without it the one where the entry lives')
            [CompletionResult]::new('--replace', '--replace', [CompletionResultType]::ParameterName, 'Give a server that is there a new definition; its filters and limits stay')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Print the difference, and write nothing')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'squire;import' {
            [CompletionResult]::new('--layer', '--layer', [CompletionResultType]::ParameterName, 'Write into this file; without it into your squire.toml')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Take this server alone, by its name there or here; several append')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'What the files are, where that can''t be told: an agent''s name, kaged, workstacean or kedi')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Print what would be written, and write nothing')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('--replace', '--replace', [CompletionResultType]::ParameterName, 'Give servers that are there a new definition; their filters and limits stay where the new one has none')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'squire;remove' {
            [CompletionResult]::new('--layer', '--layer', [CompletionResultType]::ParameterName, 'Edit this file; without it the one where the entry lives')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Print the difference, and write nothing')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON: what was done, and where')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'squire;enable' {
            [CompletionResult]::new('--layer', '--layer', [CompletionResultType]::ParameterName, 'Edit this file; without it the one where the entry lives')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Print the difference, and write nothing')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON: what was done, and where')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'squire;disable' {
            [CompletionResult]::new('--layer', '--layer', [CompletionResultType]::ParameterName, 'Edit this file; without it the one where the entry lives')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Print the difference, and write nothing')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON: what was done, and where')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'squire;set' {
            [CompletionResult]::new('--layer', '--layer', [CompletionResultType]::ParameterName, 'Edit this file; without it the one where the entry lives')
            [CompletionResult]::new('--unset', '--unset', [CompletionResultType]::ParameterName, 'Take the field out')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Print the difference, and write nothing')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON: what was done, and where')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'squire;profile' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('add', 'add', [CompletionResultType]::ParameterValue, 'Make a profile, or add servers to one')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Take servers out of a profile, or all of it')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the profiles')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show one profile and the servers that a launch with it would have')
            break
        }
        'squire;profile;add' {
            [CompletionResult]::new('--extends', '--extends', [CompletionResultType]::ParameterName, 'A profile whose servers come first; several append')
            [CompletionResult]::new('--require', '--require', [CompletionResultType]::ParameterName, 'A server without which there is no launch; several append')
            [CompletionResult]::new('--layer', '--layer', [CompletionResultType]::ParameterName, 'Edit this file; without it the one where the entry lives')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Print the difference, and write nothing')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON: what was done, and where')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'squire;profile;remove' {
            [CompletionResult]::new('--layer', '--layer', [CompletionResultType]::ParameterName, 'Edit this file; without it the one where the entry lives')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Print the difference, and write nothing')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON: what was done, and where')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'squire;profile;list' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'squire;profile;show' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'squire;export' {
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Export these servers; several append')
            [CompletionResult]::new('--profile', '--profile', [CompletionResultType]::ParameterName, 'Export the servers of this profile, under its filters; several append')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Write a new file; one that is there is not touched')
            [CompletionResult]::new('--gateway', '--gateway', [CompletionResultType]::ParameterName, 'Write entries that start `squire gateway` in each server''s place')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON: the text, what is in it and what is not')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'squire;approve' {
            [CompletionResult]::new('--digest', '--digest', [CompletionResultType]::ParameterName, 'Approve without a question, if this is the digest that the question shows')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'squire;revoke' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'squire;secret' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the secrets: where each value comes from, which servers may have it, which use it')
            [CompletionResult]::new('set', 'set', [CompletionResultType]::ParameterValue, 'Set where a value comes from; without a source it is asked for, or read from stdin')
            [CompletionResult]::new('remove', 'remove', [CompletionResultType]::ParameterValue, 'Take a secret out')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Try whether each value can be had, and say nothing of it')
            break
        }
        'squire;secret;list' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'squire;secret;set' {
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Take the value from this environment variable')
            [CompletionResult]::new('--file', '--file', [CompletionResultType]::ParameterName, 'Take the value from this file, which only you may read')
            [CompletionResult]::new('--inherit-env', '--inherit-env', [CompletionResultType]::ParameterName, 'Hand this variable on to the command; several append')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Bind the secret to this server of yours; several append')
            [CompletionResult]::new('--command', '--command', [CompletionResultType]::ParameterName, 'Take what the program behind `--` prints')
            [CompletionResult]::new('--replace', '--replace', [CompletionResultType]::ParameterName, 'Give a secret that is there a new source')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'squire;secret;remove' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'squire;secret;check' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'squire;log' {
            [CompletionResult]::new('--launch', '--launch', [CompletionResultType]::ParameterName, 'Tell of this launch alone: its id, or how that begins')
            [CompletionResult]::new('--lines', '--lines', [CompletionResultType]::ParameterName, 'Tell the last N calls; all without it, and with --follow the last 10')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Go on with every call that comes, until interrupted')
            [CompletionResult]::new('--follow', '--follow', [CompletionResultType]::ParameterName, 'Go on with every call that comes, until interrupted')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print the lines of JSON as they were recorded')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'squire;status' {
            [CompletionResult]::new('--launch', '--launch', [CompletionResultType]::ParameterName, 'Tell of this launch alone, with the time of every step: its id, or how that begins')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'squire;doctor' {
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'squire;clean' {
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Remove everything that squire keeps in its state directory; refused while launches run')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'squire;gateway' {
            [CompletionResult]::new('--agent', '--agent', [CompletionResultType]::ParameterName, 'The agent that it is started for')
            [CompletionResult]::new('--project', '--project', [CompletionResultType]::ParameterName, 'The project''s real path')
            [CompletionResult]::new('--declared-in', '--declared-in', [CompletionResultType]::ParameterName, 'The directory of the project''s squire.toml, where that is not the project''s own')
            [CompletionResult]::new('--profile', '--profile', [CompletionResultType]::ParameterName, 'The profiles of the launch')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The config directory')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'The state directory')
            [CompletionResult]::new('--trial', '--trial', [CompletionResultType]::ParameterName, 'Of `squire add`: its user has agreed to one start of this declaration, which is not approved yet')
            [CompletionResult]::new('--candid', '--candid', [CompletionResultType]::ParameterName, 'Of squire''s own client: failures as they are, one start, and the names of tools that are hidden')
            [CompletionResult]::new('--whole', '--whole', [CompletionResultType]::ParameterName, 'Of squire''s own client: results of any length, for who writes them to files')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'squire;completions' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'squire;man' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'squire;schema' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
