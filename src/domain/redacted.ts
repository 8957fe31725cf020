/** Plain data made fit to be kept or told: every text in it redacted, before any of it is cut. */

import { TirelessError } from './error.ts'
import { describeValue, ignoreRejections } from './json.ts'

/** Contract: hides what is secret in a text, and leaves every other text as it is. */
export type Redact = (text: string) => string

/** Contract: the same thing where nothing had to be hidden; throws `plugin_invalid` where `redact` returns what is no text. */
export function redacted<T>(value: T, redact: Redact): T {
  return hidden(value, redact) as T
}

/** Those who hide secrets may be plugins. */
function checkText(text: unknown): string {
  if (typeof text === 'string') return text
  ignoreRejections(text)
  throw new TirelessError('plugin_invalid', {
    what: 'what hides secrets in texts returned an invalid value',
    got: describeValue(text),
    expected: 'a text',
  })
}

function hidden(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return checkText(redact(value))
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value) ? hiddenItems(value, redact) : hiddenFields(value as Fields, redact)
}

/** Copied with the first thing that has to be hidden: mostly there is none. */
function hiddenItems(items: readonly unknown[], redact: Redact): readonly unknown[] {
  let copy: unknown[] | undefined
  for (let i = 0; i < items.length; i++) {
    const item = hidden(items[i], redact)
    if (item === items[i]) continue
    copy ??= [...items]
    copy[i] = item
  }
  return copy ?? items
}

/** A short word is a name, of ours mostly: were it taken for a secret, nobody could read the record any more. */
const NAME = /^[A-Za-z_]{1,20}$/

/** What a thing is, in words of ours: were one of them a secret, the thing would be another. */
const OURS: ReadonlySet<string> = new Set([
  ...['kind', 'op', 'type', 'status', 'phase', 'stage', 'code', 'finish', 'role'],
  ...['recovery', 'reach', 'trust', 'stop_reason', 'failure_class', 'tool'],
])

/** Names of fields that are names: records have the same few, over and over. */
const names = new Set<string>()
const MOST_NAMES = 1000

function isName(key: string): boolean {
  if (names.has(key)) return true
  if (!NAME.test(key)) return false
  if (names.size < MOST_NAMES) names.add(key)
  return true
}

const isOurs = (key: string, value: unknown): boolean => OURS.has(key) && typeof value === 'string' && NAME.test(value)

type Fields = Readonly<Record<string, unknown>>

function hiddenFields(fields: Fields, redact: Redact): Fields {
  let copy: [string, unknown][] | undefined
  let i = 0
  for (const key of Object.keys(fields)) {
    const name = isName(key) ? key : checkText(redact(key))
    const item = isOurs(key, fields[key]) ? fields[key] : hidden(fields[key], redact)
    if (name !== key || item !== fields[key]) {
      copy ??= Object.entries(fields)
      copy[i] = [name, item]
    }
    i += 1
  }
  return copy ? Object.fromEntries(copy) : fields
}
