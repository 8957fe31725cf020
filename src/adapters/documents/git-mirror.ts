/**
 * The git mirror: commits the documents to a bare repository that agents cannot access; nothing is read back. There is
 * no work tree and no index, so no other folder can change. The repository is passed explicitly and checked before each
 * commit.
 */

import { lstat, mkdir, readdir, realpath, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { TirelessError } from '../../domain/error.ts'
import type { Clock } from '../../ports/clock.ts'

/** Contract: runs git without inherited environment and configuration. */
type RunGit = (args: readonly string[], input?: string) => Promise<{ readonly ok: boolean; readonly output: string }>

/** Contract: commits the files; throws if no commit could be made. */
export type GitMirror = (
  message: string,
  files: readonly { readonly name: string; readonly text: string }[],
) => Promise<void>

interface GitMirrorOptions {
  readonly gitDir: string
  readonly git: RunGit
  readonly clock: Clock
}

const BRANCH = 'refs/heads/main'
/**
 * The branch is given as a pattern, so that a missing branch is no error; the bracket keeps git from appending `/*`.
 */
const LOCATE_ARGS = ['rev-parse', '--absolute-git-dir', '--is-bare-repository', '--branches=[m]ain']
/** Age at which a lock file counts as left by a killed git: only this process uses the repository. */
const STALE_MS = 60_000
const LOCKS = ['index.lock', 'HEAD.lock', 'config.lock', 'packed-refs.lock', `${BRANCH}.lock`]
/**
 * Packs loose objects, of which a year of cycles would leave hundreds of thousands. As in git itself, the files in one
 * of the 256 object folders are counted as a sample.
 */
const GC_ARGS = ['-c', 'gc.auto=1000', '-c', 'gc.autoDetach=false', 'gc', '--auto', '--quiet']
const SAMPLE_FOLDER = 'objects/17'
const MAX_IN_SAMPLE = 4

export function createGitMirror({ gitDir, git, clock }: GitMirrorOptions): GitMirror {
  const run = (args: readonly string[], input?: string) => git(['--git-dir', gitDir, ...args], input)
  async function runOrThrow(args: readonly string[], input?: string): Promise<string> {
    const { ok, output } = await run(args, input)
    if (ok) return output
    throw new TirelessError('tool_failed', {
      what: 'git failed',
      where: gitDir,
      got: output.split('\n', 1)[0],
      fix: 'check that git works; if the mirror is broken, move it away and a new one is created',
    })
  }

  /** Creates the repository if it is missing, and checks it. Contract: returns the last commit, if any. */
  async function prepare(): Promise<string | undefined> {
    const existing = await lstat(gitDir).catch(() => undefined)
    if (!existing) {
      await mkdir(dirname(gitDir), { recursive: true, mode: 0o700 })
      await runOrThrow(['init', '--bare', '--quiet', '--template=', '--initial-branch=main'])
    }
    const lines = (await runOrThrow(LOCATE_ARGS)).split('\n')
    const [place = '', bare, tip] = lines
    const isRedirected =
      existing?.isDirectory() === false || (await lstat(join(gitDir, 'commondir')).catch(() => undefined))
    if (isRedirected || bare !== 'true' || (await realpath(place)) !== (await realpath(gitDir)))
      throw new TirelessError('conflict', {
        what: 'the folder is not the mirror, or is redirected',
        where: gitDir,
        got: lines.join(' ').trim(),
        fix: 'move it away; a new mirror is created',
      })
    return tip || undefined
  }

  /** A lock from the future is left from a time when the clock was ahead. */
  const isStale = (mtimeMs: number): boolean =>
    clock.borneOut() - mtimeMs > STALE_MS || mtimeMs - clock.now() > STALE_MS

  async function removeStaleFiles(): Promise<void> {
    for (const lock of LOCKS) {
      const path = join(gitDir, lock)
      const found = await stat(path).catch(() => undefined)
      if (found && isStale(found.mtimeMs)) await rm(path, { force: true })
    }
    const reports = (await readdir(gitDir)).filter((name) => name.startsWith('fast_import_crash_'))
    for (const report of reports) await rm(join(gitDir, report), { force: true })
  }

  return async (message, files) => {
    const tip = await prepare()
    await removeStaleFiles()
    const now = `Tireless <tireless@localhost> ${Math.floor(clock.now() / 1000)} +0000`
    const stream = [
      ...['feature done\n', `commit ${BRANCH}\n`, `committer ${now}\n`, data(message)],
      ...(tip === undefined ? [] : [`from ${tip}\n`]),
      'deleteall\n',
      ...files.flatMap(({ name, text }) => [`M 100644 inline ${name}\n`, data(text)]),
      'done\n',
    ]
    await runOrThrow(['-c', 'core.fsync=committed', 'fast-import', '--quiet', '--date-format=raw'], stream.join(''))
    const sample = await readdir(join(gitDir, SAMPLE_FOLDER)).catch(() => [])
    if (sample.length > MAX_IN_SAMPLE) await run(GC_ARGS)
  }
}

const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`
