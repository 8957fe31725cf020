/**
 * The source `process`: runs a command and reports its exit, or watches a process that something else started. Output
 * lines can be events, or the latest one a slice.
 */

import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { TirelessError } from '../../domain/error.ts'
import type { Json } from '../../domain/json.ts'
import type { Label } from '../../domain/label.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Ids } from '../../ports/ids.ts'
import type { ProcessGroup, ProcessStart } from '../../ports/process-start.ts'
import type { Source, SourceSink } from '../../ports/source.ts'

interface CommandOptions {
  readonly name: string
  /** Contract: prepares one start; throws if the command must not be started. */
  start(): Promise<ProcessStart>
  readonly group: ProcessGroup
  readonly output: 'none' | 'slice' | 'events'
  readonly restart: 'never' | 'always'
  readonly label: Label
  readonly clock: Clock
  readonly ids: Ids
}

/** A longer line is cut. */
const LONGEST_LINE = 4000
const SLICE = 'last_line'
/** The time a process has to exit after SIGTERM. */
const GRACE_MS = 500
/** The first restart comes after this time; then the wait doubles, up to the longest. */
const FIRST_WAIT_MS = 1000
const LONGEST_WAIT_MS = 60_000
/** A process that ran this long counts as healthy. */
const HEALTHY_MS = 60_000

type Child = ChildProcessByStdio<null, Readable, Readable>

export function commandSource(options: CommandOptions): Source {
  const { name, restart, clock, ids } = options
  return {
    ...{ name, type: 'process' },
    async run(sink, signal) {
      let wait = FIRST_WAIT_MS
      while (!signal.aborted) {
        const startedAt = clock.monotonic()
        const id = ids.next()
        const ended = await runOnce(options, id, sink, signal)
        if (signal.aborted) return
        await publish(sink, options.label, id, 'process_exited', ended)
        if (restart === 'never') return
        if (clock.monotonic() - startedAt >= HEALTHY_MS) wait = FIRST_WAIT_MS
        await clock.sleep(wait, signal)
        wait = Math.min(wait * 2, LONGEST_WAIT_MS)
      }
    },
  }
}

const publish = (sink: SourceSink, label: Label, id: string, name: string, payload: Json): Promise<unknown> =>
  sink.publish({ id, observation: { type: 'system_event', name, payload }, label })

/** Contract: resolves when the command and all its descendants have ended. */
async function runOnce(
  { start, group, output, label }: CommandOptions,
  id: string,
  sink: SourceSink,
  signal: AbortSignal,
): Promise<{ readonly code: number | null; readonly signal: string | null }> {
  // Ends processes that an earlier process of the runtime left behind.
  await group.end(0)
  const prepared = await start()
  const end = (): void => void group.end(GRACE_MS).catch(() => {})
  signal.addEventListener('abort', end, { once: true })
  try {
    const child = startChild(prepared, group, end)
    let line = 0
    const onLine = async (text: string): Promise<void> => {
      line += 1
      if (output === 'slice') sink.setSlice(SLICE, text)
      if (output === 'events') await publish(sink, label, `${id} ${line}`, 'process_output', { line: text })
    }
    const exit = exitOf(child)
    if (signal.aborted) end()
    const read = Promise.all([child.stdout, child.stderr].map((stream) => readLines(stream, onLine))).catch(
      async (thrown) => {
        if (signal.aborted) return
        // A command that never exits would hide the error.
        await group.end(GRACE_MS).catch(() => {})
        throw thrown
      },
    )
    // Until the exit, no code awaits it.
    read.catch(() => {})
    const ended = await exit
    // A descendant may keep the pipes open for ever.
    await group.end(0)
    await read
    return ended
  } finally {
    signal.removeEventListener('abort', end)
    await group.end(0).catch(() => {})
    await prepared.close?.()
  }
}

function startChild(prepared: ProcessStart, group: ProcessGroup, end: () => void): Child {
  const { argv, cwd, env, script, handles = [], started } = prepared
  const [program = '', ...args] = argv
  const child = spawn(program, args, {
    cwd,
    env: { ...env, ...group.env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', script === undefined ? 'ignore' : 'pipe', ...handles],
  }) as unknown as Child
  if (child.pid !== undefined) group.track(child.pid)
  const scriptPipe = child.stdio[3] as Writable | null
  scriptPipe?.on('error', () => {})
  scriptPipe?.end(script)
  if (child.pid !== undefined) started?.(child.pid, end)
  return child
}

const exitOf = (child: Child): Promise<{ readonly code: number | null; readonly signal: string | null }> =>
  new Promise((resolve, reject) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
    child.once('error', (cause) =>
      reject(new TirelessError('tool_failed', `the command cannot be started: ${cause.message}`, { cause })),
    )
  })

/** Reads no further while a line is being stored. */
async function readLines(stream: Readable, onLine: (line: string) => Promise<void>): Promise<void> {
  let rest = ''
  for await (const chunk of stream.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = `${rest}${chunk}`.split(/\r?\n/)
    rest = (lines.pop() ?? '').slice(0, LONGEST_LINE)
    for (const line of lines) if (line.trim() !== '') await onLine(cutLine(line))
  }
  if (rest.trim() !== '') await onLine(cutLine(rest))
}

/** Contract: valid Unicode, even if the cut is within a character. */
const cutLine = (line: string): string => line.slice(0, LONGEST_LINE).toWellFormed()
