/**
 * What a session has heard, from whom, and what that makes of it (I12). Folded from the journal, like everything else of a thread.
 * Must not know: what follows from a label. That is policy.
 */

import type { Observation } from '../domain/observation.ts'
import type { JournalRecord } from '../domain/record.ts'
import { withoutFences } from '../domain/title.ts'
import { CLEAN, type Label, lowest } from '../domain/trust.ts'
import type { Thread } from './thread.ts'

export interface Heard {
  readonly text: string
  /** For people. */
  readonly source: string
  /** Whether it is the owner's own. */
  readonly trusted: boolean
  /** The host that said it. */
  readonly host?: string
}

type Listener = Pick<Thread, 'label' | 'heard'>

/** Contract: the lowest label of what a session has read, without all else that is folded from its journal. */
export function labelOfJournal(records: readonly JournalRecord[]): Label {
  const listener: Listener = { label: CLEAN, heard: [] }
  for (const record of records) {
    if (record.kind === 'input_bound') hearInput(listener, record)
    else if (record.kind === 'call_settled') hearResult(listener, record, '')
  }
  return listener.label
}

export function hearInput(
  thread: Listener,
  { input, recalled, turn }: Extract<JournalRecord, { kind: 'input_bound' }>,
): void {
  for (const observation of input) {
    lower(thread, observation.label)
    thread.heard.push(...wordsIn(observation, turn))
  }
  for (const { text, key, trust, private: isPrivate } of recalled?.facts ?? []) {
    lower(thread, { trust, private: isPrivate })
    thread.heard.push({ text, source: `what is remembered of ${key}`, trusted: false })
  }
}

/** Outside of fences an owner's message is the owner's; what stands in them came from elsewhere. */
function wordsIn(observation: Observation, turn: number): readonly Heard[] {
  if (observation.type !== 'user_message') {
    const text = JSON.stringify(observation.payload ?? null)
    return [{ text, source: `the event ${observation.name} (turn ${turn})`, trusted: false }]
  }
  if (observation.words === 'model') return [{ text: observation.text, source: 'what a model wrote', trusted: false }]
  const own = withoutFences(observation.text)
  return [
    { text: own, source: OWN, trusted: true },
    ...(own === observation.text ? [] : [{ text: observation.text, source: 'data in the prompt', trusted: false }]),
  ]
}

export function hearResult(
  thread: Listener,
  { result, label, turn }: Extract<JournalRecord, { kind: 'call_settled' }>,
  tool: string,
  host?: string,
): void {
  lower(thread, label)
  // Whatever it says, be it trusted: it is no word of the owner's, but at best an echo of one.
  const source = `${tool} (turn ${turn})`
  thread.heard.push({ text: result.content, source, trusted: false, ...(host !== undefined && { host }) })
}

function lower(thread: Listener, label: Label = CLEAN): void {
  thread.label = lowest(thread.label, label)
}

const OWN = 'your words'

/** The owner's words so far, each once: what came to nothing is heard again. */
export const ownWords = ({ heard }: Thread): readonly string[] => [
  ...new Set(heard.filter(({ source }) => source === OWN).map(({ text }) => text)),
]
