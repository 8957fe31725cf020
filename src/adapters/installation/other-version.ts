/** Runs commands of one version of the program, whichever is selected. */

import { join } from 'node:path'
import { TirelessError } from '../../domain/error.ts'
import { ENTRY, type InstalledPackage, nodeArguments, packageIn } from './installation.ts'
import { lastWords, type RunProgram } from './run-program.ts'

export interface RunContext {
  readonly installation: InstalledPackage
  /** The Node that runs this process. */
  readonly node: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly home: string
  readonly configFile: string | undefined
  readonly run: RunProgram
  readonly signal: AbortSignal | undefined
}

/** Contract of all: throws `conflict` with what the program said if it fails. */
export interface OtherVersion {
  /** Starts the program without a home. */
  start(): Promise<void>
  /** Works also while a kernel runs, which then makes the backup. */
  backUp(dir: string): Promise<void>
  restore(dir: string, home: string): Promise<void>
  /** Opens the home, which migrates its database. */
  open(home: string): Promise<void>
}

const SHORT_MS = 2 * 60_000
const COPY_MS = 2 * 3600_000

export function createOtherVersion(
  context: RunContext,
  version: string,
  at: { readonly folder: string | null } | { readonly staging: string },
): OtherVersion {
  const { node, env, run, signal, configFile, installation } = context
  const entry = 'staging' in at ? [join(packageIn(at.staging), ENTRY)] : nodeArguments(installation, at.folder)
  const config = configFile === undefined ? [] : ['--config', configFile]
  const must = async (what: string, args: readonly string[], timeoutMs = SHORT_MS): Promise<void> => {
    const result = await run(node, [...entry, ...args, ...config, '--json'], { env, signal, timeoutMs })
    if (result.exit !== 0) throw new TirelessError('conflict', { what: `${version} ${what}`, got: lastWords(result) })
  }
  return {
    start: () => must('does not start', ['config', 'schema']),
    backUp: (dir) => must('could not back up the home', ['backup', dir, '--secrets', '--home', context.home], COPY_MS),
    restore: (dir, home) => must('could not restore the backup', ['restore', dir, '--home', home], COPY_MS),
    open: (home) => must('could not open the home', ['status', '--home', home]),
  }
}
