/** The rows that name things differently in a store of several homes. */

import { type ConvertRow, keepRow } from './copy-rows.ts'

/**
 * What a home knows of its document files is kept under the kernel's id in its own store, and under `KERNEL HOME` in a
 * store of several homes. `into`: the rows come from an own store; `out`: they go to one. Rows of other homes stay.
 */
export function rowsOfHome(home: string | undefined, way: 'into' | 'out'): ConvertRow {
  if (home === undefined) return keepRow
  const mark = ` ${home}`
  const renameKernel = (id: string): string => {
    if (way === 'into') return id.includes(' ') ? id : id + mark
    return id.endsWith(mark) ? id.slice(0, -mark.length) : id
  }
  return ({ name, columns }, row) =>
    name === 'projections'
      ? row.map((value, i) => (columns[i]?.name === 'kernel_id' ? renameKernel(String(value)) : value))
      : row
}
