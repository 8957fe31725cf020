/** Describes a watched git work tree as text: its new commits and its uncommitted changes. Read-only. */

import { realpath } from 'node:fs/promises'
import { createGit, type Git, type GitSandbox } from './git.ts'
import { locateWorkTree } from './repository/git-folder.ts'

const MAX_COMMITS = 50
/** Commits listed on the first look at a work tree, and after its history was rewritten. */
const MAX_FIRST_COMMITS = 10
const MAX_CHANGES = 50

const STATUS = ['status', '--porcelain', '--ignore-submodules=dirty']
const NO_COMMITS = 'not a git work tree, or one without commits'

async function openGit(folder: string, host: GitSandbox): Promise<Git | undefined> {
  const cwd = await realpath(folder)
  const tree = await locateWorkTree(cwd)
  return tree && createGit({ ...tree, cwd }, host)
}

/** Contract: the text differs whenever HEAD or the list of uncommitted changes differs. */
export async function gitFingerprint(folder: string, host: GitSandbox): Promise<string> {
  const git = await openGit(folder, host)
  if (!git) return NO_COMMITS
  const [head, status] = [await git(['rev-parse', 'HEAD']), await git(STATUS)]
  return `${head.output}\n${status.output}`
}

/** `since`: the `head` that the previous call returned; undefined at the first call. */
export async function describeGitChanges(
  folder: string,
  host: GitSandbox,
  since: string | undefined,
): Promise<{ readonly text: string; readonly head: string }> {
  const git = await openGit(folder, host)
  const found = await git?.(['rev-parse', '--verify', '--quiet', 'HEAD'])
  if (!git || !found?.ok) return { text: `${folder}: ${NO_COMMITS}`, head: '' }
  const branch = await git(['rev-parse', '--abbrev-ref', 'HEAD'])
  const head = found.output.trim()
  const text = [
    `${folder} (git work tree, branch ${branch.output.trim()}, at ${head.slice(0, 10)})`,
    ...(await describeCommits(git, since, head)),
    ...(await describeChanges(git)),
  ].join('\n')
  return { text, head }
}

async function describeCommits(git: Git, since: string | undefined, head: string): Promise<string[]> {
  if (since === head) return ['No new commits.']
  const isKnown = since !== undefined && (await git(['merge-base', '--is-ancestor', since, head])).ok
  const range = isKnown ? [`${since}..${head}`] : [head]
  const limit = isKnown ? MAX_COMMITS : MAX_FIRST_COMMITS
  const format = '--format=%n- %h %as %an: %s'
  const log = await git(['log', `--max-count=${limit}`, format, '--shortstat', ...range, '--'])
  const count = await git(['rev-list', '--count', ...range, '--'])
  const lines = log.output.split('\n').flatMap((line) => line.trimEnd() || [])
  const heading = isKnown
    ? `${count.output.trim()} new commits since ${since.slice(0, 10)}:`
    : since === undefined
      ? `The latest of ${count.output.trim()} commits:`
      : 'The history was rewritten. The latest commits:'
  return [heading, ...lines]
}

async function describeChanges(git: Git): Promise<string[]> {
  const { output } = await git(STATUS)
  const lines = output.split('\n').filter((line) => line !== '')
  if (lines.length === 0) return ['No uncommitted changes.']
  const more = lines.length > MAX_CHANGES ? [`- … and ${lines.length - MAX_CHANGES} more`] : []
  return [`${lines.length} uncommitted changes:`, ...lines.slice(0, MAX_CHANGES).map((line) => `- ${line}`), ...more]
}
