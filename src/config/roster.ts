/** The roster: every agent there is. Those of tireless.yaml, then those that have a folder of their own, by their names. */

import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { TirelessError } from '../domain/error.ts'
import type { Variables } from './expand.ts'
import { levels } from './explain.ts'
import { codeOf, parsed, sourceOf } from './parse.ts'
import { dotted, type Path } from './path.ts'
import { type AgentConfig, agentFile, agentSchema } from './schema.ts'
import { name as agentName } from './values.ts'

/** An agent, and where it is described. */
export interface Enrolled {
  readonly agent_id: string
  /** Its own file; null: the configuration. */
  readonly file: string | null
  /** Where its keys stand in that file. */
  readonly path: Path
}

export interface AgentFiles {
  /** Of all agents that have one of their own. */
  readonly folder: string | undefined
  readonly instead: Readonly<Record<string, string>>
  readonly env: Variables
}

export interface Roster {
  readonly agents: readonly AgentConfig[]
  readonly enrolled: readonly Enrolled[]
  readonly sources: Readonly<Record<string, string>>
}

const agentFileIn = (folder: string, id: string): string => join(folder, id, 'agent.yaml')

/** Contract: `describe` gets the name of a file that is not there yet, in a folder that is; where it throws, nothing is left. */
export function withNewAgent(folder: string, id: string, describe: (file: string) => void): string {
  const expected = expectedOf(id)
  if (expected !== undefined)
    throw new TirelessError('usage', { what: 'this is no id of an agent', got: JSON.stringify(id), expected })
  const file = agentFileIn(folder, id)
  if (existsSync(file))
    throw new TirelessError('conflict', {
      ...{ what: 'there is such an agent already', where: file },
      fix: 'give it another id with --id, or change that one: agent edit',
    })
  const made = mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  try {
    describe(file)
    return file
  } catch (thrown) {
    if (made !== undefined) rmSync(made, { recursive: true })
    throw thrown
  }
}

const expectedOf = (id: string): string | undefined => agentName.safeParse(id).error?.issues[0]?.message

/** Contract: throws `config_invalid` for a file that is none, and for an id that stands twice. */
export function rosterOf(
  files: AgentFiles,
  configured: readonly AgentConfig[],
  places: Readonly<Record<string, string>>,
): Roster {
  const agents = [...configured]
  const sources: Record<string, string> = {}
  const where = (at: number): string => String(places[dotted(['kernel', 'agents', at, 'agent_id'])])
  // Some file systems do not tell upper from lower case.
  const first = new Map(configured.map(({ agent_id }, at) => [agent_id.toLowerCase(), where(at)] as const))
  const enrolled: Enrolled[] = configured.map(({ agent_id }, at) => ({
    ...{ agent_id, file: null },
    path: ['kernel', 'agents', at],
  }))
  for (const id of foldersIn(files.folder)) {
    const file = agentFileIn(files.folder ?? '', id)
    const found = agentIn(file, id, files)
    if (!found) continue
    const other = first.get(id.toLowerCase())
    if (other !== undefined) throw twice(file, id, other)
    first.set(id.toLowerCase(), file)
    for (const [key, source] of Object.entries(found.sources))
      sources[`${dotted(['kernel', 'agents', agents.length])}.${key}`] = source
    agents.push(found.agent)
    enrolled.push({ agent_id: id, file, path: [] })
  }
  return { agents, enrolled, sources }
}

function foldersIn(folder: string | undefined): readonly string[] {
  if (folder === undefined) return []
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries
      .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
      .map((entry) => entry.name)
      .toSorted()
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return []
    throw new TirelessError('config_invalid', {
      where: folder,
      what: `the agents cannot be read (${codeOf(thrown)})`,
      fix: 'check what it is and who may read it',
    })
  }
}

/** Contract: undefined where the folder describes nobody: it may hold what an agent of tireless.yaml has beside its keys. */
function agentIn(
  file: string,
  id: string,
  { instead, env }: AgentFiles,
): { readonly agent: AgentConfig; readonly sources: Readonly<Record<string, string>> } | undefined {
  const source = sourceOf(instead[file] ?? file, false)
  if (source === undefined) return undefined
  const expected = expectedOf(id)
  if (expected !== undefined)
    throw new TirelessError('config_invalid', {
      ...{ where: file, what: 'the folder is no id of an agent', got: JSON.stringify(id), expected },
      fix: 'rename the folder',
    })
  const { output, sources } = parsed({ source, name: file, env, schema: agentFile, known: agentLevels })
  const { agent_id = id, prompt, ...rest } = output
  if (agent_id !== id)
    throw new TirelessError('config_invalid', {
      ...{ where: file, what: 'agent_id is not the name of its folder', got: agent_id, expected: id },
      fix: 'leave agent_id out, or rename the folder',
    })
  const role = join(file, '..', 'role.md')
  const told = [sourceOf(role, false), prompt].flatMap((part) => part?.trim() || [])
  if (told.length === 0)
    throw new TirelessError('config_invalid', {
      ...{ where: file, what: 'nobody says what the agent is to do', expected: 'prompt, or a file role.md beside it' },
      fix: 'add prompt here',
    })
  return {
    agent: { ...rest, agent_id, prompt: told.join('\n\n') },
    sources: {
      ...sources,
      agent_id: sources.agent_id ?? file,
      prompt: prompt === undefined ? role : (sources.prompt ?? role),
    },
  }
}

const agentLevels = () => levels(agentSchema() as Parameters<typeof levels>[0])

function twice(where: string, id: string, other: string): TirelessError {
  return new TirelessError('config_invalid', {
    ...{ where, what: 'two agents have one id', got: `${id}, which is in ${other} already` },
    fix: 'remove one of them, or rename the folder',
  })
}
