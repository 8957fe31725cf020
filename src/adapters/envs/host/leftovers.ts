/** What calls have left in the home: folders of calls that are running, that a crash interrupted, or that nobody needs any more. */

import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readableName, readReport } from './call-folder.ts'
import { type ProcessTable, processTable } from './process-table.ts'

export interface KeptCall {
  readonly name: string
  /** Its shell, where that still runs. */
  readonly pid: number | undefined
  isOf(sessionId: string): boolean
}

export async function keptCalls(callsDir: string, table: ProcessTable = processTable()): Promise<readonly KeptCall[]> {
  const names = await readdir(callsDir).catch(() => [])
  return Promise.all(
    names.map(async (name) => ({
      name,
      pid: await livingShell(join(callsDir, name), table),
      // A call's name begins with its session's; of a long one, as much as there is.
      isOf: (sessionId) => name.startsWith(readableName(`${sessionId}.`)),
    })),
  )
}

export async function removeKeptCall(callsDir: string, { name }: KeptCall): Promise<void> {
  await rm(join(callsDir, name), { recursive: true, force: true })
}

async function livingShell(folder: string, table: ProcessTable): Promise<number | undefined> {
  const report = await readReport(folder, table)
  if (!report || report.boot !== table.boot()) return undefined
  const row = table.row(report.shell.pid)
  return row && row.start === report.shell.start && !row.zombie ? row.pid : undefined
}
