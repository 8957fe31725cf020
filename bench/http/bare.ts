/** The minimum for comparison: a plain Node server that stores each task in one durable SQLite commit. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { json } from 'node:stream/consumers'
import type { ServerOrder } from './protocol.ts'
import { answerSuite } from './server-meter.ts'

const { folder } = JSON.parse(process.argv[2] ?? '') as ServerOrder

const db = new DatabaseSync(join(folder, 'bare.db'))
db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
db.exec('CREATE TABLE tasks (n INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT')
const insert = db.prepare('INSERT INTO tasks (body) VALUES (?)')

const server = createServer(async (request, response) => {
  const { lastInsertRowid } = insert.run(JSON.stringify(await json(request)))
  response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ n: Number(lastInsertRowid) }))
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
process.once('SIGTERM', () => {
  server.closeAllConnections()
  server.close()
  db.close()
  process.disconnect?.()
})
answerSuite({ url: `http://127.0.0.1:${port}`, token: '' }, () => 0)
