/** What git says of a work tree that somebody watches, in words: its new commits, and what is changed in it. Changes nothing. */

import { realpath } from 'node:fs/promises'
import { type Git, type GitHost, gitIn } from './git.ts'
import { workTreeOf } from './repository/git-folder.ts'

/** Commits and changes that are told one by one. */
const MOST_COMMITS = 50
const FIRST_COMMITS = 10
const MOST_CHANGES = 50

const STATUS = ['status', '--porcelain', '--ignore-submodules=dirty']
const NONE = 'no git work tree, or one without commits'

async function gitOf(folder: string, host: GitHost): Promise<Git | undefined> {
  const cwd = await realpath(folder)
  const tree = await workTreeOf(cwd)
  return tree && gitIn({ ...tree, cwd }, host)
}

/** Contract: another text whenever there is another commit or another change. */
export async function gitSight(folder: string, host: GitHost): Promise<string> {
  const git = await gitOf(folder, host)
  if (!git) return NONE
  const [head, changes] = [await git(['rev-parse', 'HEAD']), await git(STATUS)]
  return `${head.output}\n${changes.output}`
}

/** `since`: a commit of before. */
export async function gitNews(
  folder: string,
  host: GitHost,
  since: string | undefined,
): Promise<{ readonly text: string; readonly head: string }> {
  const git = await gitOf(folder, host)
  const found = await git?.(['rev-parse', '--verify', '--quiet', 'HEAD'])
  if (!git || !found?.ok) return { text: `${folder}: ${NONE}`, head: '' }
  const branch = await git(['rev-parse', '--abbrev-ref', 'HEAD'])
  const head = found.output.trim()
  const text = [
    `${folder} (git work tree, branch ${branch.output.trim()}, at ${head.slice(0, 10)})`,
    ...(await commits(git, since, head)),
    ...(await changes(git)),
  ].join('\n')
  return { text, head }
}

async function commits(git: Git, since: string | undefined, head: string): Promise<string[]> {
  if (since === head) return ['No new commits.']
  const known = since !== undefined && (await git(['merge-base', '--is-ancestor', since, head])).ok
  const range = known ? [`${since}..${head}`] : [head]
  const most = known ? MOST_COMMITS : FIRST_COMMITS
  const format = '--format=%n- %h %as %an: %s'
  const log = await git(['log', `--max-count=${most}`, format, '--shortstat', ...range, '--'])
  const count = await git(['rev-list', '--count', ...range, '--'])
  const lines = log.output.split('\n').flatMap((line) => line.trimEnd() || [])
  const heading = known
    ? `${count.output.trim()} new commits since ${since.slice(0, 10)}:`
    : since === undefined
      ? `The last of its ${count.output.trim()} commits:`
      : 'Its history was rewritten; the last commits:'
  return [heading, ...lines]
}

async function changes(git: Git): Promise<string[]> {
  const { output } = await git(STATUS)
  const lines = output.split('\n').filter((line) => line !== '')
  if (lines.length === 0) return ['Nothing is changed and not committed.']
  const more = lines.length > MOST_CHANGES ? [`- … and ${lines.length - MOST_CHANGES} more`] : []
  return [
    `${lines.length} changed and not committed:`,
    ...lines.slice(0, MOST_CHANGES).map((line) => `- ${line}`),
    ...more,
  ]
}
