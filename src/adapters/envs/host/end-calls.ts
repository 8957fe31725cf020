/** Ends every command of a home that is running, whichever process started it. */

import { readdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../../ports/clock.ts'
import { callEnvironment, outputFile, readReport } from './call-folder.ts'
import type { Launcher } from './launcher.ts'
import { type ProcessTable, processTable } from './process-table.ts'
import { killTree } from './process-tree.ts'

interface EndCallsOptions {
  readonly callsDir: string
  readonly clock: Clock
  /** Ends the containers of a call, which are not its child processes. */
  readonly end?: Launcher['end'] | undefined
  readonly table?: ProcessTable
}

/** Contract: kills at once, without a grace period. The folders of the calls stay. Rejects if a process survives. */
export async function endRunningCalls({
  callsDir,
  clock,
  end,
  table = processTable(),
}: EndCallsOptions): Promise<void> {
  const { TIRELESS_CALL_SCOPE: scope } = callEnvironment(realpathSync(callsDir), '')
  const environment = [`TIRELESS_CALL_SCOPE=${scope}`]
  await killTree({ shell: undefined, wasOurChild: false, mark: { environment, output: '' } }, table, clock, 0)
  // Where the environment of processes cannot be read, and for containers.
  for (const folder of readdirSync(callsDir).map((name) => join(callsDir, name))) {
    const report = await readReport(folder, table)
    const tree = { shell: report?.shell, wasOurChild: false, mark: { environment, output: outputFile(folder) } }
    if (report?.boot === table.bootId()) await killTree(tree, table, clock, 0)
    await end?.(folder)
  }
}
