/** Refuses a database whose settings would lose or change records. */

import { TirelessError } from '../../../domain/error.ts'
import type { PgConnection } from './connection.ts'

export async function checkDatabase(connection: PgConnection): Promise<void> {
  const [row] = await connection.exec(
    `SELECT current_setting('synchronous_commit') AS commits, current_setting('server_encoding') AS encoding`,
  )
  // With this setting off, PostgreSQL confirms commits that a crash of its machine loses.
  if (row?.commits === 'off')
    throw new TirelessError('store_unsupported', {
      what: 'the database is set to confirm commits before they are on disk',
      got: 'synchronous_commit = off',
      expected: 'on',
      fix: 'set synchronous_commit = on for the database and its user',
    })
  if (row?.encoding !== 'UTF8')
    throw new TirelessError('store_unsupported', {
      what: 'the database cannot store all characters',
      got: `encoding ${row?.encoding}`,
      expected: 'UTF8',
      fix: "create it with: CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8'",
    })
}
