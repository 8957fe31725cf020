/** The roster: all agents, first those of tireless.yaml, then those with their own folder, by name. */

import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { TirelessError } from '../domain/error.ts'
import type { EnvVariables } from './expand-env.ts'
import { schemaLevels } from './explain-problems.ts'
import { formatPath, type KeyPath } from './key-path.ts'
import { errnoCodeOf, parseConfigFile, readSource } from './parse-file.ts'
import { type AgentConfig, agentSchema } from './schema.ts'
import { agentFile } from './schema-kernel.ts'
import { agentName } from './value-types.ts'

/** An agent, and the file that describes it. */
export interface RosterEntry {
  readonly agent_id: string
  /** The agent's own agent.yaml; null if tireless.yaml describes it. */
  readonly file: string | null
  /** The path of the agent's keys in that file. */
  readonly path: KeyPath
}

interface AgentFiles {
  /** The folder that holds one folder per agent. */
  readonly folder: string | undefined
  /** By file: the text to read in place of its content. */
  readonly drafts: Readonly<Record<string, string>>
  readonly env: EnvVariables
}

interface AgentRoster {
  readonly agents: readonly AgentConfig[]
  readonly enrolled: readonly RosterEntry[]
  readonly sources: Readonly<Record<string, string>>
}

const agentFileIn = (folder: string, id: string): string => join(folder, id, 'agent.yaml')

/**
 * Contract: creates the folder and passes `describe` the file to write; if `describe` throws, or `isTrial`, nothing is
 * left behind.
 */
export function createAgentFolder(
  folder: string,
  id: string,
  describe: (file: string) => void,
  { isTrial = false } = {},
): string {
  const expected = idProblem(id)
  if (expected !== undefined)
    throw new TirelessError('usage', { what: 'the agent id is not valid', got: JSON.stringify(id), expected })
  const file = agentFileIn(folder, id)
  if (existsSync(file))
    throw new TirelessError('conflict', {
      ...{ what: 'the agent already exists', where: file },
      fix: 'choose another id with --id, or run `tireless agent edit`',
    })
  const createdFolder = mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const removeCreated = (): void => {
    if (createdFolder !== undefined) rmSync(createdFolder, { recursive: true })
  }
  try {
    describe(file)
  } catch (thrown) {
    removeCreated()
    throw thrown
  }
  if (isTrial) removeCreated()
  return file
}

const idProblem = (id: string): string | undefined => agentName.safeParse(id).error?.issues[0]?.message

/** Contract: throws `config_invalid` for an invalid file, and for a duplicate id. */
export function buildRoster(
  files: AgentFiles,
  configured: readonly AgentConfig[],
  places: Readonly<Record<string, string>>,
): AgentRoster {
  const agents = [...configured]
  const sources: Record<string, string> = {}
  const where = (at: number): string => String(places[formatPath(['kernel', 'agents', at, 'agent_id'])])
  // Ids are compared without case, because some file systems ignore case.
  const first = new Map(configured.map(({ agent_id }, at) => [agent_id.toLowerCase(), where(at)] as const))
  const enrolled: RosterEntry[] = configured.map(({ agent_id }, at) => ({
    ...{ agent_id, file: null },
    path: ['kernel', 'agents', at],
  }))
  for (const id of foldersIn(files.folder)) {
    const file = agentFileIn(files.folder ?? '', id)
    const found = readAgent(file, id, files)
    if (!found) continue
    const other = first.get(id.toLowerCase())
    if (other !== undefined) throw duplicateIdError(file, id, other)
    first.set(id.toLowerCase(), file)
    for (const [key, source] of Object.entries(found.sources))
      sources[`${formatPath(['kernel', 'agents', agents.length])}.${key}`] = source
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
    if (errnoCodeOf(thrown) === 'ENOENT') return []
    throw new TirelessError('config_invalid', {
      where: folder,
      what: `the agents' folder cannot be read (${errnoCodeOf(thrown)})`,
      fix: 'check that it is a folder you may read',
    })
  }
}

/** Contract: undefined without an agent.yaml: the folder may contain files of an agent that tireless.yaml describes. */
function readAgent(
  file: string,
  id: string,
  { drafts: instead, env }: AgentFiles,
): { readonly agent: AgentConfig; readonly sources: Readonly<Record<string, string>> } | undefined {
  const source = instead[file] ?? readSource(file, false)
  if (source === undefined) return undefined
  const expected = idProblem(id)
  if (expected !== undefined)
    throw new TirelessError('config_invalid', {
      ...{ where: file, what: 'the folder name is not a valid agent id', got: JSON.stringify(id), expected },
      fix: 'rename the folder',
    })
  const { output, sources } = parseConfigFile({ source, name: file, env, schema: agentFile, validKeys: agentLevels })
  const { agent_id = id, prompt, ...rest } = output
  if (agent_id !== id)
    throw new TirelessError('config_invalid', {
      ...{ where: file, what: 'agent_id differs from the folder name', got: agent_id, expected: id },
      fix: 'leave agent_id out, or rename the folder',
    })
  const role = join(file, '..', 'role.md')
  // With a prompt, role.md is only part of the system prompt.
  const task = prompt?.trim() || readSource(role, false)?.trim()
  if (!task)
    throw new TirelessError('config_invalid', {
      ...{
        where: file,
        what: 'the agent has no prompt',
        expected: 'the key prompt, or a file role.md in the same folder',
      },
      fix: 'add prompt to this file',
    })
  return {
    agent: { ...rest, agent_id, prompt: task },
    sources: {
      ...sources,
      agent_id: sources.agent_id ?? file,
      prompt: prompt === undefined ? role : (sources.prompt ?? role),
    },
  }
}

const agentLevels = () => schemaLevels(agentSchema() as Parameters<typeof schemaLevels>[0])

function duplicateIdError(where: string, id: string, other: string): TirelessError {
  return new TirelessError('config_invalid', {
    ...{ where, what: 'two agents have the same id', got: `${id}, which ${other} already uses` },
    fix: 'remove one of them, or rename the folder',
  })
}
