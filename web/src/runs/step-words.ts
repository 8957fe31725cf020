/** What the records of a step say, in words for people. Pure. */

interface ObservedPart {
  /** The field's name in the record; empty if the record is a text. */
  readonly name: string
  readonly text: string
}

/** Marks the borders of text from outside for the model; it says nothing. */
const INTERNAL: ReadonlySet<string> = new Set(['nonce'])

/** Contract: what a behaviour observed, without empty and internal fields. */
export function observedParts(observation: unknown): readonly ObservedPart[] {
  if (typeof observation !== 'object' || observation === null || Array.isArray(observation))
    return isEmpty(observation) ? [] : [{ name: '', text: asText(observation) }]
  return Object.entries(observation).flatMap(([name, value]) =>
    INTERNAL.has(name) || isEmpty(value) ? [] : [{ name, text: asText(value) }],
  )
}

const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  (typeof value === 'string' && value.trim() === '') ||
  (typeof value === 'object' && Object.keys(value).length === 0)

export const asText = (value: unknown): string =>
  typeof value === 'string' ? value.trim() : (JSON.stringify(value, null, 2) ?? '')

interface ParkedCall {
  /** Why the owner is asked; empty if that was said with an earlier call. */
  readonly reason: string
  readonly expires_at: string | null
}

/** Contract: what a call waits for, if this is the result of one that waits for an approval. */
export function readParked(content: string): ParkedCall | undefined {
  if (!content.startsWith('{"parked":true')) return undefined
  try {
    const { reason, expires_at } = JSON.parse(content) as Readonly<Record<string, unknown>>
    return {
      reason: typeof reason === 'string' ? reason : '',
      expires_at: typeof expires_at === 'string' ? expires_at : null,
    }
  } catch {
    return undefined
  }
}
