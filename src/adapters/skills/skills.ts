/**
 * The skills there are, and which of them may be used: those whose digest is what their owner approved. Looked at when a run begins and again
 * whenever one is read, so that a changed one is off at once.
 */

import { lstat, readdir, readFile, realpath } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { asTirelessError, TirelessError } from '../../domain/error.ts'
import type { Note } from '../../domain/note.ts'
import type { Finding, Skill, SkillLine } from '../../domain/skill.ts'
import { type Clock, iso } from '../../ports/clock.ts'
import type { Skills } from '../../ports/skills.ts'
import { commitOne, type Store, unlessUnreadable } from '../../ports/store.ts'
import { type Contents, contentsOf, fileOf, type SkillFile } from './contents.ts'
import { describedBy } from './front-matter.ts'
import { scan, textOf } from './scan.ts'

/** Among the store's settings. */
const PINS = 'skill pins'
export const AGENTS_MD = 'AGENTS.md'
const SKILL_MD = 'SKILL.md'
/** More than this a prompt does not name. */
const MOST_NAMED = 24
const MOST_INSTRUCTIONS = 16 * 1024

type Pins = Readonly<Record<string, { readonly digest: string; readonly approved_at: string }>>

/** Which one is meant; without an agent or a workspace, whichever has that name. */
export interface Wanted {
  readonly name?: string | undefined
  readonly agent?: string | undefined
  readonly workspace?: string | undefined
}

export interface OwnSkills extends Skills {
  /** `workspaces`: where an AGENTS.md is looked for. */
  list(workspaces: readonly string[]): Promise<readonly Skill[]>
  /** Contract: throws `not_found`, or `usage` where several are meant. */
  find(wanted: Wanted): Promise<Scanned>
  /** Contract: pins it as it is now; throws `conflict` where `digest` is given and it is not that any more. */
  approve(wanted: Wanted, digest: string | undefined): Promise<Scanned>
  /** Contract: a file of one that may be used; throws what the model can be told. */
  read(agentId: string, name: string, file: string | undefined): Promise<string>
  /** What was approved once and is off, because it has changed. */
  changes(): readonly Note[]
}

export interface Scanned {
  readonly skill: Skill
  readonly findings: readonly Finding[]
}

interface Source {
  readonly key: string
  readonly folder: string
  readonly agent: string | null
  readonly workspace: string | null
}

interface Looked {
  readonly skill: Skill
  readonly files: readonly SkillFile[]
}

