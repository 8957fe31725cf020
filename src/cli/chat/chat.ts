/**
 * The terminal chat: reads messages and prints the answers. On a terminal, messages can be written while the agent
 * works; Ctrl-C stops the current step, not the work. Without a terminal, one line after the other is answered.
 */

import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { systemClock } from '../../adapters/system/clock.ts'
import { createStopControl } from '../../app/stop-control.ts'
import { type CommandOutput, loadCommand } from '../../commands/lib/registry.ts'
import { asTirelessError } from '../../domain/error.ts'
import { homePaths } from '../../home.ts'
import { askKernel } from '../../server/socket.ts'
import { type HomeLocation, runCommand } from '../run-command.ts'
import { jsonText, printSafely } from '../terminal.ts'
import { ChatProgress } from './chat-progress.ts'
import { chatTexts } from './chat-texts.ts'
import { MessageBuffer, readHistory, writeHistory } from './line-reader.ts'
import { helpLines, readSlashCommand } from './slash-command.ts'

const LEAVE_MS = 10_000

export interface ChatOptions {
  readonly at: HomeLocation
  /** Input of each message besides its text. */
  readonly input: Readonly<Record<string, unknown>>
  readonly json: boolean
  /** Contract: runs a command line and prints its output. */
  runArguments(args: readonly string[]): Promise<number>
}

/** Contract: resolves with the exit code when the person leaves, or the input ends. */
export function runChat(options: ChatOptions): Promise<number> {
  const chat = new TerminalChat(options)
  return process.stdin.isTTY ? chat.talk() : chat.answerLines()
}

class TerminalChat {
  readonly #options: ChatOptions
  readonly #progress = new ChatProgress(process.stderr)
  readonly #control = createStopControl(systemClock)
  readonly #pending = new Set<Promise<void>>()
  /** The runs that Ctrl-C has stopped. */
  readonly #stopped = new Set<string>()
  /** Runs whose answer was printed: several messages may be answered by one run. */
  readonly #answered = new Set<string>()
  #failed = false

  constructor(options: ChatOptions) {
    this.#options = options
  }

