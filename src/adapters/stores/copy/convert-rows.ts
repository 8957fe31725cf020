/** The rows that name things differently in a store of several homes. */

import { placesOf, relativeToHome, type StoredPaths } from '../../../ports/stored-paths.ts'
import { changePaths, PATH_COLUMNS } from '../rows/paths-in-rows.ts'
import type { ConvertRow, CopiedValue } from './copy-rows.ts'

/**
 * What a home knows of its document files is kept under the kernel's id in its own store, and under `KERNEL HOME` in a
 * store of several homes. Paths of the home are relative to it in its own store, and absolute in one of several homes,
 * where they say on which machine they are only together with the home. `into`: the rows come from an own store; `out`:
 * they go to one. Rows of other homes stay.
 */
export function rowsOfHome(home: string, paths: StoredPaths, way: 'into' | 'out'): ConvertRow {
  const mark = ` ${home}`
  const renameKernel = (id: string): string => {
    if (way === 'into') return id.includes(' ') ? id : id + mark
    return id.endsWith(mark) ? id.slice(0, -mark.length) : id
  }
  const changePath = way === 'into' ? paths.fromStored : (path: string) => relativeToHome(path, placesOf(paths))
  const convert = (table: string, column: string | undefined, value: CopiedValue): CopiedValue => {
    if (value === null) return value
    if (table === 'projections') return column === 'kernel_id' ? renameKernel(String(value)) : value
    return hasPaths(table) && column === PATH_COLUMNS[table] ? changePaths(table, String(value), changePath) : value
  }
  return ({ name, columns }, row) =>
    name === 'projections' || hasPaths(name) ? row.map((value, i) => convert(name, columns[i]?.name, value)) : row
}

const hasPaths = (table: string): table is keyof typeof PATH_COLUMNS => Object.hasOwn(PATH_COLUMNS, table)
