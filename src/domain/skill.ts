/** Skill: a folder of instructions, usable while it is unchanged since its owner approved it. */

/** One line of the skill list in a prompt. */
export interface SkillLine {
  readonly name: string
  readonly description: string
}

/** What a run is told besides its behaviour: its agent's role, the skills it may read, the approved AGENTS.md. */
export interface Briefing {
  readonly skills: readonly SkillLine[]
  readonly instructions: string | null
  /** `role.md` and `self.md` of the agent. */
  readonly role: string | null
}

export const NO_BRIEFING: Briefing = { skills: [], instructions: null, role: null }

export const SKILL_STATUSES = ['approved', 'unapproved', 'changed', 'unusable'] as const
type SkillStatus = (typeof SKILL_STATUSES)[number]

/** A skill of one agent (`agent`) or of all agents (both null), or the AGENTS.md of a workspace (`workspace`). */
export interface Skill extends SkillLine {
  readonly agent: string | null
  readonly workspace: string | null
  readonly path: string
  readonly status: SkillStatus
  /** Digest of all files with names and modes; null if the skill is unusable. */
  readonly digest: string | null
  readonly approved_at: string | null
  /** Why the skill is unusable. */
  readonly problem: string | null
}

/** A suspicious place in a skill that the owner should check before approving it. */
export interface SkillFinding {
  readonly file: string
  readonly line: number
  readonly kind: FindingKind
  readonly text: string
}

/** A file of a skill. `text`: null if it is not text. */
export interface SkillFileText {
  readonly path: string
  readonly bytes: number
  readonly executable: boolean
  readonly text: string | null
}

/** A file that changed since the approval, in the format of `diff -u`. */
export interface SkillChange {
  readonly path: string
  readonly diff: string
}

export const FINDING_KINDS = [
  ...['hidden text', 'encoded blob', 'runs a download', 'credentials', 'address', 'overrides instructions'],
  ...['executable', 'not text'],
] as const
export type FindingKind = (typeof FINDING_KINDS)[number]
