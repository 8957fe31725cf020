/**
 * The source `lines`: each line of the standard input is a message; the line that is not finished yet is the slice
 * `unfinished_line`. A line that was read but not stored when the process died is lost: it cannot be read again.
 */

import { StringDecoder } from 'node:string_decoder'
import { TirelessError } from '../../domain/error.ts'
import type { Label } from '../../domain/label.ts'
import type { Source, SourceSink } from '../../ports/source.ts'

/** The standard input, or a stand-in for it. */
export type LineInput = AsyncIterable<Uint8Array | string> & { readonly isTTY?: boolean; destroy?(): void }

interface LinesOptions {
  readonly name: string
  /** Identifies the start of this process. */
  readonly boot: string
  /** Undefined: the program has no standard input, because it is used as a library. */
  readonly input: (() => LineInput) | undefined
  /** Whether a terminal is read, too. */
  readonly terminal: boolean
  readonly label: Label
}

/** A longer line is cut: memory must not grow with what a stranger pipes in. */
const LONGEST_LINE = 64 * 1024
const SLICE = 'unfinished_line'
/** The slice has only the end of a longer line: it is shown in every look, and the bus refuses large ones. */
const LONGEST_SLICE = 2000

/** Contract: valid Unicode, even if the cut is within a character. */
const cutLine = (line: string): string => line.slice(0, LONGEST_LINE).toWellFormed()

export function linesSource({ name, boot, input: open, terminal, label }: LinesOptions): Source {
  let count = 0
  return {
    ...{ name, type: 'lines' },
    async run(sink, signal) {
      const input = open?.()
      if (input === undefined)
        throw new TirelessError('usage', {
          ...{ what: 'there is no standard input', expected: 'a process started by `tireless start`' },
        })
      if (input.isTTY && !terminal)
        throw new TirelessError('usage', {
          ...{ what: 'the standard input is a terminal', expected: 'a pipe or a file' },
          fix: `pipe lines into tireless start, or set sources.${name}.terminal: true`,
        })
      const publish = async (text: string): Promise<void> => {
        if (text.trim() === '') return
        count += 1
        await sink.publish({ id: `${boot} ${count}`, observation: { type: 'user_message', text }, label })
      }
      await readLines(input, sink, publish, signal)
    },
  }
}

async function readLines(
  input: LineInput,
  sink: SourceSink,
  publish: (line: string) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const decoder = new StringDecoder('utf8')
  const chunks = input[Symbol.asyncIterator]()
  const stopped = new Promise<{ done: true; value: undefined }>((resolve) =>
    signal.addEventListener(
      'abort',
      () => {
        // Else the open read would keep the process alive.
        input.destroy?.()
        resolve({ done: true, value: undefined })
      },
      { once: true },
    ),
  )
  let rest = ''
  while (!signal.aborted) {
    const { done, value } = await Promise.race([chunks.next(), stopped])
    if (done) break
    const lines = `${rest}${typeof value === 'string' ? value : decoder.write(Buffer.from(value))}`.split(/\r?\n/)
    rest = (lines.pop() ?? '').slice(0, LONGEST_LINE)
    // The next chunk is read when these lines are stored, so a full bus stops the reading.
    for (const line of lines) await publish(cutLine(line))
    sink.setSlice(SLICE, rest.slice(-LONGEST_SLICE).toWellFormed())
  }
  if (signal.aborted) return
  // The last line may lack its end.
  await publish(cutLine(rest + decoder.end()))
  sink.setSlice(SLICE, '')
}