  /** Lines of a file or pipe: each is answered before the next one is read. */
  async answerLines(): Promise<number> {
    const buffer = new MessageBuffer()
    const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })
    const stop = (): void => {
      this.#control.stop(LEAVE_MS)
      lines.close()
    }
    process.once('SIGINT', stop)
    process.once('SIGTERM', stop)
    for await (const line of lines) {
      const message = buffer.add(line)
      if (message === undefined || message.trim() === '') continue
      if ((await this.#handle(message)) === 'leave' || this.#hasLeft()) break
    }
    lines.close()
    const rest = buffer.isOpen ? buffer.add('') : undefined
    if (rest !== undefined && rest.trim() !== '') await this.#handle(rest)
    this.#control.over()
    process.off('SIGINT', stop)
    process.off('SIGTERM', stop)
    return this.#failed ? 1 : 0
  }

  async talk(): Promise<number> {
    const file = join(homePaths(this.#options.at.home).root, 'chat-history')
    const lines = createInterface({
      ...{ input: process.stdin, output: process.stderr, prompt: '> ', terminal: true },
      history: readHistory(file),
    })
    lines.on('history', (history) => writeHistory(file, history))
    printSafely(process.stderr, `${chatTexts().greeting}\n`)
    await this.#showMissed()
    await this.#readUntilLeft(lines)
    const isUnfinished = this.#pending.size > 0 || this.#stopped.size > 0
    this.#control.stop(LEAVE_MS)
    if (isUnfinished) printSafely(process.stderr, `\n${chatTexts().left}\n`)
    await Promise.all(this.#pending)
    this.#control.over()
    return 0
  }

  #readUntilLeft(lines: Interface): Promise<void> {
    const buffer = new MessageBuffer()
    let block: string[] = []
    return new Promise((resolve) => {
      lines.once('close', resolve)
      const flush = (): void => {
        const message = buffer.add(block.splice(0).join('\n').replaceAll('\\\n', '\n'))
        if (message === undefined || message.trim() === '') {
          lines.prompt()
          return
        }
        const handled = this.#handle(message).then((next) => {
          this.#pending.delete(handled)
          if (next === 'leave') lines.close()
          else if (this.#pending.size === 0 && !this.#hasLeft()) lines.prompt()
        })
        this.#pending.add(handled)
      }
      lines.on('line', (line) => {
        block = [...block, line]
        // A pasted block arrives in one go and is one message.
        if (block.length === 1) setImmediate(flush)
      })
      lines.on('SIGINT', () => {
        if (this.#pending.size === 0 || this.#stopped.size > 0) lines.close()
        else void this.#stopStep()
      })
      lines.prompt()
    })
  }

  async #handle(message: string): Promise<'go_on' | 'leave'> {
    try {
      if (message.trimStart().startsWith('/')) return await this.#runSlashCommand(message)
      await this.#resume()
      await this.#converse({ ...this.#options.input, text: message.trim() })
    } catch (thrown) {
      this.#failed = true
      this.#progress.end()
      const { code, message: text } = asTirelessError(thrown)
      // The person who leaves was told what becomes of the work.
      if (!this.#hasLeft()) printSafely(process.stderr, `${code}: ${text}\n`)
    }
    return 'go_on'
  }

  #hasLeft(): boolean {
    return this.#control.signals.drain.aborted
  }

  async #converse(input: Readonly<Record<string, unknown>>): Promise<void> {
    const command = await loadCommand('chat')
    if (!command) return
    const output = (await runCommand({
      ...{ command, input, at: this.#options.at, signals: this.#control.signals },
      tell: (progress) => this.#progress.tell(progress),
    })) as CommandOutput<'chat'> | null
    this.#progress.end()
    if (output !== null) this.#print(output)
  }

  /** What came while the chat was closed; a failure must not keep people from talking. */
  async #showMissed(): Promise<void> {
    if (this.#options.input.session !== undefined) return
    try {
      const output = (await this.#runQuietly('chat', { ...this.#options.input, missed: true })) as
        | CommandOutput<'chat'>
        | undefined
      if (!output || output.answer === null) return
      if (!this.#options.json) printSafely(process.stderr, `${chatTexts().missed}\n`)
      this.#print(output)
    } catch {}
  }

  #print(output: CommandOutput<'chat'>): void {
    if (this.#options.json) {
      printSafely(process.stdout, `${jsonText(output)}\n`)
      return
    }
    const fresh = output.replies.filter(({ dispatch_id }) => !this.#answered.has(dispatch_id))
    for (const { dispatch_id, status } of fresh) if (status !== 'pending') this.#answered.add(dispatch_id)
    const texts = fresh.flatMap(({ text }) => (text === null ? [] : [text]))
    const text = output.replies.length === 0 ? output.answer : texts.join('\n\n')
    if (text !== null && text !== '') printSafely(process.stdout, `${text}\n`)
    else if (this.#stopped.size === 0 && fresh.length > 0) printSafely(process.stderr, `${chatTexts().noAnswer}\n`)
  }

  async #runSlashCommand(line: string): Promise<'go_on' | 'leave'> {
    const command = await readSlashCommand(line)
    if (command.kind === 'refused') printSafely(process.stderr, `${command.text}\n`)
    else if (command.kind === 'verb') await this.#runVerb(command.args)
    else if (command.name === 'quit') return 'leave'
    else if (command.name === 'help') printSafely(process.stdout, `${(await helpLines()).join('\n')}\n`)
    else if (this.#stopped.size === 0) printSafely(process.stderr, `${chatTexts().nothingStopped}\n`)
    else if (command.name === 'cancel') await this.#cancel()
    else await this.#continue()
    return 'go_on'
  }

  async #runVerb(args: readonly string[]): Promise<void> {
    const { home, configFile } = this.#options.at
    const place = ['--home', home, ...(configFile === undefined ? [] : ['--config', configFile])]
    await this.#options.runArguments([...args, ...place, ...(this.#options.json ? ['--json'] : [])])
  }

  /** Interrupts the steps of all runs that are at work; the runs are kept. */
  async #stopStep(): Promise<void> {
    const { socket } = homePaths(this.#options.at.home)
    this.#progress.line(chatTexts().stopped)
    for (const id of this.#progress.runs) {
      this.#stopped.add(id)
      await askKernel(socket, 'queue pause', { id, how: 'immediate' }, () => {}).catch(() => {})
    }
  }

  async #resume(): Promise<void> {
    for (const id of this.#stopped) await this.#runQuietly('queue resume', { id })
    this.#stopped.clear()
  }

  async #continue(): Promise<void> {
    const stopped = [...this.#stopped]
    await this.#resume()
    for (const follow of stopped) await this.#converse({ follow })
  }

  async #cancel(): Promise<void> {
    for (const id of this.#stopped) await this.#runVerb(['queue', 'cancel', id])
    this.#stopped.clear()
  }

  async #runQuietly(name: string, input: object): Promise<unknown> {
    const command = await loadCommand(name)
    const { at } = this.#options
    return command && runCommand({ command, input, at, tell: () => {}, signals: this.#control.signals })
  }
}
