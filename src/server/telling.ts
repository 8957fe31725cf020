/** What happens in runs, made fit to leave the process: events of redacted records, deltas redacted and bounded. */

import type { Delta, Event } from '../domain/event.ts'
import type { Json } from '../domain/json.ts'
import { shortened } from '../domain/payload.ts'
import { type Redact, redacted } from '../domain/redacted.ts'
import type { RunRef, Sink } from '../ports/sink.ts'
import { eventFolds } from '../trace/folds.ts'

export type Told =
  | { readonly name: 'event'; readonly data: Event }
  | { readonly name: 'delta'; readonly data: Delta }
  | { readonly name: 'status'; readonly data: unknown }

/** The beginning of a word at the end of a streamed text. */
const OPEN_WORD = /[!-~]{0,256}$/
const MOST_JOINED = 16 * 1024

/** `isFollowed`: whether anybody may ever see a delta; events are counted in any case. */
export function teller(redact: Redact, tell: (told: Told) => void, isFollowed: () => boolean): Sink {
  /** By run: half a secret is not recognised, so that streamed text goes on word by word. */
  const held = new Map<string, string>()

  function text({ run_id, session_id }: RunRef, said: string): void {
    if (said !== '') tell({ name: 'delta', data: { run_id, session_id, kind: 'text', text: redact(said) } })
  }

  function release(run: RunRef): void {
    const word = held.get(run.run_id)
    held.delete(run.run_id)
    if (word !== undefined) text(run, word)
  }

  const folds = eventFolds(
    (event) => {
      release(event)
      tell({ name: 'event', data: event })
    },
    (record) => redacted(record, redact),
  )
  return {
    ...folds,
    delta(delta) {
      if (delta.kind !== 'text') {
        release(delta)
        if (isFollowed()) tell({ name: 'delta', data: bounded(delta, redact) })
        return
      }
      const all = `${held.get(delta.run_id) ?? ''}${delta.text}`
      const word = OPEN_WORD.exec(all)?.[0] ?? ''
      held.set(delta.run_id, word)
      text(delta, all.slice(0, all.length - word.length))
    },
  }
}

function bounded(delta: Exclude<Delta, { kind: 'text' }>, redact: Redact): Delta {
  if (delta.kind === 'result') return { ...delta, content: shortened(redact(delta.content)) }
  if (delta.kind === 'output') return { ...delta, text: shortened(redact(delta.text)) }
  const args = JSON.stringify(delta.args)
  const told = redact(args)
  return { ...delta, args: told === args && args.length <= 2000 ? delta.args : (shortened(told) satisfies Json) }
}

/** Contract: both as one, where they are pieces of one text; undefined otherwise. */
export function joined(before: Told | undefined, next: Told): Told | undefined {
  if (before?.name !== 'delta' || next.name !== 'delta') return undefined
  const [a, b] = [before.data, next.data]
  if (a.kind !== 'text' || b.kind !== 'text' || a.run_id !== b.run_id) return undefined
  return a.text.length + b.text.length > MOST_JOINED
    ? undefined
    : { name: 'delta', data: { ...a, text: a.text + b.text } }
}
