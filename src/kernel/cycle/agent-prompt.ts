/**
 * Builds the prompt of an unattended dispatch: the agent's own prompt with its placeholders filled in, then the
 * instructions that every unattended run gets. The directive to work without a person is not part of this
 * prompt; it is at the end of the system prompt, see behaviours/unattended.ts.
 * Must not know: where the inserted texts come from.
 * Invariants: placeholders are expanded in one pass; inserted text is fenced as data, and placeholders in it (also
 * `{MEMORY}`) are not expanded.
 */

import { CLEAN_LABEL, isCleanLabel, type Label, lowestLabel, UNTRUSTED_LABEL } from '../../domain/label.ts'
import { type Language, languageOf, SUMMARY_HEADING } from '../../domain/language.ts'
import { iso } from '../../ports/clock.ts'
import { nonceOf } from '../../prompt-compiler/data-fence.ts'
import {
  expandPlaceholders,
  MEMORY_PLACEHOLDER,
  memoryMark,
  type PlaceholderValue,
} from '../../prompt-compiler/placeholders.ts'
import { truncateEnd } from '../../prompt-compiler/truncate.ts'
import { loadPrompt } from '../../prompts/load-prompt.ts'

/** The values of an agent's placeholders. */
export interface PromptValues {
  /** STATE.md without the runtime block. */
  readonly state: string
  readonly goal: string
  readonly recent_results: string
  readonly cycle_history: string
  /** The contents that the agent watches, with what is new in them. */
  readonly watched: string
  /** The folder that the agent may write. */
  readonly folder: string
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Label of STATE.md. */
  readonly state_label: Label
}

interface AgentPrompt {
  readonly prompt: string
  readonly metadata: {
    readonly behaviour: 'unattended'
    readonly language: Language
    /** Marks where the facts that the agent remembers are inserted when the run starts. */
    readonly memory_mark?: string
    /** Set if an inserted text is untrusted or private. */
    readonly label?: { readonly trust: Label['trust']; readonly private: boolean }
  }
  /** Unknown placeholders in the template; they are left unchanged in the prompt. */
  readonly unknownPlaceholders: readonly string[]
  /** Placeholders whose value was too long; the prompt has its beginning, and a mark that says how much is missing. */
  readonly truncatedPlaceholders: readonly string[]
}

/** Limit of each placeholder's value in tokens: a document may be longer than fits into a prompt. */
const MAX_TOKENS = { STATE: 16_000, GOAL: 4_000, RECENT_RESULTS: 4_000, CYCLE_HISTORY: 4_000, WATCHED: 8_000 } as const

/** `seed`: unpredictable text, unique per dispatch, such as its id; the nonces of the data fences come from it. */
export function buildAgentPrompt(template: string, values: PromptValues, seed: string): AgentPrompt {
  const language = languageOf(template)
  const mark = nonceOf(seed, MEMORY_PLACEHOLDER)
  const cut = new Set<string>()
  const data = (name: keyof typeof MAX_TOKENS, text: string): PlaceholderValue => {
    const fits = truncateEnd(text.trim() || '(none)', MAX_TOKENS[name])
    if (fits?.missing !== 0 && template.includes(`{${name}}`)) cut.add(name)
    return { text: fits?.text ?? '', nonce: nonceOf(seed, name) }
  }
  const { text, unknown } = expandPlaceholders(template, {
    STATE: data('STATE', values.state),
    GOAL: data('GOAL', values.goal),
    RECENT_RESULTS: data('RECENT_RESULTS', values.recent_results),
    CYCLE_HISTORY: data('CYCLE_HISTORY', values.cycle_history),
    WATCHED: data('WATCHED', values.watched),
    TIME: { text: iso(values.now), nonce: null },
    [MEMORY_PLACEHOLDER]: { text: memoryMark(mark), nonce: null },
  })
  const expanded = text.trim()
  const label = labelOf(template, values)
  return {
    prompt: asksForSummary(template) ? expanded : `${expanded}\n\n${executionRequirements(language, values)}`,
    metadata: {
      ...{ behaviour: 'unattended', language },
      ...(expanded.includes(memoryMark(mark)) ? { memory_mark: mark } : {}),
      ...(isCleanLabel(label) ? {} : { label: { ...label } }),
    },
    unknownPlaceholders: unknown,
    truncatedPlaceholders: [...cut],
  }
}

/** The prompt's label: untrusted if it contains results of agents or watched files, which may be text from anyone. */
function labelOf(template: string, { recent_results, cycle_history, watched, state_label }: PromptValues): Label {
  const untrusted = { RECENT_RESULTS: recent_results, CYCLE_HISTORY: cycle_history, WATCHED: watched }
  const isUsed = (name: string): boolean => template.includes(`{${name}}`)
  const hasUntrusted = Object.entries(untrusted).some(([name, text]) => isUsed(name) && text.trim() !== '')
  return lowestLabel(isUsed('STATE') ? state_label : CLEAN_LABEL, hasUntrusted ? UNTRUSTED_LABEL : CLEAN_LABEL)
}

/** Looks at the template only, because inserted texts may contain summaries of other runs. */
const asksForSummary = (template: string): boolean => /#\s*(?:执行总结|execution summary)/i.test(template)

const executionRequirements = (language: Language, { now, folder }: PromptValues): string =>
  loadPrompt(`requests/execution.${language}.md`, { time: iso(now), heading: SUMMARY_HEADING[language], folder })
