/** Makes the paths relative that versions before schema 11 stored as absolute: those below a place of the home. */

import type { DatabaseSync } from 'node:sqlite'
import { relativeToHome } from '../../../../ports/stored-paths.ts'
import { changePaths, PATH_COLUMNS } from '../../rows/paths-in-rows.ts'

/** `roots`: where the home is and was. */
export function storeRelativePaths(db: DatabaseSync, roots: readonly string[]): void {
  const change = (path: string): string => relativeToHome(path, roots)
  for (const table of ['sessions', 'labels', 'undos', 'outbox'] as const)
    db.function(`relative_${table}`, { deterministic: true }, (value) =>
      value === null ? null : changePaths(table, String(value), change),
    )
  for (const table of ['sessions', 'undos', 'outbox'] as const) {
    const column = PATH_COLUMNS[table]
    const relative = `relative_${table}(${column})`
    db.exec(`UPDATE ${table} SET ${column} = ${relative} WHERE ${column} <> ${relative}`)
  }
  // Two paths may become the same folder: it then has the lower label.
  db.exec(`
    INSERT INTO labels SELECT relative_labels("of"), trust, private FROM labels WHERE "of" <> relative_labels("of")
      ON CONFLICT ("of") DO UPDATE SET private = max(private, excluded.private),
        trust = iif(excluded.trust = 'untrusted', excluded.trust, trust);
    DELETE FROM labels WHERE "of" <> relative_labels("of");
  `)
}
