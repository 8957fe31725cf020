/**
 * Lists skills and decides which may be used: those whose digest equals the approved one. The digest is computed when a
 * run starts and at every read, so a changed skill is disabled at once.
 */

import { lstat, readdir, readFile, realpath } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { asTirelessError, TirelessError } from '../../domain/error.ts'
import type { OwnerNote } from '../../domain/owner-note.ts'
import type { Skill, SkillFinding, SkillLine } from '../../domain/skill.ts'
import { type Clock, iso } from '../../ports/clock.ts'
import type { Skills } from '../../ports/skills.ts'
import { commitOne, fallbackIfUnreadable, type Store } from '../../ports/store.ts'
import { parseFrontMatter } from './front-matter.ts'
import { decodeUtf8, scanSkill } from './scan-skill.ts'
import { readSkillFile, readSkillFolder, type SkillContents, type SkillFile } from './skill-files.ts'

/** Key of the stored approvals in the settings of the store. */
const PINS = 'skill pins'
export const AGENTS_MD = 'AGENTS.md'
const SKILL_MD = 'SKILL.md'
/** Most skills that a prompt names. */
const MOST_NAMED = 24
const MOST_INSTRUCTIONS = 16 * 1024

type Pins = Readonly<Record<string, { readonly digest: string; readonly approved_at: string }>>

/** Identifies a skill; without agent and workspace, by its name alone. */
export interface SkillQuery {
  readonly name?: string | undefined
  readonly agent?: string | undefined
  readonly workspace?: string | undefined
}

export interface ManagedSkills extends Skills {
  /** `workspaces`: folders to search for an AGENTS.md. */
  list(workspaces: readonly string[]): Promise<readonly Skill[]>
  /** Contract: throws `not_found`, or `usage` if several skills match. */
  find(query: SkillQuery): Promise<SkillReview>
  /** Contract: approves the current content; throws `conflict` if its digest differs from a given `digest`. */
  approve(query: SkillQuery, digest: string | undefined): Promise<SkillReview>
  /** Contract: a file of an approved skill; the messages of thrown errors are written for the model. */
  read(agentId: string, name: string, file: string | undefined): Promise<string>
  /** Approved skills that are disabled because they changed. */
  listChanged(): readonly OwnerNote[]
}

export interface SkillReview {
  readonly skill: Skill
  readonly findings: readonly SkillFinding[]
}

interface Source {
  readonly key: string
  readonly folder: string
  readonly agent: string | null
  readonly workspace: string | null
}

interface InspectedSkill {
  readonly skill: Skill
  readonly files: readonly SkillFile[]
}

