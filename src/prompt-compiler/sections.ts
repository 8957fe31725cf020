/**
 * Sections of the system prompt, in a fixed order. Stable sections come first, so that the provider's cache can reuse
 * them.
 */

import type { SkillLine } from '../domain/skill.ts'
import type { SystemPrompt, SystemSection } from '../ports/behaviour.ts'
import { loadPrompt } from '../prompts/load-prompt.ts'
import { type CompiledPrompt, compileSections } from './compile.ts'

export interface Section {
  readonly name: string
  readonly text: string
  /** The section is never truncated or dropped. */
  readonly whole: boolean
  readonly priority: number
  readonly floor: number
  readonly ceiling: number | null
}

/** `skills`, `instructions` and the end of `role` come from the owner, the others from the behaviour. */
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

/** Texts that the owner has approved for this workspace. */
interface ApprovedTexts {
  readonly skills?: readonly SkillLine[]
  readonly instructions?: string
  readonly role?: string
}

/** `protocol`: instructions for models that write their calls as text. */
export function compileSystemPrompt(prompt: SystemPrompt, protocol = '', approved: ApprovedTexts = {}): CompiledPrompt {
  const own = typeof prompt === 'string' ? { role: prompt } : prompt
  const output_protocol = [own.output_protocol ?? '', protocol].filter((text) => text !== '').join('\n\n')
  const role = [own.role ?? '', approved.role ?? ''].filter((text) => text !== '').join('\n\n')
  const all = { ...own, role, output_protocol, ...approvedSections(approved) }
  return compileSections(
    SYSTEM_ORDER.map((name) => wholeSection(name, all[name] ?? '')),
    null,
  )
}

function approvedSections({ skills = [], instructions }: ApprovedTexts): {
  readonly skills: string
  readonly instructions: string
} {
  const lines = skills.map(({ name, description }) => `- ${name}: ${description}`)
  return {
    skills: lines.length === 0 ? '' : loadPrompt('system/workspace.md#skills', { skills: lines.join('\n') }),
    instructions: instructions === undefined ? '' : loadPrompt('system/workspace.md#instructions', { instructions }),
  }
}
