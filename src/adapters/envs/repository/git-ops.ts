/** The ops group `git`: reads the state of a repository, and commits to it. */

import { TirelessError } from '../../../domain/error.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { GitChange, GitCommit, GitOps } from '../../../ports/env.ts'
import { createGit, type Git, type GitOutput, type GitSandbox } from '../git.ts'
import { gitFolderBinds } from '../sandbox/git-mounts.ts'
import type { WorkTree } from './git-folder.ts'

/** The author of commits that the runtime makes. */
const AUTHOR = 'Tireless'
const EMAIL = 'tireless@localhost'

const STATUS = ['status', '--porcelain', '-z', '--no-renames', '--untracked-files=all', '--ignore-submodules=all']
const DIFF = [
  'diff',
  ...['--no-ext-diff', '--no-textconv', '--no-color', '--no-renames', '--ignore-submodules=all'],
  'HEAD',
]

/** `read`: git without write access. `write`: git that may also write the git folder. */
interface RepositoryGit {
  readonly read: Git
  readonly write: Git
}

export async function openRepositoryGit(tree: WorkTree, host: GitSandbox, clock: Clock): Promise<RepositoryGit> {
  const now = `@${Math.floor(clock.now() / 1000)} +0000`
  const vars = {
    ...{ GIT_AUTHOR_NAME: AUTHOR, GIT_AUTHOR_EMAIL: EMAIL, GIT_AUTHOR_DATE: now },
    ...{ GIT_COMMITTER_NAME: AUTHOR, GIT_COMMITTER_EMAIL: EMAIL, GIT_COMMITTER_DATE: now },
  }
  const folders = [...new Set([tree.common, tree.gitFolder])]
  const writable = (await Promise.all(folders.map(gitFolderBinds))).flat()
  return { read: createGit(tree, host, vars), write: createGit({ ...tree, writable }, host, vars) }
}

/** `git`: opens the repository as it is at the time of the call; throws if there is none. */
export function createGitOps(git: () => Promise<RepositoryGit>): GitOps {
  const tryGit = async (args: readonly string[]): Promise<GitOutput> => (await git()).read(args)
  const runGit = async (args: readonly string[], mode: keyof RepositoryGit = 'read', input?: string) => {
    const result = await (await git())[mode](args, input)
    if (result.ok) return result
    throw new TirelessError('tool_failed', { what: `git ${args[0]} failed`, got: result.output })
  }

  async function head() {
    const { ok, output } = await tryGit(['rev-parse', '--verify', '--quiet', 'HEAD'])
    return ok ? output.trim() : null
  }

  async function status() {
    const { output, cut } = await runGit(STATUS)
    return { changes: parseChanges(output), more: cut }
  }

  return {
    head,
    status,
    async diff() {
      if ((await head()) === null) return { patch: '', more: false }
      const { output, cut } = await runGit(DIFF)
      return { patch: output, more: cut }
    },
    async log(limit) {
      if ((await head()) === null) return []
      const { output } = await runGit(['log', `--max-count=${limit}`, '--no-color', '-z', '--format=%H%n%ct%n%s'])
      return output.split('\0').filter(Boolean).map(parseCommit)
    },
    async commit(message) {
      const { changes, more } = await status()
      const conflicts = changes.filter(({ kind }) => kind === 'conflict')
      if (conflicts.length > 0)
        throw new TirelessError('conflict', {
          what: 'nothing was committed: files are in conflict',
          got: conflicts.map(({ path }) => path).join(', '),
        })
      if (more) throw new TirelessError('tool_failed', 'nothing was committed: too many changes for one commit')
      if (changes.length === 0) return null
      // Not `add --all`: it would read submodules, and obey their configuration.
      const names = changes.map(({ path }) => `${path}\0`).join('')
      await runGit(['update-index', '--add', '--remove', '-z', '--stdin'], 'write', names)
      await runGit(['commit', '--quiet', '--no-verify', `--message=${message}`], 'write')
      return head()
    },
  }
}

/**
 * Parses the output of `git status --porcelain -z`. An entry is `XY path`: X is the state in the index, Y in the work
 * tree. A folder is a nested repository and is skipped.
 */
function parseChanges(output: string): GitChange[] {
  const entries = output.slice(0, output.lastIndexOf('\0') + 1)
  const lines = entries.split('\0').filter((line) => line !== '' && !line.endsWith('/'))
  return lines.map((line) => ({ path: line.slice(3), kind: changeKind(line.slice(0, 2)) }))
}

function changeKind(xy: string): GitChange['kind'] {
  if (/U|AA|DD/.test(xy)) return 'conflict'
  if (xy.includes('D')) return 'gone'
  return /[?A]/.test(xy) ? 'new' : 'changed'
}

function parseCommit(entry: string): GitCommit {
  const [id = '', seconds = '', ...subject] = entry.split('\n')
  return { id, ts: Number(seconds) * 1000, subject: subject.join('\n') }
}
