/** Pages of a list: only the conditions that were asked for, so that each query can use the index that fits. */

import type { PageWindow } from '../../../../ports/store/page-limit.ts'

type SqlValue = string | number

/** A condition with `?` where its value goes; true: it needs none; undefined: not asked for. */
type AskedCondition = readonly [text: string, value: SqlValue | true | undefined]

interface Conditions {
  /** Joined with AND; `1` if there are none. */
  readonly text: string
  readonly values: readonly SqlValue[]
}

/** Contract: numbers the placeholders from 1, so that a query may contain the text twice. */
export function conditionsOf(...asked: readonly AskedCondition[]): Conditions {
  const texts: string[] = []
  const values: SqlValue[] = []
  for (const [text, value] of asked) {
    if (value === undefined) continue
    if (value !== true) values.push(value)
    texts.push(`(${text.replaceAll('?', `?${values.length}`)})`)
  }
  return { text: texts.length === 0 ? '1' : texts.join(' AND '), values }
}

/** Contract: a pattern for LIKE with ESCAPE '\' that finds the text anywhere; undefined: nothing to find. */
export function likePattern(search: string | undefined): string | undefined {
  return search === undefined || search === '' ? undefined : `%${search.replaceAll(/[\\%_]/g, (char) => `\\${char}`)}%`
}

interface PagedList {
  /** Columns and tables of the result. */
  readonly select: string
  /** The tables that the conditions need. */
  readonly from: string
  /** The number by which the list is sorted, the highest first. */
  readonly key: string
  /** The condition for readable rows, which is slow. */
  readonly readable: string
}

/** Contract: rows before the page are counted but not checked; the limit counts readable rows only. */
export function pageQuery(
  { select, from, key, readable }: PagedList,
  { text, values }: Conditions,
  { offset = 0, limit }: PageWindow,
): readonly [text: string, ...values: SqlValue[]] {
  const [limitAt, offsetAt] = [values.length + 1, values.length + 2]
  const start = `SELECT ${key} FROM ${from} WHERE ${text} ORDER BY ${key} DESC LIMIT 1 OFFSET ?${offsetAt}`
  const query = `SELECT ${select} WHERE ${key} <= (${start}) AND ${text} AND ${readable}
    ORDER BY ${key} DESC LIMIT ?${limitAt}`
  return [query, ...values, limit, offset]
}
