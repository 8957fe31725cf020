/** The terminal: arguments in, a command run, its output as text or JSON, an exit code. Made from the commands; knows no verb by name. */

import { resolve } from 'node:path'
import { CommanderError, Command as Program } from 'commander'
import type { Command, Progress } from '../commands/command.ts'
import { commandIn } from '../commands/named.ts'
import { defaultHome } from '../config/environment.ts'
import { asTirelessError, ERROR_CODES, type ErrorCode } from '../domain/error.ts'
import { agreed } from './confirm.ts'
import { addInputs, commonLast, inputOf, secretOf } from './options.ts'
import { progressView } from './progress.ts'
import { runCommand } from './run-command.ts'
import { type SecretSource, secretInput } from './secret-input.ts'
import { jsonText, print } from './terminal.ts'
import { render, renderItem } from './views/views.ts'

interface Common extends SecretSource {
  readonly home?: string
  readonly config?: string
  readonly json?: boolean
}

/** Contract: never throws; the result alone goes to stdout, everything else a person reads to stderr. */
export async function runCli(given: readonly string[]): Promise<number> {
  const args = commonLast(given)
  let exit = 0
  // Nobody reads it any more: the work goes on (I9).
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  const program = new Program('tireless')
    .description('An always-on agent runtime: an AI employee that never clocks off.')
    .configureOutput({
      writeErr: (text) => print(process.stderr, text),
      outputError: (text, write) => write(withoutSurplus(text)),
    })
    .exitOverride()
  for (const command of await meant(args)) {
    const verb = placeIn(program, command)
    addInputs(verb, command)
    verb
      .option('--home <dir>', 'the home (default: $TIRELESS_HOME, else ~/.tireless)')
      .option('--config <file>', 'the configuration (default: tireless.yaml in the home)')
      .option('--json', 'one JSON document on stdout')
      .action(async (...parsed: unknown[]) => {
        const options = parsed.at(-2) as Common & Record<string, unknown>
        exit = await runVerb(command, inputOf(command, parsed.slice(0, -2), options), options)
      })
  }
  try {
    await program.parseAsync([...args], { from: 'user' })
    return exit
  } catch (thrown) {
    const json = args.includes('--json')
    if (!(thrown instanceof CommanderError)) return complain(thrown, json)
    if (thrown.exitCode === 0) return 0
    // It has told people already.
    if (json)
      printError(
        'usage',
        withoutSurplus(thrown.message)
          .replace(/^error: /, '')
          .trim(),
      )
    return ERROR_CODES.usage.exit
  }
}

/** What was one argument too many may be a secret that should not have been there. */
const withoutSurplus = (text: string): string => text.replace(/( but got \d+): .*/s, '$1.\n')

/** The one that is asked for; where the words name none, all of them, for whoever needs help. */
async function meant(args: readonly string[]): Promise<readonly Command[]> {
  const end = args.findIndex((arg) => arg.startsWith('-'))
  const command = await commandIn(end < 0 ? args : args.slice(0, end))
  return command ? [command] : (await import('../commands/all.ts')).COMMANDS
}

async function runVerb(command: Command, input: Record<string, unknown>, options: Common): Promise<number> {
  const progress = progressView(process.stderr)
  const tell = (told: Progress): void => {
    if (told.kind === 'item')
      print(process.stdout, options.json ? `${jsonText(told.item)}\n` : renderItem(command.name, told.item))
    else if (options.json === true && command.runsIn === 'kernel') {
      if (told.kind === 'event') print(process.stdout, `${jsonText(told.event)}\n`)
    } else progress.tell(told)
  }
  try {
    const home = resolve(options.home ?? defaultHome())
    if (!(await agreed(command, input, home, { input: process.stdin, output: process.stderr }))) {
      print(process.stderr, 'nothing was done\n')
      return 1
    }
    const at = { home, configFile: options.config }
    const output = await runCommand({ command, input: await withSecret(command, input, options), at, tell })
    progress.end()
    // Null: all of it was told already.
    if (output !== null) print(process.stdout, options.json ? `${jsonText(output, 2)}\n` : render(command.name, output))
    return command.exit?.(output) ?? 0
  } catch (thrown) {
    progress.end()
    return complain(thrown, options.json === true)
  }
}

async function withSecret(
  command: Command,
  input: Readonly<Record<string, unknown>>,
  source: SecretSource,
): Promise<Readonly<Record<string, unknown>>> {
  const secret = secretOf(command)
  if (!secret) return input
  const terminal = { input: process.stdin, output: process.stderr }
  return { ...input, [secret.key]: await secretInput(source, `the ${secret.key} of ${input.name}`, terminal) }
}

function complain(thrown: unknown, json: boolean): number {
  const { code, message } = asTirelessError(thrown)
  if (json) printError(code, message)
  print(process.stderr, `${code}: ${message}\n`)
  return ERROR_CODES[code].exit
}

const printError = (code: ErrorCode, message: string): void =>
  print(process.stdout, `${jsonText({ error: { code, message } }, 2)}\n`)

/** `queue list` is `list` under `queue`. */
function placeIn(program: Program, { name, summary }: Command): Program {
  const words = name.split(' ')
  const verb = words.pop() ?? name
  let parent = program
  for (const word of words)
    parent = parent.commands.find((known) => known.name() === word) ?? parent.command(word).exitOverride()
  return parent.command(verb).summary(summary).description(summary).exitOverride()
}
