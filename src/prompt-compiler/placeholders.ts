/**
 * Fills in placeholders such as `{STATE}`, in one pass: inserted text is data, and placeholders in it are not expanded.
 */

import { fenceUntrusted } from './data-fence.ts'

/**
 * `nonce`: the nonce of the data fence around the value, made when the value was journalled. Null for text of the
 * runtime itself, such as the time, which needs no data fence.
 */
export interface PlaceholderValue {
  readonly text: string
  readonly nonce: string | null
}

interface ExpandedText {
  readonly text: string
  /** Unknown placeholders, which stay as they are; each once, in order of appearance. */
  readonly unknown: readonly string[]
}

const PLACEHOLDER = /\{([A-Z][A-Z0-9_]*)\}/g

export function expandPlaceholders(text: string, values: Readonly<Record<string, PlaceholderValue>>): ExpandedText {
  const unknown = new Set<string>()
  const expanded = text.replace(PLACEHOLDER, (whole, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (!value) {
      unknown.add(name)
      return whole
    }
    return value.nonce === null ? value.text : fenceUntrusted(name, value.text, value.nonce)
  })
  return { text: expanded, unknown: [...unknown] }
}

/** This placeholder is filled in when the run starts, not when it is planned, with the agent's facts at that time. */
export const MEMORY_PLACEHOLDER = 'MEMORY'

/**
 * Marks the position of the facts in a prompt. Inserted text cannot contain the mark, because the nonce is
 * unpredictable.
 */
export const memoryMark = (nonce: string): string => `{${MEMORY_PLACEHOLDER}:${nonce}}`
