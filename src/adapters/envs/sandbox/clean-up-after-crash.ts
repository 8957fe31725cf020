/**
 * Cleans up after a crash, before anything else uses the home: ends commands that were running when the runtime was
 * killed, and removes protected files that they may have left in their workspaces.
 */

import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { asTirelessError } from '../../../domain/error.ts'
import type { Clock } from '../../../ports/clock.ts'
import { PATHS_AS_THEY_ARE, type StoredPaths } from '../../../ports/stored-paths.ts'
import { outputFile, readReport } from '../host/call-folder.ts'
import type { Launcher } from '../host/launcher.ts'
import { type ProcessTable, processTable } from '../host/process-table.ts'
import { killTree } from '../host/process-tree.ts'
import { removeProtectedFiles } from './remove-protected-files.ts'
import { describeRemoved, type GuardNote, guardNoteFile, quarantineFolder } from './workspace-guard.ts'

interface CrashSweepOptions {
  readonly callsDir: string
  /** The home's folder for sandbox files. */
  readonly folder: string
  /** The home, which may have been moved since the crash; default: none. */
  readonly paths?: StoredPaths
  readonly clock: Clock
  /** Ends the containers of a call, which are not its child processes. */
  readonly end: Launcher['end']
  readonly table?: ProcessTable
}

/**
 * Contract: returns messages for the owner, one for each workspace in which files were removed or the clean-up failed.
 * Never throws.
 */
export async function cleanUpAfterCrash(options: CrashSweepOptions): Promise<readonly string[]> {
  const { callsDir, paths = PATHS_AS_THEY_ARE } = options
  const folders = existsSync(callsDir) ? readdirSync(callsDir).map((name) => join(callsDir, name)) : []
  const lines: string[] = []
  for (const folder of folders.filter((one) => existsSync(guardNoteFile(one)))) {
    const note = readNote(guardNoteFile(folder), paths)
    try {
      if (note !== undefined && existsSync(note.root)) lines.push(...(await sweepWorkspace(options, folder, note)))
      rmSync(guardNoteFile(folder), { force: true })
    } catch (thrown) {
      const why = asTirelessError(thrown).message
      lines.push(`${note?.root}: clean-up after a crash failed; do not use git there yet (${why})`)
    }
  }
  return lines
}

async function sweepWorkspace(
  options: CrashSweepOptions,
  call: string,
  { root, before }: GuardNote,
): Promise<string[]> {
  await endCall(options, call)
  const { taken } = await removeProtectedFiles(root, before, quarantineFolder(options.folder))
  return taken.length === 0 ? [] : [`${root}: a crash interrupted a command; ${describeRemoved(taken)}`]
}

async function endCall({ clock, end, table = processTable() }: CrashSweepOptions, call: string): Promise<void> {
  const report = await readReport(call, table)
  // No process has the environment entry '\0', so the call's processes are found by their output file alone.
  const mark = { environment: ['\0'], output: outputFile(call) }
  if (report?.boot === table.bootId())
    await killTree({ shell: report.shell, wasOurChild: false, mark }, table, clock, 0)
  await end?.(call)
}

/** Contract: undefined if the crash happened before the note was complete. */
function readNote(file: string, paths: StoredPaths): GuardNote | undefined {
  try {
    const note = JSON.parse(readFileSync(file, 'utf8')) as GuardNote
    return { ...note, root: paths.fromEarlier(note.root) }
  } catch {
    return undefined
  }
}
