/** The limit of node:sqlite: one small durable commit at a time, which counts as one step. */

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { serve } from '../meter.ts'
import { argsOf, resultOf } from './loop.ts'

await serve(async ({ folder, steps, step, measure }) => {
  const db = new DatabaseSync(join(folder, 'raw.db'))
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  db.exec('CREATE TABLE notes (n INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT')
  const insert = db.prepare('INSERT INTO notes (body) VALUES (?)')
  await measure(async () => {
    for (let n = 1; n <= steps; n++) {
      step()
      insert.run(JSON.stringify({ ...argsOf(n), result: resultOf(argsOf(n).text) }))
    }
  })
  db.close()
})
