/** Where skills are found: folders of the home, and the AGENTS.md of a workspace. */

import { lstat, readdir, readFile, realpath } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { TirelessError } from '../../domain/error.ts'
import type { StoredPaths } from '../../ports/stored-paths.ts'

export const AGENTS_MD = 'AGENTS.md'

/** Identifies a skill; without agent and workspace, by its name alone. */
export interface SkillQuery {
  readonly name?: string | undefined
  readonly agent?: string | undefined
  readonly workspace?: string | undefined
}

export interface SkillSource {
  /** The name of its approval. */
  readonly key: string
  readonly folder: string
  readonly agent: string | null
  readonly workspace: string | null
}

export interface SkillFolders {
  /** How approvals name workspaces. */
  readonly paths: StoredPaths
  readonly home: string
  readonly agents: string
}

const WORKSPACE_PREFIX = 'workspace '

/** A linked git work tree shares the approval of its main work tree, while AGENTS.md is the same. */
export async function workspaceSource(folder: string, paths: StoredPaths): Promise<SkillSource> {
  const pointer = await readFile(join(folder, '.git'), 'utf8').catch(() => '')
  const origin = /^gitdir: (.+)[\\/]\.git[\\/]worktrees[\\/][^\\/]+\s*$/.exec(pointer)?.[1]
  return { key: WORKSPACE_PREFIX + paths.toStored(origin ?? folder), folder, agent: null, workspace: folder }
}

/** Contract: pure; the key as it is now, of one that a version before stored with an absolute path of the home. */
export function currentKey(key: string, paths: StoredPaths): string {
  if (!key.startsWith(WORKSPACE_PREFIX)) return key
  return WORKSPACE_PREFIX + paths.toStored(paths.fromEarlier(key.slice(WORKSPACE_PREFIX.length)))
}

export const describeSource = ({ agent, workspace, folder }: SkillSource): string =>
  workspace === null
    ? `the skill ${basename(folder)}${agent === null ? '' : ` of ${agent}`}`
    : `AGENTS.md of ${workspace}`

/** Skill folders of the home: `agents/<id>/skills/<name>` for one agent, then `skills/<name>` for all. */
export async function sourcesIn({ home, agents }: SkillFolders): Promise<readonly SkillSource[]> {
  const owners = await foldersIn(agents)
  const own = await Promise.all(
    owners.map(async (agent) => {
      const folder = join(agents, agent, 'skills')
      const names = await foldersIn(folder)
      return names.map((name) => ({
        key: `agent ${agent} ${name}`,
        folder: join(folder, name),
        agent,
        workspace: null,
      }))
    }),
  )
  const shared = join(home, 'skills')
  const names = await foldersIn(shared)
  return [
    ...own.flat(),
    ...names.map((name) => ({ key: `home ${name}`, folder: join(shared, name), agent: null, workspace: null })),
  ]
}

/** Names of folders and of links; a link is reported as a problem when its skill is read. */
async function foldersIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map(({ name }) => name)
    .toSorted()
}

const hasInstructions = (folder: string): Promise<boolean> =>
  lstat(join(folder, AGENTS_MD)).then(
    () => true,
    () => false,
  )

/** Contract: throws `not_found`, or `usage` if several skills match. */
export async function findSource(folders: SkillFolders, { name, agent, workspace }: SkillQuery): Promise<SkillSource> {
  if (workspace !== undefined) {
    if (name !== undefined && name !== AGENTS_MD)
      throw new TirelessError('usage', { what: 'in a workspace, only AGENTS.md can be approved', got: name })
    return workspaceSource(await realpath(workspace).catch(() => workspace), folders.paths)
  }
  const all = (await sourcesIn(folders)).filter(
    (source) => basename(source.folder) === name && (agent === undefined || source.agent === agent),
  )
  const [only, ...more] = all
  if (only && more.length === 0) return only
  if (!only)
    throw new TirelessError('not_found', {
      what: 'unknown skill',
      got: name ?? '',
      fix: name === AGENTS_MD ? 'name its folder with --workspace DIR' : 'run `tireless skills list`',
    })
  throw new TirelessError('usage', {
    what: 'several skills have this name',
    got: name ?? '',
    expected: `one of --agent ${all.map((source) => source.agent ?? '(all agents)').join(', ')}`,
  })
}

/** The workspaces with an AGENTS.md, among the given ones and those that have an approval. */
export async function workspacesWithInstructions(
  workspaces: readonly string[],
  approvedKeys: readonly string[],
  paths: StoredPaths,
): Promise<readonly SkillSource[]> {
  const realPaths = await Promise.all(workspaces.map((path) => realpath(path).catch(() => undefined)))
  const approved = approvedKeys.flatMap((key) =>
    key.startsWith(WORKSPACE_PREFIX) ? [paths.fromStored(key.slice(WORKSPACE_PREFIX.length))] : [],
  )
  const folders = [...new Set([...realPaths, ...approved])].filter((path) => path !== undefined)
  const found = await Promise.all(folders.map(async (path) => ((await hasInstructions(path)) ? [path] : [])))
  return Promise.all(found.flat().map((folder) => workspaceSource(folder, paths)))
}
