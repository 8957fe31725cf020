/**
 * A server that is a child process: messages on its stdin and stdout, a line each. It leads a session and group of its own, knows nothing of
 * our environment but what it is given, and ends whole. (The SDK's own transport hands more of the environment on, and ends one process only.)
 */

import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { deserializeMessage, type JSONRPCMessage, serializeMessage, type Transport } from '@modelcontextprotocol/client'
import { TirelessError } from '../../domain/error.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Leash } from './leash.ts'
import type { ProcessStart } from './start.ts'

export interface ChildOptions {
  /** Contract: called once, before it is started. */
  start(): Promise<ProcessStart>
  readonly leash: Leash
  readonly clock: Clock
  /** One message may be no longer. */
  readonly mostBytes: number
  /** Told of each line on its stderr. */
  said(line: string): void
}

/** How long it may take to go by itself once nobody speaks to it any more, and once it is told to. */
const GRACE_MS = 500
/** What was written before the end is still read for so long. */
const DRAIN_MS = 200

type Child = ChildProcessByStdio<Writable, Readable, Readable>

export class ChildTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #options: ChildOptions
  /** Of the line that has not come to its end: its parts, and how long they are. */
  #parts: Buffer[] = []
  #bytes = 0
  #child: Child | undefined
  #ended: Promise<void> = Promise.resolve()
  #trouble: string | undefined
  #nonsense: string | undefined
  #isOver = false
  #afterEnd: ProcessStart['close']

  constructor(options: ChildOptions) {
    this.#options = options
  }

  /** By these two the SDK knows what kind of transport this is. */
  get pid(): number | null {
    return this.#child?.pid ?? null
  }
  get stderr(): Readable | null {
    return this.#child?.stderr ?? null
  }

  /** Why it is over, if it is; what it said that is no message, if anything. */
  get trouble(): string | undefined {
    const known = [this.#trouble, this.#nonsense].filter((what) => what !== undefined)
    return known.length > 0 ? known.join('; ') : undefined
  }

  get isOver(): boolean {
    return this.#isOver
  }

  async start(): Promise<void> {
    const { leash } = this.#options
    // What an earlier life of this program has left behind must not do anything beside us.
    await leash.end(0)
    const { argv, cwd, env, script, handles = [], close } = await this.#options.start()
    this.#afterEnd = close
    const [program = '', ...args] = argv
    const child = spawn(program, args, {
      cwd,
      env: { ...env, ...leash.env },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', script === undefined ? 'ignore' : 'pipe', ...handles],
    }) as ChildProcess as Child
    if (child.pid !== undefined) leash.hold(child.pid)
    const told = child.stdio[3] as Writable | null
    // It may be gone before it has read it.
    told?.on('error', () => {})
    told?.end(script)
    this.#child = child
    this.#listen(child)
    this.#ended = this.#endOf(child)
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', (cause) => reject(notStarted(program, cause)))
    })
  }

  #listen({ stdin, stdout, stderr }: Child): void {
    stdin.on('error', (error) => this.onerror?.(error))
    stdout.on('data', (chunk: Buffer) => this.#hear(chunk))
    let rest = ''
    stderr.setEncoding('utf8').on('data', (text: string) => {
      const lines = `${rest}${text}`.split('\n')
      rest = (lines.pop() ?? '').slice(-LONGEST_LINE)
      for (const line of lines) this.#options.said(line.slice(0, LONGEST_LINE))
    })
    stderr.once('end', () => rest !== '' && this.#options.said(rest))
  }

  #hear(chunk: Buffer): void {
    let from = 0
    for (let end = chunk.indexOf(NEW_LINE); end >= 0; end = chunk.indexOf(NEW_LINE, from)) {
      const line = Buffer.concat([...this.#parts.splice(0), chunk.subarray(from, end)])
      this.#bytes = 0
      from = end + 1
      this.#read(line.toString('utf8').trim())
    }
    this.#parts.push(chunk.subarray(from))
    this.#bytes += chunk.length - from
    if (this.#bytes <= this.#options.mostBytes) return
    this.#trouble = `it said more than ${this.#options.mostBytes} bytes at once`
    this.#parts = []
    this.#bytes = 0
    void this.close()
  }

  /** A line that is no message is passed over: many a server says more on its stdout than it should. */
  #read(line: string): void {
    if (line === '' || this.#isOver) return
    let message: JSONRPCMessage
    try {
      message = deserializeMessage(line)
    } catch {
      this.#nonsense = `it said what is no message of the protocol: ${line.slice(0, LONGEST_LINE)}`
      return
    }
    this.onmessage?.(message)
  }

  /** Contract: resolves once it is over and nothing of it is left. Never rejects. */
  async #endOf(child: Child): Promise<void> {
    const { clock, leash } = this.#options
    const closed = new Promise((resolve) => child.once('close', resolve))
    const how = await new Promise<string | undefined>((resolve) => {
      child.once('error', () => resolve(undefined))
      child.once('exit', (code, signal) =>
        resolve(signal === null ? `it ended with ${code}` : `it was ended by ${signal}`),
      )
    })
    // A process that it has left behind may hold its pipes for ever.
    const over = new AbortController()
    await Promise.race([closed, clock.sleep(DRAIN_MS, over.signal)])
    over.abort()
    this.#isOver = true
    this.#trouble ??= how
    await leash.end(0).catch(() => {})
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
    await this.#afterEnd?.().catch(() => {})
    this.onclose?.()
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin
    if (!stdin?.writable) throw new TirelessError('tool_failed', this.#trouble ?? 'it is not running')
    if (stdin.write(serializeMessage(message))) return
    const drained = new Promise<void>((resolve) => stdin.once('drain', resolve))
    await Promise.race([drained, this.#ended])
  }

  async close(): Promise<void> {
    const child = this.#child
    if (!child || this.#isOver) return this.#ended
    const { clock, leash } = this.#options
    child.stdin.end()
    const over = new AbortController()
    await Promise.race([this.#ended, clock.sleep(GRACE_MS, over.signal)])
    over.abort()
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
      fix: 'see that it is on the PATH, or name it by its whole path',
    },
    { cause },
  )
}
