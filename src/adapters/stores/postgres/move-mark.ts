/**
 * The mark of a database whose records are moved. As long as it is there, no process can commit, and only the home that
 * moves the records can open the database.
 *
 * - `in`: records arrive from a home. The mark ends when that home has switched to the database.
 * - `out`: records go to a home. If that home opens the database again, it has not switched, and the mark ends.
 * - `gone`: the home has switched. The records here are old, and the mark stays.
 */

import { TirelessError } from '../../../domain/error.ts'
import type { PgConnection } from './connection.ts'

export interface MoveMark {
  readonly way: 'in' | 'out' | 'gone'
  /** The id of the home, its folder and its machine. */
  readonly home: string
  readonly folder: string
  readonly host: string
  readonly at: string
}

const TRIGGER = 'records_moved'

/**
 * Every commit writes the table `writers`, so this ends the commits of all processes, whatever they know of moves. It
 * waits for commits that are under way, and holds off others until the transaction ends.
 */
export async function stopCommits(connection: PgConnection): Promise<void> {
  await connection.exec(
    `DROP TRIGGER IF EXISTS ${TRIGGER} ON writers;
     CREATE TRIGGER ${TRIGGER} BEFORE INSERT OR UPDATE ON writers FOR EACH STATEMENT
     EXECUTE FUNCTION refuse_change('the records of this database are being moved, or were moved; open it again')`,
  )
}

export async function readMoveMark(connection: PgConnection): Promise<MoveMark | undefined> {
  const row = await connection.get("SELECT value FROM properties WHERE name = 'move'")
  return row && (JSON.parse(String(row.value)) as MoveMark)
}

export async function writeMoveMark(connection: PgConnection, mark: MoveMark): Promise<void> {
  await connection.run(
    "INSERT INTO properties VALUES ('move', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    JSON.stringify(mark),
  )
}

export const removeMoveMark = (connection: PgConnection): Promise<unknown> =>
  connection.exec(
    `BEGIN; DELETE FROM properties WHERE name = 'move'; DROP TRIGGER IF EXISTS ${TRIGGER} ON writers; COMMIT`,
  )

/** `completeMoveIn`: what a move into the database leaves to do in the home, before its mark ends. */
export interface OpeningHome {
  readonly id: string
  completeMoveIn(): void
}

/** Ends the mark of a move that this home has completed or given up; refuses the database of another move. */
export async function settleMoveMark(connection: PgConnection, home: OpeningHome | undefined): Promise<void> {
  const mark = await readMoveMark(connection)
  if (!mark) return
  if (mark.home !== home?.id || mark.way === 'gone') throw markedError(mark)
  if (mark.way === 'in') home.completeMoveIn()
  await removeMoveMark(connection)
}

export function markedError({ way, folder, host, at }: MoveMark): TirelessError {
  const home = `the home ${folder} on ${host}`
  return new TirelessError('conflict', {
    what:
      way === 'in'
        ? `records are being moved into this database from ${home}, since ${at}`
        : `the records of this database were moved to ${home} at ${at}`,
    fix:
      way === 'in'
        ? 'run the same `tireless store move …` there again, which completes it; or use another database'
        : 'use another database: the records here are old',
  })
}
