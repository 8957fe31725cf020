/**
 * Lists skills and decides which may be used: those whose digest equals the approved one. The digest is computed when a
 * run starts and at every read, so a changed skill is disabled at once.
 */

import { realpath } from 'node:fs/promises'
import { basename } from 'node:path'
import { asTirelessError, TirelessError } from '../../domain/error.ts'
import type { OwnerNote } from '../../domain/owner-note.ts'
import type { Skill, SkillChange, SkillFileText, SkillFinding, SkillLine } from '../../domain/skill.ts'
import { type Clock, iso } from '../../ports/clock.ts'
import type { Skills } from '../../ports/skills.ts'
import { commitOne, fallbackIfUnreadable, type Store } from '../../ports/store.ts'
import { approvedTextKey, changesSince, keptText } from './approved-text.ts'
import { parseFrontMatter } from './front-matter.ts'
import { readRole } from './role.ts'
import { decodeUtf8, scanSkill } from './scan-skill.ts'
import { readSkillFile, readSkillFolder, type SkillContents, type SkillFile } from './skill-files.ts'
import {
  AGENTS_MD,
  currentKey,
  describeSource,
  findSource,
  type SkillFolders,
  type SkillQuery,
  type SkillSource,
  sourcesIn,
  workspaceSource,
  workspacesWithInstructions,
} from './skill-sources.ts'

/** Key of the stored approvals in the settings of the store. */
const PINS = 'skill pins'
const SKILL_MD = 'SKILL.md'
/** Most skills that a prompt names. */
const MOST_NAMED = 24
const MOST_INSTRUCTIONS = 16 * 1024

type Pins = Readonly<Record<string, { readonly digest: string; readonly approved_at: string }>>

export interface ManagedSkills extends Skills {
  /** `workspaces`: folders to search for an AGENTS.md. */
  list(workspaces: readonly string[]): Promise<readonly Skill[]>
  /** Contract: throws `not_found`, or `usage` if several skills match. */
  find(query: SkillQuery): Promise<SkillReview>
  /** Contract: approves the current content; throws `conflict` if its digest differs from a given `digest`. */
  approve(query: SkillQuery, digest: string | undefined): Promise<SkillReview>
  /** Contract: as `find`, with all files and what changed since the approval; null: what was approved is not known. */
  review(query: SkillQuery): Promise<SkillReview & SkillContent>
  /** Contract: the skill is unapproved; false if it was not approved before. */
  revoke(query: SkillQuery): Promise<boolean>
  /** Contract: a file of an approved skill; the messages of thrown errors are written for the model. */
  read(agentId: string, name: string, file: string | undefined): Promise<string>
  /** Approved skills that are disabled because they changed. */
  listChanged(): readonly OwnerNote[]
}

interface SkillReview {
  readonly skill: Skill
  readonly findings: readonly SkillFinding[]
}

interface SkillContent {
  readonly contents: readonly SkillFileText[]
  readonly changes: readonly SkillChange[] | null
}

interface InspectedSkill {
  readonly skill: Skill
  readonly files: readonly SkillFile[]
}

interface SkillsOptions extends SkillFolders {
  readonly store: Store
  readonly clock: Clock
  /** Folders of shipped agents, for agents that have no folder in the home. */
  readonly shipped?: readonly string[]
}

export function createSkills(options: SkillsOptions): ManagedSkills {
  return new ApprovedSkills(options)
}

class ApprovedSkills implements ManagedSkills {
  readonly #options: SkillsOptions
  /** By key of the skill. */
  readonly #disabled = new Map<string, OwnerNote>()

  constructor(options: SkillsOptions) {
    this.#options = options
  }

