/** The command line: parses arguments, runs a command, prints its output as text or JSON, returns an exit code. */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { CommanderError } from 'commander'
import type { Command } from '../commands/lib/command.ts'
import type { Progress } from '../commands/lib/progress.ts'
import { findCommand, loadCommands } from '../commands/lib/registry.ts'
import { homeFolder } from '../config/environment.ts'
import { asTirelessError, ERROR_CODES, type ErrorCode, TirelessError } from '../domain/error.ts'
import { askForInputs } from './ask-inputs.ts'
import { isAgreed, isConfirmed } from './confirm.ts'
import { moveCommonOptionsLast, secretField } from './options.ts'
import { buildProgram, type CommonOptions } from './program.ts'
import { ProgressView } from './progress.ts'
import { runCommand } from './run-command.ts'
import { readSecretInput, type SecretSource } from './secret-input.ts'
import { unseenKeysNote } from './shell-keys.ts'
import { jsonText, printSafely } from './terminal.ts'
import { inOwnLanguage, terminalLanguage } from './views/language.ts'
import { render, renderItem } from './views/views.ts'

/** Contract: never throws; the result alone goes to stdout, everything else a person reads to stderr. */
export async function runCli(argv: readonly string[]): Promise<number> {
  let lost: NodeJS.ErrnoException | undefined
  // The work continues after an error here (I9). EPIPE is none: the reader has enough and has closed the pipe.
  process.stderr.on('error', () => {})
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') lost ??= error
  })
  const exit = await runArguments(moveCommonOptionsLast(argv))
  // A stream reports a failed write after the current turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve))
  if (lost === undefined) return exit
  printSafely(process.stderr, `the output could not be written to stdout: ${lost.message}\n`)
  return exit === 0 ? 1 : exit
}

async function runArguments(args: readonly string[]): Promise<number> {
  let exit = 0
  const output = {
    writeErr: (text: string) => printSafely(process.stderr, text),
    outputError: (text: string, write: (text: string) => void) =>
      write(hideExtraArguments(text).replace(/^error: /, 'usage: ')),
  }
  const program = buildProgram(await selectCommands(args), output, async (command, input, options) => {
    exit = await runVerb(command, input, options)
  })
  try {
    await program.parseAsync([...args], { from: 'user' })
    return exit
  } catch (thrown) {
    const json = args.includes('--json')
    if (!(thrown instanceof CommanderError)) return reportError(thrown, json)
    if (thrown.exitCode === 0) return 0
    // Commander has printed the message to stderr already.
    if (json)
      printError(
        'usage',
        hideExtraArguments(thrown.message)
          .replace(/^error: /, '')
          .trim(),
      )
    return ERROR_CODES.usage.exit
  }
}

/** An extra argument may be a secret typed by mistake, so the error does not repeat it. */
const hideExtraArguments = (text: string): string => text.replace(/( but got \d+): .*/s, '$1.\n')

/** The command that the arguments name; if they name none, all commands, so that the help lists them. */
async function selectCommands(args: readonly string[]): Promise<readonly Command[]> {
  const end = args.findIndex((arg) => arg.startsWith('-'))
  const command = await findCommand(end < 0 ? args : args.slice(0, end))
  return command ? [command] : loadCommands()
}

