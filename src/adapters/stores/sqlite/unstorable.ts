/** What the store refuses to keep: a value that could be written and not be read again, or would be read as another. */

import { isCount, isInstant, isTokenCount } from '../../../domain/limits.ts'
import type { JournalRecord, Usage } from '../../../domain/record.ts'
import type { Op } from '../../../ports/store.ts'
import { OP_SHAPES } from './columns.ts'
import { record } from './record-shapes.ts'

/** Contract: pure; why the op cannot be kept, or undefined. */
export function whyUnstorable(op: Op): string | undefined {
  const why =
    op.op === 'append'
      ? firstOf(op.records, (one) => record(one) ?? whyUnstorableRecord(one))
      : (whyUnstorableFields(op) ?? OP_SHAPES[op.op]?.(op))
  return why && `${op.op}: ${why}`
}

const INSTANT = 'whole epoch milliseconds in the years 1970 to 9999'
const COUNT = 'a whole number, 0 or more'
const AMOUNT = 'a number, 0 or more'
const WHOLE = 'a whole number'

const INSTANTS: ReadonlySet<string> = new Set(['now', 'at', 'until', 'due', 'instant', 'lease_until', 'retry_at', 'ts'])
const COUNTS: ReadonlySet<string> = new Set(['usd', 'every', 'turn'])
/** Parts of an op that are kept in columns; everything else is kept as JSON or as text. */
const PARTS: ReadonlySet<string> = new Set([
  ...['dispatches', 'wait', 'usage', 'fact', 'grant', 'approval', 'entry', 'spec', 'observation'],
])

function whyUnstorableFields(part: object): string | undefined {
  return firstOf(Object.entries(part), ([key, value]) => {
    if (typeof value === 'number') return whyUnstorableNumber(key, value)
    if (typeof value === 'string' && key.endsWith('_at') && !isInstant(Date.parse(value)))
      return expected(key, value, 'an ISO instant in the years 1970 to 9999')
    if (typeof value !== 'object' || value === null || !PARTS.has(key)) return undefined
    if (key === 'usage') return whyUnstorableUsage(value as Usage)
    return Array.isArray(value) ? firstOf(value, whyUnstorableFields) : whyUnstorableFields(value)
  })
}

function whyUnstorableNumber(key: string, value: number): string | undefined {
  if (INSTANTS.has(key)) return isInstant(value) ? undefined : expected(key, value, INSTANT)
  if (COUNTS.has(key)) return isCount(value) ? undefined : expected(key, value, COUNT)
  // Only compared with, never kept.
  if (key === 'before') return Number.isNaN(value) ? expected(key, value, INSTANT) : undefined
  return Number.isSafeInteger(value) ? undefined : expected(key, value, WHOLE)
}

function whyUnstorableRecord(body: JournalRecord): string | undefined {
  const { kind, ts } = body
  const amount = (key: string, value: number | undefined) =>
    value === undefined || (Number.isFinite(value) && value >= 0)
      ? undefined
      : expected(`${kind} ${key}`, value, AMOUNT)
  const instant = (key: string, value: number | null | undefined) =>
    value == null || isInstant(value) ? undefined : expected(`${kind} ${key}`, value, INSTANT)
  const when = instant('ts', ts)
  if (when) return when
  switch (kind) {
    case 'model_requested':
      return amount('reserved', body.reserved)
    case 'model_answered':
      return whyUnstorableUsage(body.answer.usage) ?? amount('usd', body.usd)
    case 'intent_fixed':
      return whyUnstorableUsage(body.usage) ?? amount('usd', body.usd)
    case 'failed':
      return instant('until', body.ruling.kind === 'retry' ? body.ruling.until : null)
    case 'step_committed':
      return amount('ms', body.ms) ?? instant('until', body.next.kind === 'park' ? body.next.wait.until : null)
    default:
      return undefined
  }
}

function whyUnstorableUsage(usage: Usage): string | undefined {
  return firstOf(['input_tokens', 'output_tokens', 'cached_tokens', 'written_tokens'] as const, (key) =>
    isTokenCount(usage[key] ?? (key === 'written_tokens' ? 0 : undefined))
      ? undefined
      : expected(`usage.${key}`, usage[key], COUNT),
  )
}

const expected = (key: string, got: unknown, wanted: string): string => `${key}: got ${got}; expected ${wanted}`

function firstOf<T>(items: readonly T[], find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}
