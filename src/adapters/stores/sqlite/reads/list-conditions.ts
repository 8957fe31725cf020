/** Conditions of a list: only those that were asked for, so that each query can use the index that fits. */

type SqlValue = string | number

/** A condition with `?` where its value goes; true: it needs none; undefined: not asked for. */
type AskedCondition = readonly [text: string, value: SqlValue | true | undefined]

interface Conditions {
  /** Joined with AND; `1` if there are none. */
  readonly text: string
  readonly values: readonly SqlValue[]
}

/** Contract: the placeholders are numbered from 1. */
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