export function skillsIn(options: {
  readonly home: string
  readonly agents: string
  readonly store: Store
  readonly clock: Clock
}): OwnSkills {
  const { store, clock } = options
  const off = new Map<string, Note>()

  async function look(source: Source, pins: Pins): Promise<Looked> {
    const { key, folder, agent, workspace } = source
    const pin = Object.hasOwn(pins, key) ? pins[key] : undefined
    const about = { agent, workspace, path: folder, approved_at: pin?.approved_at ?? null }
    try {
      const contents = workspace === null ? await contentsOf(folder) : await fileOf(folder, AGENTS_MD)
      const line = workspace === null ? lineOf(contents, basename(folder)) : instructionsLine(contents)
      const status = !pin ? 'unapproved' : pin.digest === contents.digest ? 'approved' : 'changed'
      note(key, status === 'changed' ? `${describe(source)} has changed since it was approved, and is off` : undefined)
      return { skill: { ...about, ...line, status, digest: contents.digest, problem: null }, files: contents.files }
    } catch (thrown) {
      const { message } = asTirelessError(thrown)
      const name = workspace === null ? basename(folder) : AGENTS_MD
      note(key, pin && `${describe(source)} was approved and cannot be used any more: ${message}`)
      const line = { name, description: '' }
      return { skill: { ...about, ...line, status: 'unusable', digest: null, problem: message }, files: [] }
    }
  }

  function note(key: string, text: string | undefined): void {
    if (text === undefined) off.delete(key)
    else off.set(key, { about: `skill ${key}`, text: `${text}: look at it (skills scan), then: skills approve` })
  }

  // What cannot be read approves of nothing.
  const pinned = async (): Promise<Pins> => {
    const pins = await unlessUnreadable(store.setting(PINS), null)
    return (typeof pins === 'object' && pins !== null ? pins : {}) as unknown as Pins
  }

  async function found({ name, agent, workspace }: Wanted): Promise<Source> {
    if (workspace !== undefined) {
      if (name !== undefined && name !== AGENTS_MD)
        throw new TirelessError('usage', { what: 'of a workspace only AGENTS.md can be approved', got: name })
      return workspaceSource(await realpath(workspace).catch(() => workspace))
    }
    const all = (await sourcesIn(options)).filter(
      (source) => basename(source.folder) === name && (agent === undefined || source.agent === agent),
    )
    const [only, ...more] = all
    if (only && more.length === 0) return only
    if (!only)
      throw new TirelessError('not_found', {
        what: 'there is no such skill',
        got: name ?? '',
        fix: name === AGENTS_MD ? 'name the folder it lies in: --workspace DIR' : 'see: skills list',
      })
    throw new TirelessError('usage', {
      what: 'several skills have this name',
      got: name ?? '',
      expected: `one of --agent ${all.map((source) => source.agent ?? '(everybody)').join(', ')}`,
    })
  }

  async function find(wanted: Wanted): Promise<Scanned & Looked & { readonly key: string }> {
    const source = await found(wanted)
    const looked = await look(source, await pinned())
    return { ...looked, key: source.key, findings: scan(looked.files) }
  }

  /** An agent's own come before everybody's. */
  async function usable(agentId: string): Promise<readonly Looked[]> {
    const pins = await pinned()
    const sources = (await sourcesIn(options)).filter(({ agent }) => agent === null || agent === agentId)
    const own = new Map<string, Looked>()
    for (const source of sources) {
      const looked = await look(source, pins)
      if (looked.skill.status === 'approved' && !own.has(looked.skill.name)) own.set(looked.skill.name, looked)
    }
    return [...own.values()]
  }

  return {
    find,
    async list(workspaces) {
      const pins = await pinned()
      const places = await Promise.all(workspaces.map((path) => realpath(path).catch(() => undefined)))
      const kept = Object.keys(pins).flatMap((key) =>
        key.startsWith(OF_WORKSPACE) ? [key.slice(OF_WORKSPACE.length)] : [],
      )
      const folders = [...new Set([...places, ...kept])].filter((path) => path !== undefined)
      const there = await Promise.all(folders.map(async (path) => ((await hasInstructions(path)) ? [path] : [])))
      const sources = [...(await sourcesIn(options)), ...(await Promise.all(there.flat().map(workspaceSource)))]
      return Promise.all(sources.map(async (source) => (await look(source, pins)).skill))
    },
    async approve(wanted, digest) {
      const { key, skill, files, findings } = await find(wanted)
      if (skill.digest === null)
        throw new TirelessError('conflict', {
          what: 'it cannot be approved',
          where: skill.path,
          got: skill.problem ?? '',
        })
      if (digest !== undefined && !skill.digest.startsWith(digest))
        throw new TirelessError('conflict', {
          what: 'it has changed since you looked',
          where: skill.path,
          got: skill.digest.slice(0, 12),
          expected: digest,
          fix: 'look again: skills scan',
        })
      const approved_at = iso(clock.now())
      const pins = { ...(await pinned()), [key]: { digest: skill.digest, approved_at } }
      await commitOne(store, [{ op: 'set', name: PINS, value: pins }])
      note(key, undefined)
      return { skill: { ...skill, status: 'approved', approved_at }, files, findings } as Scanned
    },
    async brief(agentId, workspace) {
      const skills = (await usable(agentId)).slice(0, MOST_NAMED)
      return {
        skills: skills.map(({ skill: { name, description } }) => ({ name, description })),
        instructions: await instructionsIn(workspace),
      }
    },
    async read(agentId, name, file = SKILL_MD) {
      const all = await usable(agentId)
      const skill = all.find((looked) => looked.skill.name === name)
      if (!skill)
        throw unknown(
          'there is no such skill, or it is not approved as it is now',
          name,
          all.map(({ skill: { name: known } }) => known),
        )
      const wanted = skill.files.find(({ path }) => path === file)
      if (!wanted)
        throw unknown(
          'there is no such file in the skill',
          file,
          skill.files.map(({ path }) => path),
        )
      return textOf(wanted.bytes) ?? '[not text]'
    },
    changes: () => [...off.values()],
  }

  async function instructionsIn(workspace: string): Promise<string | null> {
    const folder = await realpath(workspace).catch(() => undefined)
    if (folder === undefined) return null
    const source = await workspaceSource(folder)
    const pins = await pinned()
    if (!Object.hasOwn(pins, source.key)) return null
    const { skill, files } = await look(source, pins)
    return skill.status === 'approved' ? (textOf(files[0]?.bytes ?? Buffer.alloc(0)) ?? null) : null
  }
}

const OF_WORKSPACE = 'workspace '

/** A work tree that was made of another is worth what that one is, as long as it holds the same text. */
async function workspaceSource(folder: string): Promise<Source> {
  const pointer = await readFile(join(folder, '.git'), 'utf8').catch(() => '')
  const origin = /^gitdir: (.+)[\\/]\.git[\\/]worktrees[\\/][^\\/]+\s*$/.exec(pointer)?.[1]
  return { key: `${OF_WORKSPACE}${origin ?? folder}`, folder, agent: null, workspace: folder }
}

const describe = ({ agent, workspace, folder }: Source): string =>
  workspace === null
    ? `the skill ${basename(folder)}${agent === null ? '' : ` of ${agent}`}`
    : `AGENTS.md of ${workspace}`

/** `agents/<id>/skills/<name>`, then `skills/<name>`. */
async function sourcesIn({
  home,
  agents,
}: {
  readonly home: string
  readonly agents: string
}): Promise<readonly Source[]> {
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

/** Links too: what they are is told when they are looked at. */
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

function lineOf({ files }: Contents, folder: string): SkillLine {
  const main = files.find(({ path }) => path === SKILL_MD)
  const text = main && textOf(main.bytes)
  if (text === undefined) throw new TirelessError('conflict', { what: 'there is no SKILL.md that is text' })
  return describedBy(text, folder)
}

function instructionsLine({ files: [file] }: Contents): SkillLine {
  const text = file && textOf(file.bytes)
  if (text === undefined) throw new TirelessError('conflict', { what: 'AGENTS.md is not text' })
  if (text.length > MOST_INSTRUCTIONS)
    throw new TirelessError('conflict', {
      what: 'AGENTS.md is too long: it would be in every request',
      got: `${text.length} characters`,
      expected: `at most ${MOST_INSTRUCTIONS}`,
    })
  return { name: AGENTS_MD, description: 'instructions for whoever works there' }
}

function unknown(what: string, got: string, known: readonly string[]): TirelessError {
  return new TirelessError('not_found', {
    what,
    got,
    expected: known.length === 0 ? 'none is there' : `one of ${known.join(', ')}`,
  })
}
