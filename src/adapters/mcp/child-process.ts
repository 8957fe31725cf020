/**
 * Transport to a server that is a child process: one message per line on stdin and stdout. The child leads its own
 * process group and gets only the given environment; all its processes are ended together. (The SDK's transport passes
 * on more of the environment and ends only one process.)
 */

import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { deserializeMessage, type JSONRPCMessage, serializeMessage, type Transport } from '@modelcontextprotocol/client'
import { TirelessError } from '../../domain/error.ts'
import type { Clock } from '../../ports/clock.ts'
import { withDeadline } from '../../ports/deadline.ts'
import type { ProcessGroup, ProcessStart } from '../../ports/process-start.ts'

interface ChildOptions {
  /** Contract: called once, before the process starts; prepares the start. */
  start(): Promise<ProcessStart>
  readonly group: ProcessGroup
  readonly clock: Clock
  /** Size limit of one message. */
  readonly mostBytes: number
  /** Called with each line of stderr. */
  onStderr(line: string): void
}

/** The time that a process has to exit after its stdin is closed, and again after SIGTERM. */
const GRACE_MS = 500
/** How long remaining output is read after the process has exited. */
const DRAIN_MS = 200

type Child = ChildProcessByStdio<Writable, Readable, Readable>

export class ChildTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #options: ChildOptions
  /** The parts of the incomplete last line of stdout; `#bytes` is their total length. */
  #parts: Buffer[] = []
  #bytes = 0
  #child: Child | undefined
  #ended: Promise<void> = Promise.resolve()
  #endReason: string | undefined
  #invalidLine: string | undefined
  #isOver = false
  #isClosed = false
  #afterEnd: ProcessStart['close']

  constructor(options: ChildOptions) {
    this.#options = options
  }

  /** The SDK recognises a stdio transport by `pid` and `stderr`. */
  get pid(): number | null {
    return this.#child?.pid ?? null
  }
  get stderr(): Readable | null {
    return this.#child?.stderr ?? null
  }

  /** Why the process ended, and the last invalid line on stdout; undefined if neither is known. */
  get problem(): string | undefined {
    const known = [this.#endReason, this.#invalidLine].filter((what) => what !== undefined)
    return known.length > 0 ? known.join('; ') : undefined
  }

  get hasEnded(): boolean {
    return this.#isOver
  }

  async start(): Promise<void> {
    const { group: leash } = this.#options
    // Ends server processes that an earlier process of the runtime left behind.
    await leash.end(0)
    const { argv, cwd, env, script, handles = [], started, close } = await this.#options.start()
    if (this.#isClosed) {
      await close?.()
      throw new TirelessError('aborted', 'it was closed before it was started')
    }
    this.#afterEnd = close
    const [program = '', ...args] = argv
    const child = spawn(program, args, {
      cwd,
      env: { ...env, ...leash.env },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', script === undefined ? 'ignore' : 'pipe', ...handles],
    }) as ChildProcess as Child
    if (child.pid !== undefined) leash.track(child.pid)
    const scriptPipe = child.stdio[3] as Writable | null
    // The process may exit before it reads the script.
    scriptPipe?.on('error', () => {})
    scriptPipe?.end(script)
    this.#child = child
    this.#listen(child)
    this.#ended = this.#endOf(child)
    if (child.pid !== undefined) started?.(child.pid, (reason) => this.#endFor(reason))
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', (cause) => reject(notStarted(program, cause)))
    })
  }

  #endFor(reason: string): void {
    this.#endReason ??= reason
    void this.#options.group.end(0).catch(() => {})
  }

  #listen({ stdin, stdout, stderr }: Child): void {
    stdin.on('error', (error) => this.onerror?.(error))
    stdout.on('data', (chunk: Buffer) => this.#receive(chunk))
    let rest = ''
    stderr.setEncoding('utf8').on('data', (text: string) => {
      const lines = `${rest}${text}`.split('\n')
      rest = (lines.pop() ?? '').slice(-LONGEST_LINE)
      for (const line of lines) this.#options.onStderr(line.slice(0, LONGEST_LINE))
    })
    stderr.once('end', () => rest !== '' && this.#options.onStderr(rest))
  }

  #receive(chunk: Buffer): void {
    let from = 0
    for (let end = chunk.indexOf(NEW_LINE); end >= 0; end = chunk.indexOf(NEW_LINE, from)) {
      const line = Buffer.concat([...this.#parts.splice(0), chunk.subarray(from, end)])
      this.#bytes = 0
      from = end + 1
      this.#parseLine(line.toString('utf8').trim())
    }
    this.#parts.push(chunk.subarray(from))
    this.#bytes += chunk.length - from
    if (this.#bytes <= this.#options.mostBytes) return
    this.#endReason = `it sent a message of more than ${this.#options.mostBytes} bytes`
    this.#parts = []
    this.#bytes = 0
    void this.close()
  }

  /** Invalid lines are skipped: some servers also log to stdout. */
  #parseLine(line: string): void {
    if (line === '' || this.#isOver) return
    let message: JSONRPCMessage
    try {
      message = deserializeMessage(line)
    } catch {
      this.#invalidLine = `it wrote an invalid message to stdout: ${line.slice(0, LONGEST_LINE)}`
      return
    }
    this.onmessage?.(message)
  }

  /** Contract: resolves when the child and all its descendants have ended; never rejects. */
  async #endOf(child: Child): Promise<void> {
    const { clock, group: leash } = this.#options
    const closed = new Promise((resolve) => child.once('close', resolve))
    const how = await new Promise<string | undefined>((resolve) => {
      child.once('error', () => resolve(undefined))
      child.once('exit', (code, signal) =>
        resolve(signal === null ? `it exited with code ${code}` : `it was killed by ${signal}`),
      )
    })
    // Waits for a limited time, because a descendant that is still running may keep the pipes open.
    await withDeadline({ clock, ms: DRAIN_MS }, () => closed)
    this.#isOver = true
    this.#endReason ??= how
    await leash.end(0).catch(() => {})
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
    await this.#afterEnd?.().catch(() => {})
    this.onclose?.()
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin
    if (!stdin?.writable) throw new TirelessError('tool_failed', this.#endReason ?? 'it is not running')
    if (stdin.write(serializeMessage(message))) return
    const drained = new Promise<void>((resolve) => stdin.once('drain', resolve))
    await Promise.race([drained, this.#ended])
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const child = this.#child
    if (!child || this.#isOver) return this.#ended
    const { clock, group: leash } = this.#options
    child.stdin.end()
    await withDeadline({ clock, ms: GRACE_MS }, () => this.#ended)
    if (!this.#isOver) await leash.end(GRACE_MS)
    await this.#ended
  }
}

const LONGEST_LINE = 500
const NEW_LINE = 10

function notStarted(program: string, cause: Error): TirelessError {
  return new TirelessError(
    'tool_failed',
    {
      what: `${program} cannot be started`,
      got: cause.message,
      fix: 'check that it is on the PATH, or give its full path',
    },
    { cause },
  )
}
