/** What a resident is shown of itself at the start of a look: time, goals, slots, memory. Within a budget of tokens. */

import { fenceUntrusted } from '../../prompt-compiler/data-fence.ts'
import { estimateTokens } from '../../prompt-compiler/tokens.ts'
import { loadPrompt } from '../../prompts/load-prompt.ts'
import { type Mind, missingSlots, type PastLook } from './mind.ts'

/** Tokens of the short-term and of the long-term memory. */
const STM_TOKENS = 1500
const LTM_TOKENS = 700

export function mindText(mind: Mind, nonce: string): string {
  const { setup, known, unanswered } = mind
  const missing = missingSlots(mind)
  const data = (label: string, lines: readonly string[]): readonly string[] =>
    lines.length === 0 ? [] : [fenceUntrusted(label, lines.join('\n'), nonce)]
  const isSilenced = setup.max_queries !== null && unanswered >= setup.max_queries
  return [
    loadPrompt('history/resident.md#time', { tick: setup.tick, hz: setup.hz }),
    ...(setup.goals.length === 0
      ? []
      : [[loadPrompt('history/resident.md#goals'), ...setup.goals.map(item)].join('\n')]),
    ...data(
      'known slots',
      Object.entries(known).map(([name, value]) => item(`${name}: ${value}`)),
    ),
    ...(missing.length === 0 ? [] : [[loadPrompt('history/resident.md#missing'), ...missing.map(slotLine)].join('\n')]),
    ...(unanswered === 0 ? [] : [loadPrompt('history/resident.md#unanswered', { count: unanswered })]),
    ...(isSilenced ? [loadPrompt('history/resident.md#conservative')] : []),
    ...data(
      'long-term memory',
      newestWithin(
        mind.ltm.map(({ text }) => text),
        LTM_TOKENS,
      ),
    ),
    ...data('the last looks', newestWithin(mind.stm.map(lookLine), STM_TOKENS)),
  ].join('\n\n')
}

const item = (text: string): string => `- ${text}`

const slotLine = ({ name, question }: Mind['setup']['slots'][number]): string =>
  item(question === null ? name : `${name}: ${question}`)

const lookLine = ({ tick, ts, saw, did, thought }: PastLook): string =>
  [
    `t=${tick} (${new Date(ts).toISOString().slice(0, 16)}Z)`,
    `saw: ${saw}`,
    ...(thought === '' ? [] : [`thought: ${thought}`]),
    `did: ${did}`,
  ].join('\n')

function newestWithin(lines: readonly string[], tokens: number): readonly string[] {
  let room = tokens
  const from = lines.findLastIndex((line) => {
    room -= estimateTokens(line) + 1
    return room < 0
  })
  return lines.slice(from + 1)
}
