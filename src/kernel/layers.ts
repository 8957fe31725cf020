/**
 * The layers of an unattended dispatch's prompt: the agent's own, with its placeholders filled in, and what every one of them has to do. The
 * founder's directive is no part of it: that is the last section of the system prompt, see behaviours/unattended.ts.
 * Must not know: where what is filled in comes from.
 * Invariants: one pass; what is filled in is data, fenced, and nothing in it is filled in again, `{MEMORY}` included.
 */

import { type Language, languageOf, SUMMARY_HEADING } from '../domain/language.ts'
import { CLEAN, isClean, type Label, lowest, UNTRUSTED } from '../domain/trust.ts'
import { iso } from '../ports/clock.ts'
import { fitted } from '../prompt/cut.ts'
import { nonceOf } from '../prompt/data-fence.ts'
import { expandPlaceholders, MEMORY, memoryMark, type Value } from '../prompt/placeholders.ts'

/** What an agent can be told of when it is planned. */
export interface Insertions {
  /** STATE.md, without the runtime's own block. */
  readonly state: string
  readonly goal: string
  readonly recent_results: string
  readonly cycle_history: string
  /** What it watches, and what is new there. */
  readonly watched: string
  /** Epoch ms. */
  readonly now: number
  /** What STATE.md is worth. */
  readonly state_label: Label
}

export interface Layered {
  readonly prompt: string
  /** For the dispatch. */
  readonly metadata: {
    readonly behaviour: 'unattended'
    readonly language: Language
    /** Marks where the run is to be reminded of what its agent knows. */
    readonly memory_mark?: string
    /** What was filled in is worth less than the owner's word. */
    readonly label?: { readonly trust: Label['trust']; readonly private: boolean }
  }
  /** Placeholders that stand for nothing; they stay as they are. */
  readonly unknown: readonly string[]
  /** Placeholders for which there was too much: the beginning of it is there, and how much is not. */
  readonly cut: readonly string[]
}

/** In tokens. A document has no bounds, a prompt does. */
const MOST_OF_ONE = { STATE: 16_000, GOAL: 4_000, RECENT_RESULTS: 4_000, CYCLE_HISTORY: 4_000, WATCHED: 8_000 } as const

/** `seed`: another one for each dispatch, that nobody can have known before; its id, say. */
export function layered(template: string, given: Insertions, seed: string): Layered {
  const language = languageOf(template)
  const mark = nonceOf(seed, MEMORY)
  const cut = new Set<string>()
  const data = (name: keyof typeof MOST_OF_ONE, text: string): Value => {
    const fits = fitted(text.trim() || '(none)', MOST_OF_ONE[name])
    if (fits?.missing !== 0 && template.includes(`{${name}}`)) cut.add(name)
    return { text: fits?.text ?? '', nonce: nonceOf(seed, name) }
  }
  const { text, unknown } = expandPlaceholders(template, {
    STATE: data('STATE', given.state),
    GOAL: data('GOAL', given.goal),
    RECENT_RESULTS: data('RECENT_RESULTS', given.recent_results),
    CYCLE_HISTORY: data('CYCLE_HISTORY', given.cycle_history),
    WATCHED: data('WATCHED', given.watched),
    TIME: { text: iso(given.now), nonce: null },
    [MEMORY]: { text: memoryMark(mark), nonce: null },
  })
  const own = text.trim()
  const label = labelOf(template, given)
  return {
    prompt: asksForSummary(template) ? own : `${own}\n\n${SUMMARY_INSTRUCTION[language](iso(given.now))}`,
    metadata: {
      ...{ behaviour: 'unattended', language },
      ...(own.includes(memoryMark(mark)) ? { memory_mark: mark } : {}),
      ...(isClean(label) ? {} : { label: { ...label } }),
    },
    unknown,
    cut: [...cut],
  }
}

/** What agents have said, and what lies in folders, may be anybody's. */
function labelOf(template: string, { recent_results, cycle_history, watched, state_label }: Insertions): Label {
  const others = { RECENT_RESULTS: recent_results, CYCLE_HISTORY: cycle_history, WATCHED: watched }
  const isIn = (name: string): boolean => template.includes(`{${name}}`)
  const hasOthers = Object.entries(others).some(([name, text]) => isIn(name) && text.trim() !== '')
  return lowest(isIn('STATE') ? state_label : CLEAN, hasOthers ? UNTRUSTED : CLEAN)
}

/** Looked for in the template: what is filled in may well hold the summaries of others. */
const asksForSummary = (template: string): boolean => /#\s*(?:执行总结|execution summary)/i.test(template)

const SUMMARY_INSTRUCTION: Readonly<Record<Language, (time: string) => string>> = {
  en: (time) => `Execution requirements:
- You MUST complete at least one real tool action.
- Do NOT claim completion without the evidence of a tool's result.
- Do NOT use tools that ask (ask_user, request_user, clarify).
- Write files into your workspace: it is authorized and writable, and paths are relative to it.
- It is ${time} now.
- End your answer with "${SUMMARY_HEADING.en}": what was done, what came of it, and the paths of what you made.`,
  zh: (time) => `执行要求：
- 必须完成至少一个真实的工具操作。
- 没有工具结果作为证据，不得声称完成。
- 不得使用询问类工具（ask_user、request_user、clarify）。
- 文件写入你的工作区：该目录已授权，可写，路径相对于工作区。
- 现在是 ${time}。
- 以“${SUMMARY_HEADING.zh}”结尾：做了什么、结果如何、产物的路径。`,
}
