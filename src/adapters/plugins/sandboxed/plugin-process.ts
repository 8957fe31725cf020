/** The process of a sandboxed plugin: starts it, reads its lines, ends it with all its descendants. */

import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { TirelessError } from '../../../domain/error.ts'
import type { Clock } from '../../../ports/clock.ts'
import { startTimer, withDeadline } from '../../../ports/deadline.ts'
import type { ProcessGroup, ProcessStart } from '../../../ports/process-start.ts'
import { LineSplitter } from './line-splitter.ts'
import { MOST_MESSAGE_BYTES } from './message-limits.ts'
import { LONGEST_LINE } from './plugin-log.ts'
import type { ToPlugin } from './protocol.ts'

interface ProcessOptions {
  start(): Promise<ProcessStart>
  readonly group: ProcessGroup
  readonly clock: Clock
  /** Called with each line of stdout. */
  onLine(line: Buffer): void
  onStderr(line: string): void
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>

/** Time to exit after stdin is closed. */
const GRACE_MS = 500
/** How long remaining output is read after the process has exited. */
const DRAIN_MS = 200
/** Most bytes that wait for a process that does not read. */
const MOST_WAITING = 64 * 1024 * 1024
/** After so many characters, stderr is not read for a second: a process that floods it has to wait. */
const STDERR_PER_SECOND = 1024 * 1024

export class PluginProcess {
  readonly #options: ProcessOptions
  readonly #child: Child
  readonly #afterEnd: ProcessStart['close']
  readonly #lines = new LineSplitter()
  #reason: string | undefined
  #killing: Promise<void> | undefined
  /** Contract: resolves with the reason when the process and its descendants have ended; never rejects. */
  readonly ended: Promise<string>

  private constructor(options: ProcessOptions, child: Child, afterEnd: ProcessStart['close']) {
    this.#options = options
    this.#child = child
    this.#afterEnd = afterEnd
    this.#listen()
    this.ended = this.#waitForEnd()
  }

  /** Contract: throws if the process must not be started. */
  static async start(options: ProcessOptions): Promise<PluginProcess> {
    const { group } = options
    // Ends a process that an earlier process of the runtime left behind.
    await group.end(0)
    const { argv, cwd, env, script, handles = [], started, close } = await options.start()
    const [program = '', ...args] = argv
    const child = spawn(program, args, {
      cwd,
      env: { ...env, ...group.env },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', script === undefined ? 'ignore' : 'pipe', ...handles],
    }) as ChildProcess as Child
    if (child.pid !== undefined) group.track(child.pid)
    const scriptPipe = child.stdio[3] as Writable | null
    // The process may exit before it reads the script.
    scriptPipe?.on('error', () => {})
    scriptPipe?.end(script)
    const own = new PluginProcess(options, child, close)
    if (child.pid !== undefined) started?.(child.pid, (reason) => own.kill(reason))
    return own
  }

  send(message: ToPlugin): void {
    const { stdin } = this.#child
    if (!stdin.writable) throw new TirelessError('tool_failed', this.#reason ?? 'its process has ended')
    stdin.write(`${JSON.stringify(message)}\n`)
    if (stdin.writableLength > MOST_WAITING) this.kill('it does not read its messages')
  }

  /** Contract: ends the process at once; the first reason counts. Has no effect on a later process of the plugin. */
  kill(reason: string): void {
    this.#reason ??= reason
    this.#killing ??= this.#endGroup()
  }

  #endGroup(): Promise<void> {
    return this.#options.group.end(0).catch(() => {})
  }

  async close(): Promise<void> {
    const { clock } = this.#options
    this.#reason ??= 'it was stopped'
    this.#child.stdin.end()
    await withDeadline({ clock, ms: GRACE_MS }, () => this.ended)
    this.kill('it was stopped')
    await this.ended
  }

  #listen(): void {
    const { stdin, stdout, stderr } = this.#child
    stdin.on('error', () => {})
    stdout.on('data', (chunk: Buffer) => this.#receive(chunk))
    let rest = ''
    let length = 0
    stderr.setEncoding('utf8').on('data', (text: string) => {
      const lines = `${rest}${text}`.split('\n')
      rest = (lines.pop() ?? '').slice(0, LONGEST_LINE)
      for (const line of lines) this.#options.onStderr(line)
      length += text.length
      if (length < STDERR_PER_SECOND) return
      length = 0
      stderr.pause()
      startTimer(this.#options.clock, 1000, () => stderr.resume())
    })
  }

  #receive(chunk: Buffer): void {
    if (this.#reason !== undefined) return
    for (const line of this.#lines.push(chunk)) {
      if (this.#reason !== undefined) return
      this.#options.onLine(line)
    }
    if (this.#lines.length > MOST_MESSAGE_BYTES) this.kill(`it sent a message of more than ${MOST_MESSAGE_BYTES} bytes`)
  }

  async #waitForEnd(): Promise<string> {
    const { clock } = this.#options
    const child = this.#child
    const closed = new Promise((resolve) => child.once('close', resolve))
    const how = await new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(`it cannot be started: ${error.message}`))
      child.once('exit', (code, signal) =>
        resolve(signal === null ? `its process exited with code ${code}` : `its process was killed by ${signal}`),
      )
    })
    // A descendant that is still running may keep the pipes open.
    await withDeadline({ clock, ms: DRAIN_MS }, () => closed)
    // A later process has the same mark, so it may be started only when nothing ends marked processes any more.
    await this.#killing
    this.#killing = this.#endGroup()
    await this.#killing
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
    await this.#afterEnd?.().catch(() => {})
    this.#reason ??= how
    return this.#reason
  }
}
