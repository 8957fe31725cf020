/** Skills: the owner's approved instructions for a run. */

import { type Briefing, NO_BRIEFING } from '../domain/skill.ts'

export interface Skills {
  /**
   * Contract: returns the skills and instructions that are approved and unchanged since; called once, when a run
   * starts.
   */
  brief(agentId: string, workspace: string): Promise<Briefing>
}

/** The tool for reading a skill; offered to agents that have skills. */
export const READ_SKILL_TOOL = 'read_skill'

/** Skills for runs that have none. */
export const NO_SKILLS: Skills = { brief: async () => NO_BRIEFING }