export function createSkills(options: {
  readonly home: string
  readonly agents: string
  readonly store: Store
  readonly clock: Clock
}): ManagedSkills {
  const { store, clock } = options
  const disabled = new Map<string, OwnerNote>()

  async function inspect(source: Source, pins: Pins): Promise<InspectedSkill> {
    const { key, folder, agent, workspace } = source
    const pin = Object.hasOwn(pins, key) ? pins[key] : undefined
    const about = { agent, workspace, path: folder, approved_at: pin?.approved_at ?? null }
    try {
      const contents = workspace === null ? await readSkillFolder(folder) : await readSkillFile(folder, AGENTS_MD)
      const line = workspace === null ? skillLine(contents, basename(folder)) : instructionsLine(contents)
      const status = !pin ? 'unapproved' : pin.digest === contents.digest ? 'approved' : 'changed'
      setNote(key, status === 'changed' ? `${describe(source)} changed after its approval and is disabled` : undefined)
      return { skill: { ...about, ...line, status, digest: contents.digest, problem: null }, files: contents.files }
    } catch (thrown) {
      const { message } = asTirelessError(thrown)
      const name = workspace === null ? basename(folder) : AGENTS_MD
      setNote(key, pin && `${describe(source)} is approved but cannot be used: ${message}`)
      const line = { name, description: '' }
      return { skill: { ...about, ...line, status: 'unusable', digest: null, problem: message }, files: [] }
    }
  }

  function setNote(key: string, text: string | undefined): void {
    if (text === undefined) disabled.delete(key)
    else
      disabled.set(key, {
        about: `skill ${key}`,
        text: `${text}. Review it with \`tireless skills scan\`, then run \`tireless skills approve\`.`,
      })
  }

  // If the stored approvals are unreadable, no skill counts as approved.
  const readPins = async (): Promise<Pins> => {
    const pins = await fallbackIfUnreadable(store.setting(PINS), null)
    return (typeof pins === 'object' && pins !== null ? pins : {}) as unknown as Pins
  }

  async function resolveSource({ name, agent, workspace }: SkillQuery): Promise<Source> {
    if (workspace !== undefined) {
      if (name !== undefined && name !== AGENTS_MD)
        throw new TirelessError('usage', { what: 'in a workspace, only AGENTS.md can be approved', got: name })
      return workspaceSource(await realpath(workspace).catch(() => workspace))
    }
    const all = (await sourcesIn(options)).filter(
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

  async function find(query: SkillQuery): Promise<SkillReview & InspectedSkill & { readonly key: string }> {
    const source = await resolveSource(query)
    const inspected = await inspect(source, await readPins())
    return { ...inspected, key: source.key, findings: scanSkill(inspected.files) }
  }

  /** A skill of the agent hides a shared skill of the same name. */
  async function listUsable(agentId: string): Promise<readonly InspectedSkill[]> {
    const pins = await readPins()
    const sources = (await sourcesIn(options)).filter(({ agent }) => agent === null || agent === agentId)
    const own = new Map<string, InspectedSkill>()
    for (const source of sources) {
      const inspected = await inspect(source, pins)
      if (inspected.skill.status === 'approved' && !own.has(inspected.skill.name))
        own.set(inspected.skill.name, inspected)
    }
    return [...own.values()]
  }

  return {
    find,
    async list(workspaces) {
      const pins = await readPins()
      const realPaths = await Promise.all(workspaces.map((path) => realpath(path).catch(() => undefined)))
      const pinnedFolders = Object.keys(pins).flatMap((key) =>
        key.startsWith(WORKSPACE_PREFIX) ? [key.slice(WORKSPACE_PREFIX.length)] : [],
      )
      const folders = [...new Set([...realPaths, ...pinnedFolders])].filter((path) => path !== undefined)
      const withInstructions = await Promise.all(
        folders.map(async (path) => ((await hasInstructions(path)) ? [path] : [])),
      )
      const sources = [
        ...(await sourcesIn(options)),
        ...(await Promise.all(withInstructions.flat().map(workspaceSource))),
      ]
      return Promise.all(sources.map(async (source) => (await inspect(source, pins)).skill))
    },
    async approve(query, digest) {
      const { key, skill, files, findings } = await find(query)
      if (skill.digest === null)
        throw new TirelessError('conflict', {
          what: 'the skill cannot be approved',
          where: skill.path,
          got: skill.problem ?? '',
        })
      if (digest !== undefined && !skill.digest.startsWith(digest))
        throw new TirelessError('conflict', {
          what: 'the skill changed since you reviewed it',
          where: skill.path,
          got: skill.digest.slice(0, 12),
          expected: digest,
          fix: 'run `tireless skills scan` again',
        })
      const approved_at = iso(clock.now())
      const pins = { ...(await readPins()), [key]: { digest: skill.digest, approved_at } }
      await commitOne(store, [{ op: 'set', name: PINS, value: pins }])
      setNote(key, undefined)
      return { skill: { ...skill, status: 'approved', approved_at }, files, findings } as SkillReview
    },
    async brief(agentId, workspace) {
      const skills = (await listUsable(agentId)).slice(0, MOST_NAMED)
      return {
        skills: skills.map(({ skill: { name, description } }) => ({ name, description })),
        instructions: await instructionsIn(workspace),
      }
    },
    async read(agentId, name, file = SKILL_MD) {
      const all = await listUsable(agentId)
      const skill = all.find((inspected) => inspected.skill.name === name)
      if (!skill)
        throw notFound(
          'unknown skill, or its current content is not approved',
          name,
          all.map(({ skill: { name: known } }) => known),
        )
      const requestedFile = skill.files.find(({ path }) => path === file)
      if (!requestedFile)
        throw notFound(
          'the skill has no such file',
          file,
          skill.files.map(({ path }) => path),
        )
      return decodeUtf8(requestedFile.bytes) ?? '[not text]'
    },
    listChanged: () => [...disabled.values()],
  }

  async function instructionsIn(workspace: string): Promise<string | null> {
    const folder = await realpath(workspace).catch(() => undefined)
    if (folder === undefined) return null
    const source = await workspaceSource(folder)
    const pins = await readPins()
    if (!Object.hasOwn(pins, source.key)) return null
    const { skill, files } = await inspect(source, pins)
    return skill.status === 'approved' ? (decodeUtf8(files[0]?.bytes ?? Buffer.alloc(0)) ?? null) : null
  }
}

const WORKSPACE_PREFIX = 'workspace '

/** A linked git work tree shares the approval of its main work tree, while AGENTS.md is the same. */
async function workspaceSource(folder: string): Promise<Source> {
  const pointer = await readFile(join(folder, '.git'), 'utf8').catch(() => '')
  const origin = /^gitdir: (.+)[\\/]\.git[\\/]worktrees[\\/][^\\/]+\s*$/.exec(pointer)?.[1]
  return { key: `${WORKSPACE_PREFIX}${origin ?? folder}`, folder, agent: null, workspace: folder }
}

const describe = ({ agent, workspace, folder }: Source): string =>
  workspace === null
    ? `the skill ${basename(folder)}${agent === null ? '' : ` of ${agent}`}`
    : `AGENTS.md of ${workspace}`

/** Skill folders of the home: `agents/<id>/skills/<name>` for one agent, then `skills/<name>` for all. */
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

function skillLine({ files }: SkillContents, folder: string): SkillLine {
  const main = files.find(({ path }) => path === SKILL_MD)
  const text = main && decodeUtf8(main.bytes)
  if (text === undefined) throw new TirelessError('conflict', { what: 'there is no readable SKILL.md' })
  return parseFrontMatter(text, folder)
}

function instructionsLine({ files: [file] }: SkillContents): SkillLine {
  const text = file && decodeUtf8(file.bytes)
  if (text === undefined) throw new TirelessError('conflict', { what: 'AGENTS.md is not text' })
  if (text.length > MOST_INSTRUCTIONS)
    throw new TirelessError('conflict', {
      what: 'AGENTS.md is too long: every request contains it',
      got: `${text.length} characters`,
      expected: `at most ${MOST_INSTRUCTIONS}`,
    })
  return { name: AGENTS_MD, description: 'instructions for agents in this folder' }
}

function notFound(what: string, got: string, known: readonly string[]): TirelessError {
  return new TirelessError('not_found', {
    what,
    got,
    expected: known.length === 0 ? 'none exists' : `one of ${known.join(', ')}`,
  })
}
