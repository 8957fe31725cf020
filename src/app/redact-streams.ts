/** What runs say while they say it, without secrets: also without those that lie across two pieces. */

import type { Delta } from '../domain/event.ts'
import type { RunRef } from '../ports/sink.ts'
import type { HidingStream } from '../secrets/redactor.ts'

/** A delta that is a piece of a text. */
type Piece = Extract<Delta, { readonly text: string }>

export interface HidingStreams {
  take(delta: Delta): void
  /** Contract: what was held back of the run is told: what comes next is no part of it. */
  release(run: RunRef): void
}

export function hidingStreams(open: () => HidingStream, tell: (delta: Delta) => void): HidingStreams {
  const said = new Map<string, { readonly last: Piece; readonly stream: HidingStream }>()

  function release({ run_id }: RunRef): void {
    const held = said.get(run_id)
    said.delete(run_id)
    const text = held?.stream.end() ?? ''
    if (held && text !== '') tell({ ...held.last, text })
  }

  return {
    release,
    take(delta) {
      const before = said.get(delta.run_id)
      if (before && !isSame(before.last, delta)) release(delta)
      // Whatever else is told of a run is told of its records, which hold no secret.
      if (!('text' in delta)) return tell(delta)
      const stream = said.get(delta.run_id)?.stream ?? open()
      said.set(delta.run_id, { last: delta, stream })
      const text = stream.push(delta.text)
      if (text !== '') tell({ ...delta, text })
    },
  }
}

/** Whether both are pieces of one text. */
const isSame = (before: Piece, { kind }: Delta): boolean => before.kind === kind
