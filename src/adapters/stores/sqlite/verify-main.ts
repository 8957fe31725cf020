/** Entry point of the scan thread: reports damage or unreadable rows, then ends. */

import { parentPort, workerData } from 'node:worker_threads'
import { openReadOnly } from './connection.ts'
import { scanRows } from './scan-rows.ts'

parentPort?.postMessage(workerData.what === 'rows' ? scan(workerData.file) : verify(workerData.file))

function scan(file: string): unknown {
  const db = openReadOnly(file)
  try {
    return scanRows(db)
  } finally {
    db.close()
  }
}

function verify(file: string): string[] {
  try {
    const db = openReadOnly(file)
    try {
      const problems = db
        .prepare('PRAGMA quick_check(20)')
        .all()
        .map((row) => String(row.quick_check))
      return problems.length === 1 && problems[0] === 'ok' ? [] : problems
    } finally {
      db.close()
    }
  } catch (thrown) {
    return [thrown instanceof Error ? thrown.message : String(thrown)]
  }
}
