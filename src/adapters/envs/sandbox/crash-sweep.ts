/**
 * After a crash: what commands were doing when this program was killed is swept before anything else is done with the home, because
 * whatever they had planted by then still lies in their workspaces.
 */

import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { asTirelessError } from '../../../domain/error.ts'
import type { Clock } from '../../../ports/clock.ts'
import { outputFile, readReport } from '../host/call-folder.ts'
import type { Launcher } from '../host/launch.ts'
import { type ProcessTable, processTable } from '../host/process-table.ts'
import { killTree } from '../host/process-tree.ts'
import { type GuardNote, keptAside, noteIn, tellTaken } from './guard.ts'
import { sweep } from './sweep.ts'

export interface CrashSweepOptions {
  readonly callsDir: string
  /** A folder of the home, for what sandboxes are made of. */
  readonly folder: string
  readonly clock: Clock
  /** Ends what runs of a call and is none of its processes. */
  readonly end: Launcher['end']
  readonly table?: ProcessTable
}

/** Contract: a line for the owner about each workspace in which something was found, or that could not be swept; never throws. */
export async function sweepAfterCrash(options: CrashSweepOptions): Promise<readonly string[]> {
  const { callsDir } = options
  const folders = existsSync(callsDir) ? readdirSync(callsDir).map((name) => join(callsDir, name)) : []
  const told: string[] = []
  for (const folder of folders.filter((one) => existsSync(noteIn(one)))) {
    const note = readNote(noteIn(folder))
    try {
      if (note !== undefined && existsSync(note.root)) told.push(...(await sweepOne(options, folder, note)))
      rmSync(noteIn(folder), { force: true })
    } catch (thrown) {
      const why = asTirelessError(thrown).message
      told.push(`${note?.root}: not swept after a crash, so do not use git there yet (${why})`)
    }
  }
  return told
}

async function sweepOne(options: CrashSweepOptions, call: string, { root, before }: GuardNote): Promise<string[]> {
  await endCall(options, call)
  const { taken } = await sweep(root, before, keptAside(options.folder))
  return taken.length === 0 ? [] : [`${root}: a command was cut short by a crash; ${tellTaken(taken)}`]
}

async function endCall({ clock, end, table = processTable() }: CrashSweepOptions, call: string): Promise<void> {
  const report = await readReport(call, table)
  // Nothing has an empty environment entry: the file that the output goes to is the mark.
  const mark = { environment: ['\0'], output: outputFile(call) }
  if (report?.boot === table.boot()) await killTree({ shell: report.shell, held: false, mark }, table, clock, 0)
  await end?.(call)
}

/** Contract: undefined where the crash came before it was written. */
function readNote(file: string): GuardNote | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as GuardNote
  } catch {
    return undefined
  }
}
