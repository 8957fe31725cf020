/** Redacts every text inside a plain value. Must run before any text is truncated. */

import { TirelessError } from './error.ts'
import { describeValue, ignoreRejections } from './json.ts'

/** Contract: replaces secrets in a text, and changes nothing else. */
export type Redact = (text: string) => string

/**
 * Contract: returns the same object if nothing was redacted; throws `plugin_invalid` if `redact` does not return a
 * text.
 */
export function redactValue<T>(value: T, redact: Redact): T {
  return redactAny(value, redact) as T
}

/** Checks a result of `redact`, which may come from a plugin. */
function checkText(text: unknown): string {
  if (typeof text === 'string') return text
  ignoreRejections(text)
  throw new TirelessError('plugin_invalid', {
    what: 'the redactor returned an invalid value',
    got: describeValue(text),
    expected: 'a text',
  })
}

function redactAny(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return checkText(redact(value))
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value) ? redactItems(value, redact) : redactFields(value as Fields, redact)
}

/** Copies the list only when an item changes, which is rare. */
function redactItems(items: readonly unknown[], redact: Redact): readonly unknown[] {
  let copy: unknown[] | undefined
  for (let i = 0; i < items.length; i++) {
    const item = redactAny(items[i], redact)
    if (item === items[i]) continue
    copy ??= [...items]
    copy[i] = item
  }
  return copy ?? items
}

/**
 * Field names of this shape, and such values of KEYWORD_FIELDS, are never redacted: records would become unreadable.
 */
const NAME = /^[A-Za-z_]{1,20}$/

/** Fields whose values are keywords of the program, not data. */
const KEYWORD_FIELDS: ReadonlySet<string> = new Set([
  ...['kind', 'op', 'type', 'status', 'phase', 'stage', 'code', 'finish', 'role'],
  ...['recovery', 'reach', 'trust', 'stop_reason', 'failure_class', 'tool'],
])

/** Cache of texts that match NAME, because records repeat the same few texts. */
const knownNames = new Set<string>()
const MAX_KNOWN_NAMES = 1000

function isName(text: string): boolean {
  if (knownNames.has(text)) return true
  if (!NAME.test(text)) return false
  if (knownNames.size < MAX_KNOWN_NAMES) knownNames.add(text)
  return true
}

const isKeyword = (key: string, value: unknown): boolean =>
  typeof value === 'string' && KEYWORD_FIELDS.has(key) && isName(value)

type Fields = Readonly<Record<string, unknown>>

function redactFields(fields: Fields, redact: Redact): Fields {
  let copy: [string, unknown][] | undefined
  let i = 0
  for (const key of Object.keys(fields)) {
    const name = isName(key) ? key : checkText(redact(key))
    const value = fields[key]
    const item = isKeyword(key, value) ? value : redactAny(value, redact)
    if (name !== key || item !== value) {
      copy ??= Object.entries(fields)
      copy[i] = [name, item]
    }
    i += 1
  }
  return copy ? Object.fromEntries(copy) : fields
}
