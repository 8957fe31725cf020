/** Prepares events and deltas of runs for viewers: redacted and limited in size. */

import type { Delta, Event } from '../domain/event.ts'
import { truncateEventText } from '../domain/event-payload.ts'
import type { Json } from '../domain/json.ts'
import { type Redact, redactValue } from '../domain/redact.ts'
import type { RunRef, RunSink } from '../ports/run-sink.ts'
import { createEventFolds } from '../trace/event-folds.ts'

export type LiveMessage =
  | { readonly name: 'event'; readonly data: Event }
  | { readonly name: 'delta'; readonly data: Delta }
  | { readonly name: 'status'; readonly data: unknown }

/** An incomplete word at the end of streamed text. */
const OPEN_WORD = /[!-~]{0,256}$/
const MAX_JOINED_CHARS = 16 * 1024

/** `isFollowed`: whether there may be a viewer; without one, deltas other than text are skipped. */
export function redactingSink(redact: Redact, tell: (told: LiveMessage) => void, isFollowed: () => boolean): RunSink {
  /** The incomplete last word of each run's text. It is held back, because half a secret would not be recognised. */
  const heldWords = new Map<string, string>()

  function sendText({ run_id, session_id }: RunRef, text: string): void {
    if (text !== '') tell({ name: 'delta', data: { run_id, session_id, kind: 'text', text: redact(text) } })
  }

  function releaseWord(run: RunRef): void {
    const word = heldWords.get(run.run_id)
    heldWords.delete(run.run_id)
    if (word !== undefined) sendText(run, word)
  }

  const folds = createEventFolds(
    (event) => {
      releaseWord(event)
      tell({ name: 'event', data: event })
    },
    (record) => redactValue(record, redact),
  )
  return {
    ...folds,
    delta(delta) {
      if (delta.kind !== 'text') {
        releaseWord(delta)
        if (isFollowed()) tell({ name: 'delta', data: limitDelta(delta, redact) })
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

/** Contract: joins two consecutive pieces of one run's text; undefined if they cannot be joined. */
export function mergeTextDeltas(before: LiveMessage | undefined, next: LiveMessage): LiveMessage | undefined {
  if (before?.name !== 'delta' || next.name !== 'delta') return undefined
  const [a, b] = [before.data, next.data]
  if (a.kind !== 'text' || b.kind !== 'text' || a.run_id !== b.run_id) return undefined
  return a.text.length + b.text.length > MAX_JOINED_CHARS
    ? undefined
    : { name: 'delta', data: { ...a, text: a.text + b.text } }
}
