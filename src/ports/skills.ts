/** Skills: what of the owner's approved instructions a run is given. */

import { type Briefing, NO_BRIEFING } from '../domain/skill.ts'

export interface Skills {
  /** Contract: what is approved, and is as it was approved; asked once, when a run begins. */
  brief(agentId: string, workspace: string): Promise<Briefing>
}

/** The tool by which a model reads one; offered to whoever has any. */
export const READ_SKILL = 'read_skill'

/** Where there are none. */
export const NO_SKILLS: Skills = { brief: async () => NO_BRIEFING }