async function runVerb(command: Command, input: Record<string, unknown>, options: CommonOptions): Promise<number> {
  const view = new ProgressView(process.stderr, options.json === true)
  const tell = (progress: Progress): void => {
    if (progress.kind === 'item')
      printSafely(
        process.stdout,
        options.json ? `${jsonText(progress.item)}\n` : renderItem(command.name, progress.item),
      )
    else if (options.json === true && command.runsIn === 'kernel') {
      if (progress.kind === 'event') printSafely(process.stdout, `${jsonText(progress.event)}\n`)
    } else view.tell(progress)
  }
  try {
    const home = resolve(homeFolder(options.home))
    if (!(await isConfirmed(command, input, home, { input: process.stdin, output: process.stderr }))) {
      printSafely(process.stderr, `${inOwnLanguage(CANCELLED)}\n`)
      return 1
    }
    if (options.home !== undefined) refuseMissingHome(command, home)
    const at = { home, configFile: options.config }
    if (startsConversation(command, input))
      return await (await import('./chat/chat.ts')).runChat({ at, input, json: options.json === true, runArguments })
    const asked = await askForInputs(command, input, { input: process.stdin, output: process.stderr })
    const output = await runCommand({ command, input: await withSecret(command, asked, options), at, tell })
    view.end()
    // Null output: the command printed everything as progress.
    if (output !== null)
      printSafely(process.stdout, options.json ? `${jsonText(output, 2)}\n` : render(command.name, output))
    const note = options.json ? undefined : unseenKeysNote(output, home)
    if (note !== undefined) printSafely(process.stderr, `${inOwnLanguage(note)}\n`)
    return command.exitCode?.(output) ?? 0
  } catch (thrown) {
    view.end()
    const { code, message } = asTirelessError(thrown)
    const terminal = { input: process.stdin, output: process.stderr }
    const isAsked = code === 'confirmation_needed' && input.yes !== true
    if (isAsked && process.stdin.isTTY && options.json !== true) {
      if (await isAgreed(message, terminal)) return runVerb(command, { ...input, yes: true }, options)
      printSafely(process.stderr, `${inOwnLanguage(CANCELLED)}\n`)
      return 1
    }
    return reportError(thrown, options.json === true)
  }
}

const CANCELLED = { text: 'Cancelled; nothing was done.', zh: '已取消，什么都没有做。' }

/** Without a message, `chat` reads one after the other. */
const startsConversation = ({ name }: Command, { text, follow, missed }: Readonly<Record<string, unknown>>): boolean =>
  name === 'chat' && text === undefined && follow === undefined && missed !== true

/** These create the home that they are given. */
const CREATE_HOME = ['init', 'start', 'run', 'once', 'chat']

/** A wrong path must not become a new, empty home. */
function refuseMissingHome({ name, runsIn, runClosed }: Command, home: string): void {
  const opensHome = runsIn === 'any_process' || runsIn === 'own_process' || runsIn === 'kernel'
  if (!opensHome || runClosed !== undefined || CREATE_HOME.includes(name) || existsSync(home)) return
  throw new TirelessError('not_found', {
    what: 'there is no home at this path',
    got: home,
    fix: `check the path, or create a home there: tireless init --home ${home}`,
  })
}

async function withSecret(
  command: Command,
  input: Readonly<Record<string, unknown>>,
  source: SecretSource,
): Promise<Readonly<Record<string, unknown>>> {
  const secret = secretField(command)
  if (!secret) return input
  const terminal = { input: process.stdin, output: process.stderr }
  const isNamed = source.fromEnv !== undefined || source.fromFile !== undefined
  // Without a terminal, the standard input of such a command may be anything.
  if (!secret.required && !isNamed && !process.stdin.isTTY) return input
  const asked = `${secret.key} of ${input.name ?? input.type}${secret.required ? '' : ' (Enter: none)'}`
  const value = await readSecretInput(source, asked, terminal)
  return value === '' && !secret.required ? input : { ...input, [secret.key]: value }
}

function reportError(thrown: unknown, json: boolean): number {
  const { code, message } = asTirelessError(thrown)
  if (json) printError(code, message)
  printSafely(process.stderr, `${code}: ${translateLabels(message)}\n`)
  return ERROR_CODES[code].exit
}

/** The fixed labels of an error in the language of the terminal; its other words stay. */
function translateLabels(message: string): string {
  if (terminalLanguage() !== 'zh') return message
  return message.replace('; got ', '；得到 ').replace('; expected ', '；应为 ').replace('; do this: ', '；请这样做：')
}

const printError = (code: ErrorCode, message: string): void =>
  printSafely(process.stdout, `${jsonText({ error: { code, message } }, 2)}\n`)
