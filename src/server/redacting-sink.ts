/** Prepares events and deltas of runs for viewers: redacted and limited in size. */

import type { Delta, Phase } from '../domain/event.ts'
import { truncateEventText } from '../domain/event-payload.ts'
import type { Json } from '../domain/json.ts'
import type { Redact } from '../domain/redact.ts'
import type { RunSink } from '../ports/run-sink.ts'
import { createRecordFolds } from '../trace/event-folds.ts'
import type { RedactedRecords } from '../trace/redacted-records.ts'
import type { EventStream } from './event-stream.ts'
import { StreamedTextRedactor } from './streamed-text-redactor.ts'

/** Events of these phases come when a step has ended, after events that say what its deltas said. */
const ENDS: ReadonlySet<Phase> = new Set(['CHECK_STOP', 'RECOVER', 'END'])

export function redactingSink(redact: Redact, records: RedactedRecords, live: EventStream): RunSink {
  const texts = new StreamedTextRedactor(redact, {
    isWatched: () => live.hadViewers(),
    send(piece) {
      if (piece.kind === 'text') live.send({ name: 'delta', data: piece })
      else live.sendLater(piece.run_id, () => ({ name: 'delta', data: piece }))
    },
  })
  const folds = createRecordFolds(
    (events, record) => {
      const [first] = events
      if (!first) return
      texts.endAll(first.run_id)
      if (events.some(({ phase }) => ENDS.has(phase))) live.overtake(first.run_id)
      if (live.hadViewers()) live.send({ name: 'event', lines: records.linesOf(record, events) })
    },
    (record) => records.redacted(record),
  )
  return {
    ...folds,
    onRunClosed(run) {
      texts.endAll(run.run_id)
      folds.onRunClosed(run)
    },
    delta(delta) {
      const seq = folds.lastSeq(delta.run_id)
      if ('text' in delta) return texts.push({ ...delta, seq })
      texts.endBefore(delta)
      if (!live.hadViewers()) return
      live.sendLater(delta.run_id, () => ({ name: 'delta', data: { ...limitDelta(delta, redact), seq } }))
    },
  }
}

function limitDelta(delta: Exclude<Delta, { readonly text: string }>, redact: Redact): Delta {
  if (delta.kind === 'result') return { ...delta, content: truncateEventText(redact(delta.content)) }
  const args = JSON.stringify(delta.args)
  const redactedArgs = redact(args)
  return {
    ...delta,
    args: redactedArgs === args && args.length <= 2000 ? delta.args : (truncateEventText(redactedArgs) satisfies Json),
  }
}
