/** Copies all rows of a store into an empty one, and compares both row by row, in bounded memory. */

import { createHash } from 'node:crypto'
import { TirelessError } from '../../../domain/error.ts'
import type { CopiedTable } from './tables.ts'

/** A value in the form that both kinds of database share; an integer beyond the safe range is a bigint. */
export type CopiedValue = string | number | bigint | null

/** The values of a row, in the order of the table's columns. */
export type CopiedRow = readonly CopiedValue[]

export interface RowSource {
  /** Contract: all rows in the order of their keys, in batches of a few megabytes. */
  batches(table: CopiedTable): AsyncIterable<readonly CopiedRow[]>
  count(table: CopiedTable): Promise<number>
  /** Contract: the last number that the table gave to a row, also to one that is gone. */
  lastNumber(table: 'workers' | 'audit'): Promise<number>
}

export interface RowTarget extends Pick<RowSource, 'count'> {
  insert(table: CopiedTable, rows: readonly CopiedRow[]): Promise<void>
  /** Contract: the rows with these keys, in this order; undefined for a missing one. */
  find(table: CopiedTable, rows: readonly CopiedRow[]): Promise<readonly (CopiedRow | undefined)[]>
  /** Contract: called once after all rows are inserted; numbers that were given out are not given out again. */
  finish(last: { readonly workers: number; readonly audit: number }): Promise<void>
}

/** One table after the comparison: `sha256` is that of its rows, in the order of their keys. */
export interface TableDigest {
  readonly table: string
  readonly rows: number
  readonly sha256: string
}

/** Changes rows on their way, where both stores name the same thing differently. */
export type ConvertRow = (table: CopiedTable, row: CopiedRow) => CopiedRow

export const keepRow: ConvertRow = (_, row) => row

export async function copyRows(
  tables: readonly CopiedTable[],
  source: RowSource,
  target: RowTarget,
  convert: ConvertRow = keepRow,
): Promise<void> {
  for (const table of tables)
    for await (const rows of source.batches(table))
      await target.insert(
        table,
        rows.map((row) => convert(table, row)),
      )
  await target.finish({ workers: await source.lastNumber('workers'), audit: await source.lastNumber('audit') })
}

/**
 * Contract: throws `store_failed`, with the first row that is missing or differs. Equal counts show that the target has
 * no other rows.
 */
export async function compareRows(
  tables: readonly CopiedTable[],
  source: RowSource,
  target: RowTarget,
  convert: ConvertRow = keepRow,
): Promise<readonly TableDigest[]> {
  const digests: TableDigest[] = []
  for (const table of tables) {
    const [expected, found] = [createHash('sha256'), createHash('sha256')]
    let count = 0
    for await (const batch of source.batches(table)) {
      const rows = batch.map((row) => convert(table, row))
      const copies = await target.find(table, rows)
      for (const [i, row] of rows.entries()) {
        const [text, copy] = [encodeRow(row), encodeRow(copies[i])]
        if (text !== copy) throw differs(table, keyText(table, row), copies[i] === undefined)
        expected.update(text)
        found.update(copy)
      }
      count += rows.length
    }
    const counted = await target.count(table)
    const [sha256, copied] = [expected.digest('hex'), found.digest('hex')]
    if (counted !== count || sha256 !== copied) throw differs(table, `${counted} rows instead of ${count}`, false)
    digests.push({ table: table.name, rows: count, sha256 })
  }
  return digests
}

/** Contract: different for different rows; a number and the same bigint are one value. */
const encodeRow = (row: CopiedRow | undefined): string =>
  row === undefined
    ? ''
    : `${JSON.stringify(row.map((value) => (typeof value === 'bigint' ? { integer: `${value}` } : value)))}\n`

export const keyText = ({ key }: CopiedTable, row: CopiedRow): string => key.map((i) => String(row[i])).join(' ')

function differs({ name }: CopiedTable, row: string, isMissing: boolean): TirelessError {
  return new TirelessError('store_failed', {
    what: `a copied record ${isMissing ? 'is missing' : 'differs from its original'}`,
    ...{ where: `${name} ${row}`, fix: 'check the disks of both databases, then move again; nothing was switched' },
  })
}

/** Most rows and characters of a batch; a longer row is a batch of its own. */
const BATCH_ROWS = 500
const BATCH_CHARS = 2_000_000

const sizeOfRow = (row: CopiedRow): number =>
  row.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0)

/** Contract: the same rows, in batches. */
export function* inBatches(rows: Iterable<CopiedRow>): Generator<readonly CopiedRow[]> {
  let batch: CopiedRow[] = []
  let chars = 0
  for (const row of rows) {
    const size = sizeOfRow(row)
    if (batch.length > 0 && (chars + size > BATCH_CHARS || batch.length === BATCH_ROWS)) {
      yield batch
      batch = []
      chars = 0
    }
    batch.push(row)
    chars += size
  }
  if (batch.length > 0) yield batch
}
