/**
 * Provenance: which texts a session has read, their sources, and the resulting label of the session (I12). Computed
 * from the journal.
 * Must not know: the consequences of a label. They belong to policy.
 */

import type { JournalRecord } from '../../domain/journal-record.ts'
import type { Json } from '../../domain/json.ts'
import { CLEAN_LABEL, isCleanLabel, type Label, lowestLabel, UNTRUSTED_LABEL } from '../../domain/label.ts'
import type { Observation } from '../../domain/observation.ts'
import { withoutFences } from '../../domain/title.ts'
import { parseWebAddress } from '../../policy/links.ts'
import { collectTexts } from '../../policy/senders.ts'

interface TextSource {
  readonly text: string
  /** Where the text comes from, as shown to people in approvals. */
  readonly source: string
  /** Whether the owner wrote the text. */
  readonly trusted: boolean
  /** The host that the text came from. */
  readonly host?: string
  /** The address that the call requested, if its arguments contain exactly one address. */
  readonly address?: string
  /** Set if the session had read no outside and no private content up to and including this text. */
  readonly isEarly?: true
}

export interface Provenance {
  /** The lowest label of everything the session has read. */
  label: Label
  readonly sources: TextSource[]
}

export function addInputSources(
  provenance: Provenance,
  { input, recalled, memory, turn }: Extract<JournalRecord, { kind: 'input_bound' }>,
): void {
  for (const observation of input) {
    lowerLabel(provenance, observation.label)
    provenance.sources.push(...partsOf(observation, turn))
  }
  for (const { text, key, trust, private: isPrivate } of recalled?.facts ?? []) {
    lowerLabel(provenance, { trust, private: isPrivate })
    provenance.sources.push({ text, source: `the remembered fact ${key}`, trusted: false })
  }
  for (const { text, label = UNTRUSTED_LABEL } of memory?.messages ?? []) {
    lowerLabel(provenance, label)
    provenance.sources.push({ text, source: `the memory (turn ${turn})`, trusted: false })
  }
}

const AUTHORS = { model: 'text written by a model', source: 'a message of a source' } as const

/** In an owner's message, only text outside data fences counts as written by the owner. */
function partsOf(observation: Observation, turn: number): readonly TextSource[] {
  if (observation.type !== 'user_message') {
    const text = JSON.stringify(observation.payload ?? null)
    return [{ text, source: `the event ${observation.name} (turn ${turn})`, trusted: false }]
  }
  if (observation.words !== undefined)
    return [{ text: observation.text, source: AUTHORS[observation.words], trusted: false }]
  const ownText = withoutFences(observation.text)
  return [
    { text: ownText, source: OWNER_SOURCE, trusted: true },
    ...(ownText === observation.text ? [] : [{ text: observation.text, source: 'data in the prompt', trusted: false }]),
  ]
}

/** The call that a result belongs to. */
interface ResultCall {
  readonly tool: string
  readonly args: Json
  readonly host?: string | undefined
}

export function addResultSource(
  provenance: Provenance,
  { result, label, turn }: Extract<JournalRecord, { kind: 'call_settled' }>,
  { tool, args, host }: ResultCall,
): void {
  lowerLabel(provenance, label)
  provenance.sources.push({
    text: result.content,
    source: `${tool} (turn ${turn})`,
    // Even a trusted result never counts as written by the owner.
    trusted: false,
    ...(host === undefined ? {} : { host, ...onlyAddressIn(args) }),
    ...(isCleanLabel(provenance.label) ? { isEarly: true } : {}),
  })
}

/** The reason of a gate that held a call back, if others wrote it. */
export function addHeldSource(
  provenance: Provenance,
  { result, label, turn }: Extract<JournalRecord, { kind: 'call_settled' }>,
): void {
  if (label === undefined) return
  lowerLabel(provenance, label)
  provenance.sources.push({ text: result.content, source: `a gate (turn ${turn})`, trusted: false })
}

/** What critics said, if others wrote it. */
export function addVerdictSources(
  provenance: Provenance,
  { verdicts, turn }: Extract<JournalRecord, { kind: 'step_committed' }>,
): void {
  for (const { critic, verdict } of verdicts ?? []) {
    if (verdict.kind === 'continue' || verdict.label === undefined) continue
    lowerLabel(provenance, verdict.label)
    const text = verdict.kind === 'retry' ? verdict.instruction : verdict.reason
    provenance.sources.push({ text, source: `the critic ${critic} (turn ${turn})`, trusted: false })
  }
}

/** The address in the arguments, if there is exactly one. Of several addresses, it is unknown which were requested. */
function onlyAddressIn(args: Json): Pick<TextSource, 'address'> {
  const [address, ...more] = collectTexts(args).filter((text) => parseWebAddress(text) !== undefined)
  return address === undefined || more.length > 0 ? {} : { address }
}

function lowerLabel(provenance: Provenance, label: Label = CLEAN_LABEL): void {
  provenance.label = lowestLabel(provenance.label, label)
}

const OWNER_SOURCE = 'your instructions'

/** The owner's texts so far, without duplicates: the input of a failed turn is bound again. */
export const listOwnerTexts = ({ sources: heard }: Provenance): readonly string[] => [
  ...new Set(heard.filter(({ source }) => source === OWNER_SOURCE).map(({ text }) => text)),
]
