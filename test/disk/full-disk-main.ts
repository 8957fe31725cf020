/**
 * Runs commands in a home, or runs in a workspace, on a disk with little space left, and prints per case what became of
 * the files: full-disk-main.ts FOLDER KIND all|sample [COMMAND]. Start it behind OWN_MOUNTS.
 */

import { cpSync, mkdirSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createApp } from '../../src/app.ts'
import { asTirelessError, type TirelessError } from '../../src/domain/error.ts'
import { COMMANDS, type DiskCommand, prepareHome, prepareWorkspace } from './commands.ts'
import { compareFiles, type FileChange, readFilesOf } from './home-files.ts'
import { type DiskKind, fillDisk, mountSmallDisk } from './small-disk.ts'

const KB = 1024
/** KB that are left on the disk. */
const FREE = [0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20, 24, 28, 32, 36, 40, 48, 56, 64, 80, 96, 128, 256]
/** One per command, for a quick look. */
const SAMPLE = [12, 4, 20, 8, 16, 28, 0]

const [folder = '', kind = 'tmpfs', amount = 'all', only] = process.argv.slice(2)
const disk = join(folder, 'disk')
const prepared = join(folder, 'prepared')

export interface CaseResult extends FileChange {
  readonly command: string
  readonly free_kb: number | null
  /** Whether the command, or the tool of the run, said that it worked. */
  readonly said: boolean
  /** Whether it did, by what the program itself knows now; null: only the files tell. */
  readonly worked: boolean | null
  readonly code: string | null
  readonly message: string
}

async function runCase(command: DiskCommand, free: number | null, after?: ReadonlyMap<string, string>) {
  const isRun = command.disk === 'workspace'
  const home = isRun ? join(folder, 'home') : join(disk, 'home')
  const workspace = join(disk, 'workspace')
  for (const path of [home, workspace]) rmSync(path, { recursive: true, force: true })
  cpSync(prepared, home, { recursive: true })
  if (isRun) prepareWorkspace(workspace)
  const watched = isRun ? workspace : home
  const app = await createApp({ home, model: command.model?.() })
  const before = readFilesOf(watched)
  const empty = free === null ? () => {} : fillDisk(disk, free)
  let error: TirelessError | undefined
  let output: unknown
  try {
    output = await app.runByName(command.name, { ...command.input, ...(isRun ? { workspace } : {}) })
  } catch (thrown) {
    error = asTirelessError(thrown)
  } finally {
    empty()
  }
  const now = readFilesOf(watched)
  const worked = error === undefined && command.hasWorked ? await command.hasWorked(app, output) : null
  await app.close()
  const result: CaseResult = {
    ...{ command: command.title, free_kb: free === null ? null : free / KB },
    ...{ said: isRun ? worked === true : error === undefined, worked: isRun ? null : worked },
    ...{ code: error?.code ?? null, message: error?.message ?? '' },
    ...compareFiles(before, now, after ?? now),
  }
  return { result, now }
}

function sizesFor(at: number): readonly number[] {
  if (amount === 'all') return FREE
  return at % 3 === 0 ? [SAMPLE[(at / 3) % SAMPLE.length] ?? 0] : []
}

mkdirSync(disk, { recursive: true })
mountSmallDisk(kind as DiskKind, disk)
await prepareHome(prepared)
for (const [at, command] of COMMANDS.entries()) {
  const sizes = sizesFor(at)
  if (sizes.length === 0 || (only !== undefined && command.title !== only)) continue
  const roomy = await runCase(command, null)
  for (const { result } of [roomy, ...(await runAll(command, sizes, roomy.now))])
    writeSync(1, `${JSON.stringify(result)}\n`)
}

async function runAll(command: DiskCommand, sizes: readonly number[], after: ReadonlyMap<string, string>) {
  const results = []
  for (const kb of sizes) results.push(await runCase(command, kb * KB, after))
  return results
}
