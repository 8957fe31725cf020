/** Lists the call folders in the home, of running, interrupted and finished calls. */

import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readableName, readReport } from './call-folder.ts'
import { type ProcessTable, processTable } from './process-table.ts'

interface KeptCall {
  readonly name: string
  /** The pid of the call's shell, if it is still running. */
  readonly pid: number | undefined
  belongsTo(sessionId: string): boolean
}

export async function listKeptCalls(
  callsDir: string,
  table: ProcessTable = processTable(),
): Promise<readonly KeptCall[]> {
  const names = await readdir(callsDir).catch(() => [])
  return Promise.all(
    names.map(async (name) => ({
      name,
      pid: await runningShell(join(callsDir, name), table),
      // A call's name begins with its session id. Long names are cut, so the session id is cut in the same way.
      belongsTo: (sessionId) => name.startsWith(readableName(`${sessionId}.`)),
    })),
  )
}

export async function removeKeptCall(callsDir: string, { name }: KeptCall): Promise<void> {
  await rm(join(callsDir, name), { recursive: true, force: true })
}

async function runningShell(folder: string, table: ProcessTable): Promise<number | undefined> {
  const report = await readReport(folder, table)
  if (!report || report.boot !== table.bootId()) return undefined
  const row = table.row(report.shell.pid)
  return row && row.start === report.shell.start && !row.zombie ? row.pid : undefined
}
