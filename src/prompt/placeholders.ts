/** Placeholders such as `{STATE}`: filled in once, in one pass. What is filled in is data, and nothing in it is filled in again. */

import { quarantined } from './data-fence.ts'

/** `nonce`: made for it when it was journalled; null: the runtime's own word, such as the time, which needs no fence. */
export interface Value {
  readonly text: string
  readonly nonce: string | null
}

export interface Expanded {
  readonly text: string
  /** Placeholders that stand for nothing here; they stay as they are. Each once, in order of appearance. */
  readonly unknown: readonly string[]
}

const PLACEHOLDER = /\{([A-Z][A-Z0-9_]*)\}/g

/** Contract: pure. */
export function expandPlaceholders(text: string, values: Readonly<Record<string, Value>>): Expanded {
  const unknown = new Set<string>()
  const expanded = text.replace(PLACEHOLDER, (whole, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (!value) {
      unknown.add(name)
      return whole
    }
    return value.nonce === null ? value.text : quarantined(name, value.text, value.nonce)
  })
  return { text: expanded, unknown: [...unknown] }
}

/** Filled in when the run begins, not when it is planned: what its agent knows by then. */
export const MEMORY = 'MEMORY'

/** What stands in its place until then. What else was filled in cannot hold it: `nonce` was not known to anybody. */
export const memoryMark = (nonce: string): string => `{${MEMORY}:${nonce}}`
