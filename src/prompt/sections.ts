/** Sections: the parts of a prompt, and their order, which is fixed. What comes first changes least, so that a provider can reuse it. */

import type { SkillLine } from '../domain/skill.ts'
import type { SystemPrompt, SystemSection } from '../ports/behaviour.ts'
import { type Compiled, compile } from './compile.ts'

export interface Section {
  readonly name: string
  readonly text: string
  /** Never cut, never dropped: without it the others mean something else. */
  readonly whole: boolean
  readonly priority: number
  readonly floor: number
  readonly ceiling: number | null
}

/** `skills` and `instructions` are the owner's, whatever the behaviour. */
const SYSTEM_ORDER = [
  'role',
  'process_rules',
  'policy',
  'toolbox',
  'skills',
  'instructions',
  'output_protocol',
  'unattended',
] as const satisfies readonly (SystemSection | 'skills' | 'instructions')[]

export const wholeSection = (name: string, text: string): Section => ({
  name,
  text,
  whole: true,
  priority: 0,
  floor: 0,
  ceiling: null,
})

/** What the owner has approved for whoever works there. */
interface Approved {
  readonly skills?: readonly SkillLine[]
  readonly instructions?: string
}

/** `protocol`: how the model writes its calls, where it writes them as text. */
export function compileSystem(prompt: SystemPrompt, protocol = '', approved: Approved = {}): Compiled {
  const given = typeof prompt === 'string' ? { role: prompt } : prompt
  const output_protocol = [given.output_protocol ?? '', protocol].filter((text) => text !== '').join('\n\n')
  const all = { ...given, output_protocol, ...sectionsOf(approved) }
  return compile(
    SYSTEM_ORDER.map((name) => wholeSection(name, all[name] ?? '')),
    null,
  )
}

function sectionsOf({ skills = [], instructions }: Approved): {
  readonly skills: string
  readonly instructions: string
} {
  const lines = skills.map(({ name, description }) => `- ${name}: ${description}`)
  return {
    skills:
      lines.length === 0 ? '' : ['Skills: read one with read_skill before you do what it is for.', ...lines].join('\n'),
    instructions:
      instructions === undefined
        ? ''
        : `What your owner wants of whoever works in this workspace (AGENTS.md):\n${instructions}`,
  }
}
