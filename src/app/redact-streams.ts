/** Redacts streamed text of runs, including secrets that are split over two pieces. */

import type { Delta } from '../domain/event.ts'
import type { RunRef } from '../ports/run-sink.ts'
import type { RedactingStream } from '../secrets/redactor.ts'

/** A delta that carries a piece of text. */
type Piece = Extract<Delta, { readonly text: string }>

interface RedactingStreams {
  take(delta: Delta): void
  /** Contract: sends the text held back for the run, because the next delta belongs to another text. */
  release(run: RunRef): void
}

export function createRedactingStreams(open: () => RedactingStream, tell: (delta: Delta) => void): RedactingStreams {
  const openStreams = new Map<string, { readonly last: Piece; readonly stream: RedactingStream }>()

  function release({ run_id }: RunRef): void {
    const held = openStreams.get(run_id)
    openStreams.delete(run_id)
    const text = held?.stream.end() ?? ''
    if (held && text !== '') tell({ ...held.last, text })
  }

  return {
    release,
    take(delta) {
      const previous = openStreams.get(delta.run_id)
      if (previous && !isSame(previous.last, delta)) release(delta)
      // Other deltas come from records, which are redacted already.
      if (!('text' in delta)) return tell(delta)
      const stream = openStreams.get(delta.run_id)?.stream ?? open()
      openStreams.set(delta.run_id, { last: delta, stream })
      const text = stream.push(delta.text)
      if (text !== '') tell({ ...delta, text })
    },
  }
}

/** True if both deltas are pieces of the same text. */
const isSame = (previous: Piece, { kind }: Delta): boolean => previous.kind === kind
