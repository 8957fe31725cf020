/** Prepares events and deltas of runs for viewers: redacted and limited in size. */

import type { Delta, Phase } from '../domain/event.ts'
import { truncateEventText } from '../domain/event-payload.ts'
import type { Json } from '../domain/json.ts'
import type { Redact } from '../domain/redact.ts'
import type { RunRef, RunSink } from '../ports/run-sink.ts'
import { createRecordFolds } from '../trace/event-folds.ts'
import type { RedactedRecords } from '../trace/redacted-records.ts'
import type { EventStream } from './event-stream.ts'

/** An incomplete word at the end of streamed text. */
const OPEN_WORD = /[!-~]{0,256}$/

/** Events of these phases come when a step has ended, after events that say what its deltas said. */
const ENDS: ReadonlySet<Phase> = new Set(['CHECK_STOP', 'RECOVER', 'END'])

/** Without viewers, deltas other than text are skipped. */
export function redactingSink(redact: Redact, records: RedactedRecords, live: EventStream): RunSink {
  /** The incomplete last word of each run's text. It is held back, because half a secret would not be recognised. */
  const heldWords = new Map<string, string>()

  function sendText({ run_id, session_id }: RunRef, text: string): void {
    if (text !== '') live.send({ name: 'delta', data: { run_id, session_id, kind: 'text', text: redact(text) } })
  }

  function releaseWord(run: RunRef): void {
    const word = heldWords.get(run.run_id)
    heldWords.delete(run.run_id)
    if (word !== undefined) sendText(run, word)
  }

  const folds = createRecordFolds(
    (events, record) => {
      for (const event of events) {
        releaseWord(event)
        if (ENDS.has(event.phase)) live.overtake(event.run_id)
      }
      if (live.hadViewers()) for (const line of records.linesOf(record, events)) live.send({ name: 'event', line })
    },
    (record) => records.redacted(record),
  )
  return {
    ...folds,
    delta(delta) {
      if (delta.kind !== 'text') {
        releaseWord(delta)
        if (live.hadViewers()) live.sendLater(delta.run_id, () => ({ name: 'delta', data: limitDelta(delta, redact) }))
        return
      }
      const all = `${heldWords.get(delta.run_id) ?? ''}${delta.text}`
      const word = OPEN_WORD.exec(all)?.[0] ?? ''
      heldWords.set(delta.run_id, word)
      sendText(delta, all.slice(0, all.length - word.length))
    },
  }
}

function limitDelta(delta: Exclude<Delta, { kind: 'text' }>, redact: Redact): Delta {
  if (delta.kind === 'result') return { ...delta, content: truncateEventText(redact(delta.content)) }
  if (delta.kind === 'output') return { ...delta, text: truncateEventText(redact(delta.text)) }
  const args = JSON.stringify(delta.args)
  const redactedArgs = redact(args)
  return {
    ...delta,
    args: redactedArgs === args && args.length <= 2000 ? delta.args : (truncateEventText(redactedArgs) satisfies Json),
  }
}
