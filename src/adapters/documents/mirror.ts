/**
 * The git mirror: the documents as commits of a bare repository outside the agent's reach, one way only. There is no work tree and no index, so that
 * no other folder can be touched; and the repository is said in so many words, and looked at, before each commit.
 */

import { lstat, mkdir, readdir, realpath, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { TirelessError } from '../../domain/error.ts'
import type { Clock } from '../../ports/clock.ts'

/** Contract: runs git with those arguments and that input, and nothing of anybody's environment or configuration. */
export type Git = (
  args: readonly string[],
  input?: string,
) => Promise<{ readonly ok: boolean; readonly output: string }>

/** Contract: throws why there is no commit. */
export type Mirror = (
  message: string,
  files: readonly { readonly name: string; readonly text: string }[],
) => Promise<void>

export interface MirrorOptions {
  readonly gitDir: string
  readonly git: Git
  readonly clock: Clock
}

const BRANCH = 'refs/heads/main'
/** A pattern, so that a branch that is not there yet is no error; with a bracket, or git would look below it. */
const WHERE = ['rev-parse', '--absolute-git-dir', '--is-bare-repository', '--branches=[m]ain']
/** Whoever wrote one a minute ago is dead: nobody else uses the repository. */
const STALE_MS = 60_000
const LOCKS = ['index.lock', 'HEAD.lock', 'config.lock', 'packed-refs.lock', `${BRANCH}.lock`]
/** A year of beats would be hundreds of thousands of small files otherwise. Like git, we take one of their 256 folders for a sample. */
const TIDY = ['-c', 'gc.auto=1000', '-c', 'gc.autoDetach=false', 'gc', '--auto', '--quiet']
const SAMPLE = 'objects/17'
const MOST_IN_SAMPLE = 4

export function gitMirror({ gitDir, git, clock }: MirrorOptions): Mirror {
  const run = (args: readonly string[], input?: string) => git(['--git-dir', gitDir, ...args], input)
  async function told(args: readonly string[], input?: string): Promise<string> {
    const { ok, output } = await run(args, input)
    if (ok) return output
    throw new TirelessError('tool_failed', {
      what: 'git failed',
      where: gitDir,
      got: output.split('\n', 1)[0],
      fix: 'see whether git works; a mirror that is broken can be moved away, and a new one begins',
    })
  }

  /** Contract: the last commit, where there is one. */
  async function prepare(): Promise<string | undefined> {
    const there = await lstat(gitDir).catch(() => undefined)
    if (!there) {
      await mkdir(dirname(gitDir), { recursive: true, mode: 0o700 })
      await told(['init', '--bare', '--quiet', '--template=', '--initial-branch=main'])
    }
    const said = (await told(WHERE)).split('\n')
    const [place = '', bare, tip] = said
    const isLed = there?.isDirectory() === false || (await lstat(join(gitDir, 'commondir')).catch(() => undefined))
    if (isLed || bare !== 'true' || (await realpath(place)) !== (await realpath(gitDir)))
      throw new TirelessError('conflict', {
        what: 'what lies there is not the mirror, or leads elsewhere',
        where: gitDir,
        got: said.join(' ').trim(),
        fix: 'move it away: a new mirror begins',
      })
    return tip || undefined
  }

  async function clear(): Promise<void> {
    for (const lock of LOCKS) {
      const path = join(gitDir, lock)
      const found = await stat(path).catch(() => undefined)
      if (found && clock.now() - found.mtimeMs > STALE_MS) await rm(path, { force: true })
    }
    const reports = (await readdir(gitDir)).filter((name) => name.startsWith('fast_import_crash_'))
    for (const report of reports) await rm(join(gitDir, report), { force: true })
  }

  return async (message, files) => {
    const tip = await prepare()
    await clear()
    const now = `Tireless <tireless@localhost> ${Math.floor(clock.now() / 1000)} +0000`
    const stream = [
      ...['feature done\n', `commit ${BRANCH}\n`, `committer ${now}\n`, data(message)],
      ...(tip === undefined ? [] : [`from ${tip}\n`]),
      'deleteall\n',
      ...files.flatMap(({ name, text }) => [`M 100644 inline ${name}\n`, data(text)]),
      'done\n',
    ]
    await told(['-c', 'core.fsync=committed', 'fast-import', '--quiet', '--date-format=raw'], stream.join(''))
    const sample = await readdir(join(gitDir, SAMPLE)).catch(() => [])
    if (sample.length > MOST_IN_SAMPLE) await run(TIDY)
  }
}

const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`
