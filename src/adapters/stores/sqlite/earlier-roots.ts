/** Where the home of a database was, as far as sessions of a version that stored absolute paths show it. */

import { existsSync } from 'node:fs'
import { openReadOnly } from './connection.ts'

/** A session without a folder of its own choice works in the folder `workspaces/ID` of the home. */
const ROOTS = `SELECT substr(workspace, 1, length(workspace) - length('/workspaces/' || session_id)) AS root
  FROM sessions WHERE workspace LIKE '/%' AND substr(workspace, -length('/workspaces/' || session_id)) =
    '/workspaces/' || session_id GROUP BY root ORDER BY max(n)`

/** Contract: oldest first; none if there is no such database, or it cannot be read: opening it shows the problem. */
export function findEarlierRoots(database: string): readonly string[] {
  if (!existsSync(database)) return []
  try {
    const db = openReadOnly(database)
    try {
      return db
        .prepare(ROOTS)
        .all()
        .map(({ root }) => String(root))
    } finally {
      db.close()
    }
  } catch {
    return []
  }
}
