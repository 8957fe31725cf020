/** The paths of a home in PostgreSQL, which follow the home when it is moved. */

import type { PgConnection } from './connection.ts'

/** Where a home is, and where it was. */
interface HomePlace {
  readonly id: string
  readonly root: string
  readonly formerRoots: readonly string[]
  /** Contract: whether a home with the same id is there, so that one of the two is a copy of the other. */
  hasTwinAt(root: string): boolean
}

/**
 * Contract: the workspaces of the sessions that are pinned to this home are where the home is now, with their labels;
 * nothing changes while a copy has the same id: whose the sessions are is for the owner to say.
 * The path of the home at its last opening is a property of the database, so that this costs nothing if it has not
 * moved. Labels of the former paths stay: homes on other machines may have the same path.
 */
export async function followHome(connection: PgConnection, home: HomePlace): Promise<void> {
  const { id, root, formerRoots } = home
  const name = `root ${id}`
  const known = await connection.get('SELECT value FROM properties WHERE name = $1', name)
  if (known?.value === root) return
  const pinned = await connection.all(FORMER_ROOTS, id)
  const places = new Set([...formerRoots, ...pinned.map((row) => String(row.root))])
  places.delete(root)
  if ([...places].some(home.hasTwinAt)) return
  await connection.exec('BEGIN')
  try {
    for (const former of places) {
      await connection.run(MOVE_LABELS, former, root)
      await connection.run(MOVE_SESSIONS, former, root, id)
    }
    await connection.run(
      'INSERT INTO properties VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
      ...[name, root],
    )
    await connection.exec('COMMIT')
  } catch (thrown) {
    await connection.exec('ROLLBACK').catch(() => undefined)
    throw thrown
  }
}

const FORMER_ROOTS = `SELECT DISTINCT left(workspace, -1 - length(folder)) AS root FROM sessions
  WHERE home = $1 AND folder IS NOT NULL AND right(workspace, 1 + length(folder)) = '/' || folder`

/** In the order of bytes, the character after a slash is 0. */
const isBelow = (path: string, folder: string): string => `${path} >= ${folder} || '/' AND ${path} < ${folder} || '0'`

const MOVE_SESSIONS = `UPDATE sessions SET workspace = $2::text || substr(workspace, length($1::text) + 1)
  WHERE home = $3 AND ${isBelow('workspace', '$1::text')}`

const MOVE_LABELS = `INSERT INTO labels ("of", trust, private)
  SELECT 'workspace ' || $2::text || substr("of", length('workspace ' || $1::text) + 1), trust, private FROM labels
  WHERE ${isBelow('"of"', "'workspace ' || $1::text")}
  ON CONFLICT ("of") DO UPDATE SET private = greatest(labels.private, excluded.private),
    trust = CASE excluded.trust WHEN 'untrusted' THEN excluded.trust ELSE labels.trust END`