  async list(workspaces: readonly string[]): Promise<readonly Skill[]> {
    const pins = await this.#readPins()
    const sources = [
      ...(await sourcesIn(this.#options)),
      ...(await workspacesWithInstructions(workspaces, Object.keys(pins), this.#options.paths)),
    ]
    return Promise.all(sources.map(async (source) => (await this.#inspect(source, pins)).skill))
  }

  async find(query: SkillQuery): Promise<SkillReview & InspectedSkill & { readonly key: string }> {
    const source = await findSource(this.#options, query)
    const inspected = await this.#inspect(source, await this.#readPins())
    return { ...inspected, key: source.key, findings: scanSkill(inspected.files) }
  }

  async approve(query: SkillQuery, digest: string | undefined): Promise<SkillReview> {
    const { key, skill, files, findings } = await this.find(query)
    checkDigest(skill, digest)
    const { store, clock } = this.#options
    const approved_at = iso(clock.now())
    const pins = { ...(await this.#readPins()), [key]: { digest: skill.digest, approved_at } }
    await commitOne(store, [
      { op: 'set', name: PINS, value: pins },
      { op: 'set', name: approvedTextKey(key), value: keptText(files) },
    ])
    this.#setNote(key, undefined)
    return { skill: { ...skill, status: 'approved', approved_at }, files, findings } as SkillReview
  }

  async review(query: SkillQuery): Promise<SkillReview & SkillContent> {
    const { key, skill, files, findings } = await this.find(query)
    const approved = await fallbackIfUnreadable(this.#options.store.setting(approvedTextKey(key)), null)
    const contents = files.map(({ path, mode, bytes }) => {
      return { path, bytes: bytes.length, executable: (mode & 0o111) !== 0, text: decodeUtf8(bytes) ?? null }
    })
    return { skill, findings, contents, changes: changesSince(approved, files) }
  }

  async revoke(query: SkillQuery): Promise<boolean> {
    const { key } = await findSource(this.#options, query)
    const { [key]: pin, ...others } = await this.#readPins()
    if (!pin) return false
    await commitOne(this.#options.store, [
      { op: 'set', name: PINS, value: others },
      { op: 'set', name: approvedTextKey(key), value: null },
    ])
    this.#setNote(key, undefined)
    return true
  }

  brief: Skills['brief'] = async (agentId, workspace) => {
    const skills = (await this.#listUsable(agentId)).slice(0, MOST_NAMED)
    return {
      skills: skills.map(({ skill: { name, description } }) => ({ name, description })),
      instructions: await this.#instructionsIn(workspace),
      role: await readRole([this.#options.agents, ...(this.#options.shipped ?? [])], agentId),
    }
  }

  read: ManagedSkills['read'] = async (agentId, name, file = SKILL_MD) => {
    const all = await this.#listUsable(agentId)
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
  }

  listChanged(): readonly OwnerNote[] {
    return [...this.#disabled.values()]
  }

  async #inspect(source: SkillSource, pins: Pins): Promise<InspectedSkill> {
    const { key, folder, agent, workspace } = source
    const pin = Object.hasOwn(pins, key) ? pins[key] : undefined
    const about = { agent, workspace, path: folder, approved_at: pin?.approved_at ?? null }
    const subject = describeSource(source)
    try {
      const contents = workspace === null ? await readSkillFolder(folder) : await readSkillFile(folder, AGENTS_MD)
      const line = workspace === null ? skillLine(contents, basename(folder)) : instructionsLine(contents)
      const status = !pin ? 'unapproved' : pin.digest === contents.digest ? 'approved' : 'changed'
      this.#setNote(key, status === 'changed' ? `${subject} changed after its approval and is disabled` : undefined)
      return { skill: { ...about, ...line, status, digest: contents.digest, problem: null }, files: contents.files }
    } catch (thrown) {
      const { message } = asTirelessError(thrown)
      const name = workspace === null ? basename(folder) : AGENTS_MD
      this.#setNote(key, pin && `${subject} is approved but cannot be used: ${message}`)
      const line = { name, description: '' }
      return { skill: { ...about, ...line, status: 'unusable', digest: null, problem: message }, files: [] }
    }
  }

  #setNote(key: string, text: string | undefined): void {
    if (text === undefined) this.#disabled.delete(key)
    else
      this.#disabled.set(key, {
        about: `skill ${key}`,
        text: `${text}. Review it with \`tireless skills scan\`, then run \`tireless skills approve\`.`,
      })
  }

  /** If the stored approvals are unreadable, no skill counts as approved. */
  async #readPins(): Promise<Pins> {
    const pins = await fallbackIfUnreadable(this.#options.store.setting(PINS), null)
    const known = (typeof pins === 'object' && pins !== null ? pins : {}) as unknown as Pins
    return Object.fromEntries(Object.entries(known).map(([key, pin]) => [currentKey(key, this.#options.paths), pin]))
  }

  /** A skill of the agent hides a shared skill of the same name. */
  async #listUsable(agentId: string): Promise<readonly InspectedSkill[]> {
    const pins = await this.#readPins()
    const sources = (await sourcesIn(this.#options)).filter(({ agent }) => agent === null || agent === agentId)
    const own = new Map<string, InspectedSkill>()
    for (const source of sources) {
      const inspected = await this.#inspect(source, pins)
      if (inspected.skill.status === 'approved' && !own.has(inspected.skill.name))
        own.set(inspected.skill.name, inspected)
    }
    return [...own.values()]
  }

  async #instructionsIn(workspace: string): Promise<string | null> {
    const folder = await realpath(workspace).catch(() => undefined)
    if (folder === undefined) return null
    const source = await workspaceSource(folder, this.#options.paths)
    const pins = await this.#readPins()
    if (!Object.hasOwn(pins, source.key)) return null
    const { skill, files } = await this.#inspect(source, pins)
    return skill.status === 'approved' ? (decodeUtf8(files[0]?.bytes ?? Buffer.alloc(0)) ?? null) : null
  }
}

/** Contract: throws `conflict` if the skill cannot be approved, or is not the one that was reviewed. */
function checkDigest(skill: Skill, reviewed: string | undefined): void {
  if (skill.digest === null)
    throw new TirelessError('conflict', {
      what: 'the skill cannot be approved',
      where: skill.path,
      got: skill.problem ?? '',
    })
  if (reviewed !== undefined && !skill.digest.startsWith(reviewed))
    throw new TirelessError('conflict', {
      what: 'the skill changed since you reviewed it',
      where: skill.path,
      got: skill.digest.slice(0, 12),
      expected: reviewed,
      fix: 'run `tireless skills scan` again',
    })
}

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
