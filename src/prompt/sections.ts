/** Sections: the parts of a prompt, and their order, which is fixed. What comes first changes least, so that a provider can reuse it. */

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

const SYSTEM_ORDER = [
  'role',
  'process_rules',
  'policy',
  'toolbox',
  'output_protocol',
  'unattended',
] as const satisfies readonly SystemSection[]

export const wholeSection = (name: string, text: string): Section => ({
  name,
  text,
  whole: true,
  priority: 0,
  floor: 0,
  ceiling: null,
})

/** `protocol`: how the model writes its calls, where it writes them as text. */
export function compileSystem(prompt: SystemPrompt, protocol = ''): Compiled {
  const given = typeof prompt === 'string' ? { role: prompt } : prompt
  const output_protocol = [given.output_protocol ?? '', protocol].filter((text) => text !== '').join('\n\n')
  const all = { ...given, output_protocol }
  return compile(
    SYSTEM_ORDER.map((name) => wholeSection(name, all[name] ?? '')),
    null,
  )
}
