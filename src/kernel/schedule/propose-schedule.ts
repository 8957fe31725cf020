/**
 * Asks a model when a sentence says that something is to run. The answer is only a proposal: it is checked here, and
 * the owner confirms it.
 * Must not know: what is done with the proposal.
 */

import { z } from 'zod'
import { parseDuration } from '../../domain/duration.ts'
import { parseJson } from '../../domain/json.ts'
import type { ScheduleSpec } from '../../domain/schedule.ts'
import type { ModelRequest } from '../../ports/model.ts'
import { fenceUntrusted, nonceOf } from '../../prompt-compiler/data-fence.ts'
import { loadPrompt } from '../../prompts/load-prompt.ts'
import { parseSchedule } from './schedule.ts'
import { wallTime } from './time-zone.ts'

const answerShape = z.union([
  z.strictObject({ cron: z.string() }),
  z.strictObject({ every: z.string() }),
  z.strictObject({ at: z.string() }),
])

interface ScheduleQuestion {
  readonly sentence: string
  readonly now: number
  readonly timezone: string
  /** Identifies the call in the budget. */
  readonly id: string
}

/** Sends one request within the budget and returns the text of the answer. */
type AskModel = (request: ModelRequest) => Promise<string>

/** Contract: undefined if the model names no valid schedule with a beat in the future; throws what `ask` throws. */
export async function proposeSchedule(
  { sentence, now, timezone, id }: ScheduleQuestion,
  ask: AskModel,
): Promise<ScheduleSpec | undefined> {
  const text = loadPrompt('requests/schedule.md', {
    now: wallTime(now, timezone),
    sentence: fenceUntrusted('SENTENCE', sentence, nonceOf(id, 'SENTENCE')),
  })
  const answer = await ask({ system: '', messages: [{ role: 'user', text }], tools: [] })
  const spec = readSpec(answer)
  return spec !== undefined && hasBeat(spec, timezone, now) ? spec : undefined
}

function readSpec(answer: string): ScheduleSpec | undefined {
  const [json = ''] = /\{[^{}]*\}/.exec(answer) ?? []
  const { success, data } = answerShape.safeParse(parseJson(json))
  if (!success) return undefined
  if ('cron' in data) return data.cron
  if ('at' in data) return { at: data.at }
  const every = parseDuration(data.every)
  return every === undefined ? undefined : { every }
}

function hasBeat(spec: ScheduleSpec, timezone: string, now: number): boolean {
  try {
    return parseSchedule(spec, timezone).next(now) !== undefined
  } catch {
    return false
  }
}
