/** Refuses values that could be written but not read back unchanged. */

import type { JournalRecord, Usage } from '../../domain/journal-record.ts'
import { isCount, isInstant, isTokenCount } from '../../domain/limits.ts'
import type { Op } from '../../ports/store.ts'
import { OP_SHAPES } from './rows/columns.ts'
import { journalRecordShape } from './rows/record-shapes.ts'
import { describeInvalid } from './rows/value-shapes.ts'

/** Contract: why the op cannot be stored; undefined if it can. Pure. */
export function describeUnstorable(op: Op): string | undefined {
  const shape = OP_SHAPES[op.op]
  const why =
    op.op === 'append'
      ? firstProblem(op.records, (item) => describeInvalid(journalRecordShape, item) ?? checkRecord(item))
      : (checkFields(op) ?? (shape && describeInvalid(shape, op)))
  return why && `${op.op}: ${why}`
}

const INSTANT = 'whole epoch milliseconds in the years 1970 to 9999'
const COUNT = 'a whole number, 0 or more'
const AMOUNT = 'a number, 0 or more'
const WHOLE = 'a whole number'

const INSTANTS: ReadonlySet<string> = new Set(['now', 'at', 'until', 'due', 'instant', 'lease_until', 'retry_at', 'ts'])
const COUNTS: ReadonlySet<string> = new Set(['usd', 'every', 'turn'])
/** Parts of an op that are stored in columns; other parts are stored as JSON or text. */
const PARTS: ReadonlySet<string> = new Set([
  ...['dispatches', 'wait', 'usage', 'fact', 'grant', 'approval', 'entry', 'spec', 'observation'],
])

function checkFields(part: object): string | undefined {
  return firstProblem(Object.keys(part), (key) => checkField(key, (part as Readonly<Record<string, unknown>>)[key]))
}

function checkField(key: string, value: unknown): string | undefined {
  if (typeof value === 'number') return checkNumber(key, value)
  if (typeof value === 'string' && key.endsWith('_at') && !isInstant(Date.parse(value)))
    return describeProblem(key, value, 'an ISO instant in the years 1970 to 9999')
  if (typeof value !== 'object' || value === null || !PARTS.has(key)) return undefined
  if (key === 'usage') return checkUsage(value as Usage)
  return Array.isArray(value) ? firstProblem(value, checkFields) : checkFields(value)
}

function checkNumber(key: string, value: number): string | undefined {
  if (INSTANTS.has(key)) return isInstant(value) ? undefined : describeProblem(key, value, INSTANT)
  if (COUNTS.has(key)) return isCount(value) ? undefined : describeProblem(key, value, COUNT)
  // The payload of an event is stored as JSON.
  if (key === 'payload') return Number.isFinite(value) ? undefined : describeProblem(key, value, 'a finite number')
  // `before` is only compared with stored values, never stored.
  if (key === 'before') return Number.isNaN(value) ? describeProblem(key, value, INSTANT) : undefined
  return Number.isSafeInteger(value) ? undefined : describeProblem(key, value, WHOLE)
}

function checkRecord(body: JournalRecord): string | undefined {
  const { kind, ts } = body
  const amount = (key: string, value: number | undefined) =>
    value === undefined || (Number.isFinite(value) && value >= 0)
      ? undefined
      : describeProblem(`${kind} ${key}`, value, AMOUNT)
  const instant = (key: string, value: number | null | undefined) =>
    value == null || isInstant(value) ? undefined : describeProblem(`${kind} ${key}`, value, INSTANT)
  const when = instant('ts', ts)
  if (when) return when
  switch (kind) {
    case 'model_requested':
      return amount('reserved', body.reserved)
    case 'model_answered':
      return checkUsage(body.answer.usage) ?? amount('usd', body.usd)
    case 'intent_fixed':
      return checkUsage(body.usage) ?? amount('usd', body.usd)
    case 'failed':
      return instant('until', body.ruling.kind === 'retry' ? body.ruling.until : null)
    case 'step_committed':
      return amount('ms', body.ms) ?? instant('until', body.next.kind === 'park' ? body.next.wait.until : null)
    default:
      return undefined
  }
}

function checkUsage(usage: Usage): string | undefined {
  return firstProblem(['input_tokens', 'output_tokens', 'cached_tokens', 'written_tokens'] as const, (key) =>
    isTokenCount(usage[key] ?? (key === 'written_tokens' ? 0 : undefined))
      ? undefined
      : describeProblem(`usage.${key}`, usage[key], COUNT),
  )
}

const describeProblem = (key: string, got: unknown, wanted: string): string => `${key}: got ${got}; expected ${wanted}`

function firstProblem<T>(items: readonly T[], find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}
