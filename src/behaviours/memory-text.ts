/**
 * The first message of a behaviour: what the session has been about, by priority and within limits, then the input.
 * Pure. Text from outside, and what was made of it, is fenced as data.
 */

import type { BehaviourSpec, MemorySection } from '../domain/behaviour-spec.ts'
import type { SessionView } from '../domain/session-view.ts'
import { describeTodoStatus } from '../domain/todo.ts'
import { compileSections } from '../prompt-compiler/compile.ts'
import { fenceUntrusted } from '../prompt-compiler/data-fence.ts'
import { loadPrompt } from '../prompts/load-prompt.ts'

type MemorySource = Pick<SessionView, 'facts' | 'talk' | 'files' | 'worklog' | 'todos' | 'nonce'>

/** With fewer tokens than this, a section is left out. */
const MIN_SECTION_TOKENS = 40
/** Limit of all sections together. */
const MAX_MEMORY_TOKENS = 24_000

/** Contract: empty without any memory. Sections that did not fit are named. */
export function memoryText({ memory }: Pick<BehaviourSpec, 'memory'>, source: MemorySource): string {
  const sections = memory.map(({ section, tokens }, rank) => {
    const body = RENDERERS[section](source)
    const text = body === '' ? '' : `${HEADINGS[section]()}\n${body}`
    return { name: section, text, whole: false, priority: -rank, floor: MIN_SECTION_TOKENS, ceiling: tokens }
  })
  const { text, dropped } = compileSections(sections, MAX_MEMORY_TOKENS)
  if (dropped.length === 0) return text
  const left = loadPrompt('history/behaviour.md#left_out', { sections: dropped.join(', ') })
  return [text, left].filter((part) => part !== '').join('\n\n')
}

const HEADINGS: Readonly<Record<MemorySection, () => string>> = {
  facts: () => loadPrompt('history/behaviour.md#facts'),
  talk: () => loadPrompt('history/behaviour.md#talk'),
  files: () => loadPrompt('history/behaviour.md#files'),
  worklog: () => loadPrompt('history/behaviour.md#worklog'),
  todos: () => loadPrompt('history/behaviour.md#todos'),
}

const RENDERERS: Readonly<Record<MemorySection, (source: MemorySource) => string>> = {
  facts: ({ facts, nonce }) =>
    facts
      .map(({ text, created_at }) => fenceUntrusted(`remembered ${created_at.slice(0, 10)}`, text, nonce))
      .join('\n'),
  talk: ({ talk }) => talk.map(({ from, text }) => `${from === 'owner' ? 'Owner' : 'You'}: ${text}`).join('\n'),
  files: ({ files }) => files.map((file) => `- ${file}`).join('\n'),
  worklog({ worklog, nonce }) {
    const lines = worklog.map(({ turn, behaviour, text }) => `${turn} ${behaviour}: ${text}`)
    return lines.length === 0 ? '' : fenceUntrusted('worklog', lines.join('\n'), nonce)
  },
  todos: ({ todos }) => todos.map(todoLine).join('\n'),
}

export function todoLine(todo: SessionView['todos'][number]): string {
  const { code, title, type, deps, assignee, attempts } = todo
  const details = [
    ...(type === 'Bench' ? ['Bench'] : []),
    ...(deps.length > 0 ? [`after ${deps.join(', ')}`] : []),
    ...(assignee === null ? [] : [`by ${assignee}`]),
    ...(attempts > 0 ? [`failed ${attempts}×`] : []),
  ]
  return `- ${code} [${describeTodoStatus(todo)}] ${title}${details.length > 0 ? ` (${details.join('; ')})` : ''}`
}
