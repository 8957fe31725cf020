/**
 * What a behaviour shows of its session when it is entered: sections in the order of the file, each within its limit
 * of tokens. The newest entries are kept; a line says how many earlier ones are left out. Pure. Text from outside, and
 * what the agent made of it, is fenced as data.
 */

import type { BehaviourSpec, MemorySection } from '../domain/behaviour-spec.ts'
import type { SessionView } from '../domain/session-view.ts'
import { describeTodoStatus } from '../domain/todo.ts'
import { fenceUntrusted } from '../prompt-compiler/data-fence.ts'
import { estimateTokens } from '../prompt-compiler/tokens.ts'
import { truncateMiddle } from '../prompt-compiler/truncate.ts'
import { loadPrompt } from '../prompts/load-prompt.ts'

export type MemorySource = Pick<SessionView, 'facts' | 'talk' | 'files' | 'worklog' | 'todos' | 'nonce'>

/** Contract: empty without any memory. */
export function memoryText({ memory }: Pick<BehaviourSpec, 'memory'>, source: MemorySource): string {
  const sections = memory.flatMap(({ section, tokens }) => {
    const entries = newestWithin(ENTRIES[section](source), tokens)
    return entries.length === 0 ? [] : [[HEADINGS[section](), ...entries].join('\n')]
  })
  return sections.join('\n\n')
}

const HEADINGS: Readonly<Record<MemorySection, () => string>> = {
  facts: () => loadPrompt('history/behaviour.md#facts'),
  talk: () => loadPrompt('history/behaviour.md#talk'),
  files: () => loadPrompt('history/behaviour.md#files'),
  worklog: () => loadPrompt('history/behaviour.md#worklog'),
  todos: () => loadPrompt('history/behaviour.md#todos'),
}

/** The entries of each section, oldest first. */
const ENTRIES: Readonly<Record<MemorySection, (source: MemorySource) => readonly string[]>> = {
  facts: ({ facts, nonce }) =>
    facts.map(({ text, created_at }) => fenceUntrusted(`remembered ${created_at.slice(0, 10)}`, text, nonce)),
  talk: ({ talk, nonce }) =>
    talk.map(({ from, text }) => (from === 'owner' ? `Owner: ${text}` : fenceUntrusted('your reply', text, nonce))),
  files: ({ files }) => files.map((file) => `- ${oneLine(file)}`),
  worklog: ({ worklog, nonce }) => worklog.map((line) => stepLine(line, nonce)),
  todos: ({ todos }) => todos.map(todoLine),
}

/** The newest entries, in order. An entry that is too long on its own loses its middle. */
function newestWithin(entries: readonly string[], tokens: number): readonly string[] {
  let room = tokens
  const from = entries.findLastIndex((entry) => {
    room -= estimateTokens(entry) + 1
    return room < 0
  })
  if (from < 0) return entries
  const kept = entries.slice(from + 1)
  const shown = kept.length > 0 ? kept : entries.slice(-1).map((entry) => truncateMiddle(entry, tokens))
  const count = entries.length - shown.length
  return count === 0 ? shown : [loadPrompt('history/behaviour.md#left_out', { count }), ...shown]
}

/** One earlier step as data. */
export const stepLine = ({ turn, behaviour, text }: SessionView['worklog'][number], nonce: string): string =>
  fenceUntrusted(`step ${turn}, ${behaviour}`, text, nonce)

export function todoLine(todo: SessionView['todos'][number]): string {
  const { code, title, type, deps, assignee, attempts } = todo
  const details = [
    ...(type === 'Bench' ? ['Bench'] : []),
    ...(deps.length > 0 ? [`after ${deps.join(', ')}`] : []),
    ...(assignee === null ? [] : [`by ${assignee}`]),
    ...(attempts > 0 ? [`failed ${attempts}×`] : []),
  ]
  const more = details.length > 0 ? ` (${details.join('; ')})` : ''
  return `- ${code} [${describeTodoStatus(todo)}] ${oneLine(title)}${more}`
}

/** A line break in a name must not make a second entry. */
const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ')
