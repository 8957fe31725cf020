/** Status and owner of a skill in words. */

import type { CommandOutput } from '../../../src/commands/lib/registry.ts'
import { Dot, type Tone } from '../components.tsx'
import { visibleText } from '../format.ts'
import type { SkillsTexts } from '../texts/skills.ts'

type ListedSkill = CommandOutput<'skills list'>['items'][number]

const TONES: Readonly<Record<ListedSkill['status'], Tone>> = {
  ...{ approved: 'live', unapproved: 'other', changed: 'wait', unusable: 'fault' },
}

export function SkillStatus({ own, status }: { readonly own: SkillsTexts; readonly status: ListedSkill['status'] }) {
  return (
    <span class="label inline-flex items-center gap-1.5" data-skill-status={status}>
      <Dot tone={TONES[status]} /> {own.statuses[status]}
    </span>
  )
}

export function sayOwner(own: SkillsTexts, { agent, workspace }: Pick<ListedSkill, 'agent' | 'workspace'>): string {
  if (workspace !== null) return own.ofFolder(visibleText(workspace))
  return agent === null ? own.ofAll : own.ofAgent(visibleText(agent))
}
