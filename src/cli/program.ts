/** Builds the grammar of the command line from the commands: groups, verbs, options and their help texts. */

import { type OutputConfiguration, Command as Program } from 'commander'
import type { Command } from '../commands/lib/command.ts'
import { GROUP_DESCRIPTIONS, type GroupName } from '../commands/lib/registry.ts'
import { addInputs, inputFromOptions } from './options.ts'
import type { SecretSource } from './secret-input.ts'
import { packageVersion } from './version.ts'

export interface CommonOptions extends SecretSource {
  readonly home?: string
  readonly config?: string
  readonly json?: boolean
}

type OnCommand = (command: Command, input: Record<string, unknown>, options: CommonOptions) => Promise<void>

/** Contract: runs nothing itself; parsing arguments calls `onCommand`, or throws a CommanderError. */
export function buildProgram(commands: readonly Command[], output: OutputConfiguration, onCommand: OnCommand): Program {
  // Verbs inherit output and exitOverride only if both are set before the verbs are added.
  const program = new Program('tireless')
    .description('An always-on agent runtime: an AI employee that never clocks off.')
    .version(packageVersion(), '-V, --version', 'print the version')
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
        .description(GROUP_DESCRIPTIONS[word as GroupName])
        .exitOverride()
  return parent.command(verb).summary(summary).description(summary).exitOverride()
}
