/** The ops group `git`: what a repository can say of itself, and one way to change it. */

import { TirelessError } from '../../../domain/error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { GitChange, GitCommit, GitOps } from '../../../ports/env.ts'
import { type Git, type GitHost, type GitOutput, gitIn } from '../git.ts'
import { gitFolderBinds } from '../sandbox/repositories.ts'
import type { WorkTree } from './git-folder.ts'

/** Whoever reads the log shall see which commits are ours. */
const AUTHOR = 'Tireless'
const EMAIL = 'tireless@localhost'

const STATUS = ['status', '--porcelain', '-z', '--no-renames', '--untracked-files=all', '--ignore-submodules=all']
const DIFF = [
  'diff',
  ...['--no-ext-diff', '--no-textconv', '--no-color', '--no-renames', '--ignore-submodules=all'],
  'HEAD',
]

/** What may be done with a repository: looked at, or committed to. */
export interface RepositoryGit {
  readonly look: Git
  readonly change: Git
}

export async function gitAt(tree: WorkTree, host: GitHost, clock: Clock): Promise<RepositoryGit> {
  const now = `@${Math.floor(clock.now() / 1000)} +0000`
  const vars = {
    ...{ GIT_AUTHOR_NAME: AUTHOR, GIT_AUTHOR_EMAIL: EMAIL, GIT_AUTHOR_DATE: now },
    ...{ GIT_COMMITTER_NAME: AUTHOR, GIT_COMMITTER_EMAIL: EMAIL, GIT_COMMITTER_DATE: now },
  }
  const folders = [...new Set([tree.common, tree.gitFolder])]
  const writable = (await Promise.all(folders.map(gitFolderBinds))).flat()
  return { look: gitIn(tree, host, vars), change: gitIn({ ...tree, writable }, host, vars) }
}

/** `git` answers with the repository as it is at that moment, or throws. */
export function gitOps(git: () => Promise<RepositoryGit>): GitOps {
  const ask = async (args: readonly string[]): Promise<GitOutput> => (await git()).look(args)
  const told = async (args: readonly string[], how: keyof RepositoryGit = 'look', input?: string) => {
    const said = await (await git())[how](args, input)
    if (said.ok) return said
    throw new TirelessError('tool_failed', { what: `git ${args[0]} failed`, got: said.output })
  }

  async function head() {
    const { ok, output } = await ask(['rev-parse', '--verify', '--quiet', 'HEAD'])
    return ok ? output.trim() : null
  }

  async function status() {
    const { output, cut } = await told(STATUS)
    return { changes: changesIn(output), more: cut }
  }

  return {
    head,
    status,
    async diff() {
      if ((await head()) === null) return { patch: '', more: false }
      const { output, cut } = await told(DIFF)
      return { patch: output, more: cut }
    },
    async log(limit) {
      if ((await head()) === null) return []
      const { output } = await told(['log', `--max-count=${limit}`, '--no-color', '-z', '--format=%H%n%ct%n%s'])
      return output.split('\0').filter(Boolean).map(commitIn)
    },
    async commit(message) {
      const { changes, more } = await status()
      const conflicts = changes.filter(({ kind }) => kind === 'conflict')
      if (conflicts.length > 0)
        throw new TirelessError('conflict', {
          what: 'nothing was committed: files are in conflict',
          got: conflicts.map(({ path }) => path).join(', '),
        })
      if (more)
        throw new TirelessError('tool_failed', 'nothing was committed: there are too many changes for one commit')
      if (changes.length === 0) return null
      // Not `add --all`: it would look into submodules, with the help of their own configuration.
      const names = changes.map(({ path }) => `${path}\0`).join('')
      await told(['update-index', '--add', '--remove', '-z', '--stdin'], 'change', names)
      await told(['commit', '--quiet', '--no-verify', `--message=${message}`], 'change')
      return head()
    },
  }
}

/** Each is `XY path`, X for the index and Y for the work tree. A folder is another repository, which is not ours to commit. */
function changesIn(output: string): GitChange[] {
  const whole = output.slice(0, output.lastIndexOf('\0') + 1)
  const lines = whole.split('\0').filter((line) => line !== '' && !line.endsWith('/'))
  return lines.map((line) => ({ path: line.slice(3), kind: kindOf(line.slice(0, 2)) }))
}

function kindOf(xy: string): GitChange['kind'] {
  if (/U|AA|DD/.test(xy)) return 'conflict'
  if (xy.includes('D')) return 'gone'
  return /[?A]/.test(xy) ? 'new' : 'changed'
}

function commitIn(entry: string): GitCommit {
  const [id = '', seconds = '', ...subject] = entry.split('\n')
  return { id, ts: Number(seconds) * 1000, subject: subject.join('\n') }
}
