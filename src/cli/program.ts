/** Builds the grammar of the command line from the commands: groups, verbs, options and their help texts. */

import { type OutputConfiguration, Command as Program } from 'commander'
import type { Command } from '../commands/lib/command.ts'
import { addInputs, inputFromOptions } from './options.ts'
import type { SecretSource } from './secret-input.ts'

export interface CommonOptions extends SecretSource {
  readonly home?: string
  readonly config?: string
  readonly json?: boolean
}

type OnCommand = (command: Command, input: Record<string, unknown>, options: CommonOptions) => Promise<void>

/** Help texts of the groups, by the first word of their commands. */
export const GROUP_DESCRIPTIONS: Readonly<Record<string, string>> = {
  agent: 'create, list and change agents',
  approvals: 'review tool calls that wait for your approval',
  audit: 'verify the log of policy decisions',
  budget: 'show spending and change limits',
  channels: 'set up channels to people: test and pair them',
  config: 'check and explain the configuration',
  cycle: 'run a cycle of the kernel',
  cycles: 'list past cycles of the kernel',
  grants: 'list and revoke lasting permissions of agents',
  mcp: 'use tools of MCP servers, or serve this home over MCP',
  memory: 'list, search and delete what agents remember',
  models: 'list, test and choose models',
  notices: 'list messages sent to people',
  queue: 'list, cancel, retry and pause dispatches',
  schedule: 'list schedules; add, pause, run and remove your own',
  secrets: 'store secrets for the configuration and tools',
  sessions: 'list, show and archive sessions',
  skills: 'scan and approve skills and AGENTS.md files',
  state: 'show, compare, revert and accept documents such as STATE.md',
  trace: 'inspect and export what runs did',
  unknowns: 'decide the outcome of interrupted calls',
}

/** Contract: runs nothing itself; parsing arguments calls `onCommand`, or throws a CommanderError. */
export function buildProgram(commands: readonly Command[], output: OutputConfiguration, onCommand: OnCommand): Program {
  // Verbs inherit output and exitOverride only if both are set before the verbs are added.
  const program = new Program('tireless')
    .description('An always-on agent runtime: an AI employee that never clocks off.')
    .configureOutput(output)
    .exitOverride()
  for (const command of commands) {
    const verb = addVerb(program, command)
    addInputs(verb, command)
    verb
      .option('--home <dir>', 'the home (default: $TIRELESS_HOME, else ~/.tireless)')
      .option('--config <file>', 'the configuration (default: tireless.yaml in the home)')
      .option('--json', 'print one JSON document to stdout')
      .addHelpText('after', `\nExample:\n  tireless ${command.example}`)
      .action((...parsed: unknown[]) => {
        const options = parsed.at(-2) as CommonOptions & Record<string, unknown>
        return onCommand(command, inputFromOptions(command, parsed.slice(0, -2), options), options)
      })
  }
  return program
}

/** `queue list` becomes the verb `list` in the group `queue`. */
function addVerb(program: Program, { name, summary }: Command): Program {
  const words = name.split(' ')
  const verb = words.pop() ?? name
  let parent = program
  for (const word of words)
    parent =
      parent.commands.find((known) => known.name() === word) ??
      parent
        .command(word)
        .description(GROUP_DESCRIPTIONS[word] ?? '')
        .exitOverride()
  return parent.command(verb).summary(summary).description(summary).exitOverride()
}
