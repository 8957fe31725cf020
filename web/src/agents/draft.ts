/** What the owner has written into the form of an agent, and what of it is new. Pure. */

import type { CommandInput } from '../../../src/commands/lib/registry.ts'
import type { AgentDetails } from '../api-types.ts'

/** Every value as the form holds it; an empty text means the default. */
export interface AgentDraft {
  readonly prompt: string
  readonly schedule: string
  /** `all`, or names separated by commas. */
  readonly tools: string
  readonly model: string
  readonly workspace: string
  readonly priority: string
  readonly timeout: string
  readonly cooldown: string
  readonly description: string
  readonly enabled: boolean
  readonly role: string
  readonly self: string
}

export type FieldName = keyof AgentDraft

const FIELD_NAMES = [
  ...(['prompt', 'schedule', 'enabled', 'tools', 'model', 'workspace', 'priority', 'timeout', 'cooldown'] as const),
  ...(['description', 'role', 'self'] as const),
] as const satisfies readonly FieldName[]

export type AgentChange = Omit<CommandInput<'agent edit'>, 'id'>

export const draftOf = (agent: AgentDetails): AgentDraft => ({
  prompt: agent.prompt,
  schedule: agent.schedule_option,
  tools: agent.tools === null ? 'all' : agent.tools.join(','),
  model: agent.model ?? '',
  workspace: agent.workspace ?? '',
  priority: String(agent.priority),
  timeout: agent.timeout === 'default' ? '' : agent.timeout,
  cooldown: agent.cooldown,
  description: agent.description ?? '',
  enabled: agent.enabled,
  role: agent.role ?? '',
  self: agent.self ?? '',
})

/** Contract: the fields that differ. */
export const changedFields = (draft: AgentDraft, base: AgentDraft): readonly FieldName[] =>
  FIELD_NAMES.filter((name) => draft[name] !== base[name])

/** Contract: a field as `agent edit` takes it. */
export function changeOf(draft: AgentDraft, name: FieldName): AgentChange {
  if (name === 'enabled') return { enabled: draft.enabled }
  if (name === 'priority') return { priority: Number(draft.priority) }
  const text = draft[name]
  return { [name]: text.trim() === '' ? (EMPTY[name] ?? text) : text }
}

/** What an empty field means. */
const EMPTY: Readonly<Partial<Record<FieldName, string>>> = {
  ...{ tools: 'none', model: 'none', workspace: 'none', description: 'none', timeout: 'default', cooldown: '0s' },
}

/** Contract: whether a field is wrong whatever the server thinks of it. */
export function isPlainlyWrong(draft: AgentDraft, name: FieldName): boolean {
  if (name === 'priority') return !/^\s*-?\d{1,9}\s*$/.test(draft.priority)
  return (name === 'prompt' || name === 'schedule') && draft[name].trim() === ''
}

/** Contract: mine where I changed something, theirs everywhere else. */
export function mergeDrafts(mine: AgentDraft, base: AgentDraft, theirs: AgentDraft): AgentDraft {
  const kept = changedFields(mine, base).map((name) => [name, mine[name]])
  return { ...theirs, ...Object.fromEntries(kept) }
}
