/** What is wrong with a value that came in from outside, in words for people; the validator's own are for programmers. */

/** An issue as zod tells it: the parts that are read here. */
export interface ValueIssue {
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

/** Types in the words of whoever writes the value. */
export const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a mapping of keys to values',
  record: 'a mapping of names to values',
  array: 'a list',
}

/** Contract: one sentence per issue. `hidden`: fields of which nothing is quoted. */
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
    const unknown = keys.map((key) => JSON.stringify(clipped(key))).join(', ')
    return place === '' ? `unknown: ${unknown}` : `${place}: unknown: ${unknown}`
  }
  const found = at(value, path)
  const got = hidden.includes(place.split('.')[0] ?? '') ? undefined : shown(found)
  const where = place === '' ? '' : `${place}: `
  if (found === undefined) return `${where}missing; expected ${expectation(issue)}`
  return got === undefined
    ? `${where}expected ${expectation(issue)}`
    : `${where}got ${got}; expected ${expectation(issue)}`
}

function expectation(issue: ValueIssue): string {
  const { code, expected = '', origin, minimum, maximum, inclusive, values = [], message } = issue
  const unit = origin === 'string' ? ' characters' : origin === 'array' ? ' entries' : ''
  switch (code) {
    case 'invalid_type':
      return TYPE_WORDS[expected] ?? ownWords(message)
    case 'invalid_value':
      return `one of ${values.map(String).join(', ')}`
    case 'too_small':
      if (origin === 'string' && minimum === 1) return 'text that is not empty'
      return `${inclusive ? 'at least' : 'more than'} ${minimum}${unit}`
    case 'too_big':
      return `${inclusive ? 'at most' : 'less than'} ${maximum}${unit}`
    default:
      return ownWords(message)
  }
}

/** A message of a schema completes the phrase, with or without the word; the validator's own says nothing. */
const ownWords = (message: string): string =>
  message.startsWith('Invalid') ? 'a value of another kind' : message.replace(/^expected /, '')

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value
  for (const step of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined
    found = (found as Record<PropertyKey, unknown>)[step]
  }
  return found
}

const MOST_SHOWN = 60

function shown(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return JSON.stringify(clipped(value))
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'a mapping' : String(value).slice(0, MOST_SHOWN)
}

const clipped = (text: string): string => (text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text)
