/** Explains in plain words why a value from outside is invalid; zod's own messages are for programmers. */

import { truncateText } from './truncate.ts'

/** The properties of a zod issue that are used here. */
interface ValueIssue {
  readonly code?: string | undefined
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly expected?: string
  readonly origin?: string
  readonly minimum?: number | bigint
  readonly maximum?: number | bigint
  readonly inclusive?: boolean | undefined
  readonly values?: readonly unknown[]
  readonly keys?: readonly string[]
}

/** Type names as users know them. */
export const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a mapping of keys to values',
  record: 'a mapping of names to values',
  array: 'a list',
}

/** Contract: one sentence per issue. `hidden`: fields whose values are never quoted. */
export function describeMismatch(
  issues: readonly ValueIssue[],
  value: unknown,
  hidden: readonly string[] = [],
): string {
  return issues.map((issue) => describeIssue(issue, value, hidden)).join('; ')
}

function describeIssue(issue: ValueIssue, value: unknown, hidden: readonly string[]): string {
  const { code, path, keys = [] } = issue
  const place = path.map(String).join('.')
  if (code === 'unrecognized_keys') {
    const unknown = keys.map((key) => JSON.stringify(truncateText(key, MAX_SHOWN))).join(', ')
    const what = `unknown ${keys.length === 1 ? 'key' : 'keys'} ${unknown}`
    return place === '' ? what : `${place}: ${what}`
  }
  const found = valueAt(value, path)
  const got = hidden.includes(place.split('.')[0] ?? '') ? undefined : describeGot(found)
  const where = place === '' ? '' : `${place}: `
  if (found === undefined) return `${where}missing; expected ${describeExpected(issue)}`
  return got === undefined
    ? `${where}expected ${describeExpected(issue)}`
    : `${where}got ${got}; expected ${describeExpected(issue)}`
}

function describeExpected(issue: ValueIssue): string {
  const { code, expected = '', origin, minimum, maximum, inclusive, values = [], message } = issue
  const unit = origin === 'string' ? ' characters' : origin === 'array' ? ' entries' : ''
  switch (code) {
    case 'invalid_type':
      return TYPE_NAMES[expected] ?? customMessage(message)
    case 'invalid_value':
      return `one of ${values.map(String).join(', ')}`
    case 'too_small':
      if (origin === 'string' && minimum === 1) return 'text that is not empty'
      return `${inclusive ? 'at least' : 'more than'} ${minimum}${unit}`
    case 'too_big':
      return `${inclusive ? 'at most' : 'less than'} ${maximum}${unit}`
    default:
      return customMessage(message)
  }
}

/** A schema's own message completes "expected …". Zod does not mark its default message, which says nothing useful. */
const customMessage = (message: string): string => (message.startsWith('Invalid') ? 'a value of another kind' : message)

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value
  for (const step of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined
    found = (found as Record<PropertyKey, unknown>)[step]
  }
  return found
}

const MAX_SHOWN = 60

function describeGot(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return JSON.stringify(truncateText(value, MAX_SHOWN))
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'a mapping' : String(value).slice(0, MAX_SHOWN)
}
