/** Entry of the thread that looks for damage: answers with what it found, and ends. */

import { parentPort, workerData } from 'node:worker_threads'
import { openReading } from './connection.ts'

parentPort?.postMessage(verify(workerData.file))

function verify(file: string): string[] {
  try {
    const db = openReading(file)
    try {
      const found = db
        .prepare('PRAGMA quick_check(20)')
        .all()
        .map((row) => String(row.quick_check))
      return found.length === 1 && found[0] === 'ok' ? [] : found
    } finally {
      db.close()
    }
  } catch (thrown) {
    return [thrown instanceof Error ? thrown.message : String(thrown)]
  }
}
