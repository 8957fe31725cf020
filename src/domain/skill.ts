/** Skill: a folder of instructions, usable as long as it is as its owner approved it. */

/** As a prompt names it. */
export interface SkillLine {
  readonly name: string
  readonly description: string
}

/** What a run is told beyond its behaviour: the skills it can read, and the approved AGENTS.md of its workspace. */
export interface Briefing {
  readonly skills: readonly SkillLine[]
  readonly instructions: string | null
}

export const NO_BRIEFING: Briefing = { skills: [], instructions: null }

export const SKILL_STATUSES = ['approved', 'unapproved', 'changed', 'unusable'] as const
export type SkillStatus = (typeof SKILL_STATUSES)[number]

/** Whose it is: an agent's, everybody's, or a workspace's AGENTS.md. */
export interface Skill extends SkillLine {
  readonly agent: string | null
  readonly workspace: string | null
  readonly path: string
  readonly status: SkillStatus
  /** Of every file in it, with names and modes; null where it cannot be used. */
  readonly digest: string | null
  readonly approved_at: string | null
  /** Why it cannot be used. */
  readonly problem: string | null
}

/** Something that its owner should look at before approving. */
export interface Finding {
  readonly file: string
  readonly line: number
  readonly kind: FindingKind
  readonly text: string
}

export const FINDING_KINDS = [
  ...['hidden text', 'encoded blob', 'runs a download', 'credentials', 'address', 'overrides instructions'],
  ...['executable', 'not text'],
] as const
export type FindingKind = (typeof FINDING_KINDS)[number]
