/**
 * The intent lock: asks a model which outward calls the task needs, and shows the model only the owner's messages. The
 * model is asked when the answer first matters, and again only after a new message of the owner.
 * Must not know: which calls are allowed, see policy/policy-rule.ts.
 * Invariants: the request contains no outside content, so outside content cannot extend the intent.
 */

import { z } from 'zod'
import type { Call } from '../../domain/decision.ts'
import { asTirelessError, TirelessError } from '../../domain/error.ts'
import type { ToolNeed } from '../../domain/intent.ts'
import type { ModelAnswer } from '../../domain/journal-record.ts'
import { costOf, MICROS_PER_USD } from '../../domain/money.ts'
import { findMentions } from '../../policy/owner-mentions.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { loadPrompt } from '../../prompts/load-prompt.ts'
import { callWithinBudget, spenderOf } from '../request/budget-reservation.ts'
import { callableTools } from '../request/toolbox.ts'
import { appendRecord, flushRecords, type Run } from '../run.ts'
import { listOwnerTexts } from '../session/provenance.ts'

/**
 * Contract: whether the recorded intent covers the call; undefined if no intent is recorded for the owner's latest
 * messages.
 */
export function isIntended(
  { thread }: Run,
  { tool, effect }: Call,
  destinations: readonly string[],
): boolean | undefined {
  const { intent } = thread
  if (!intent || intent.words !== listOwnerTexts(thread).length) return undefined
  return intent.needs.some(
    (need) =>
      need.tool === tool &&
      need.method?.toLowerCase() === effect.method?.toLowerCase() &&
      (need.to === undefined || goesTo(need.to, destinations)),
  )
}

/**
 * Whether all destinations of a call are among the places that the intent names. False for a call without destinations.
 */
function goesTo(places: readonly string[], destinations: readonly string[]): boolean {
  const needed = findMentions(places)
  return destinations.length > 0 && destinations.every((one) => needed.mentions(one))
}

/** Contract: records the intent before it resolves. If the model call fails, nothing is recorded. */
export async function determineIntent(run: Run, turn: number): Promise<void> {
  const { engine, model, thread, toolbox } = run
  const ownerTexts = listOwnerTexts(thread)
  // Book the cost of earlier answers before more money is reserved.
  await flushRecords(run, [])
  const request = {
    system: loadPrompt('system/intent.md'),
    tools: [],
    messages: [{ role: 'user', text: buildQuestion(ownerTexts, toolbox) } as const],
  }
  try {
    const id = `${run.dispatch.dispatch_id}-intent-${thread.head}`
    const withGrace = (call: () => Promise<ModelAnswer>): Promise<ModelAnswer> => run.grace.race(call, abortedInIntent)
    const answer = await callWithinBudget(engine, {
      ...{ model, request, signal: run.signal, spender: spenderOf(run), id, withGrace },
    })
    const usd = model.price ? costOf(model.price, answer.usage) / MICROS_PER_USD : undefined
    appendRecord(run, {
      kind: 'intent_fixed',
      turn,
      needs: parseNeeds(answer.text, toolbox),
      words: ownerTexts.length,
      usage: answer.usage,
      ...(usd === undefined ? {} : { usd }),
    })
  } catch (thrown) {
    if (run.signal.aborted) throw asTirelessError(thrown)
  }
}

function abortedInIntent(): never {
  throw new TirelessError('aborted', 'the run was interrupted while its intent was determined')
}

function buildQuestion(ownerTexts: readonly string[], toolbox: ReadonlyMap<string, AnyTool>): string {
  const tools = callableTools(toolbox).filter(reachesOthers)
  const lines = tools.map(
    ({ name, description, foreign }) =>
      `- ${name}: ${foreign ? serverToolDescription() : description.split('\n', 1)[0]}`,
  )
  return loadPrompt('requests/intent.md#question', { task: ownerTexts.join('\n\n'), tools: lines.join('\n') })
}

/** Shown instead of the description of a server tool, because such descriptions are outside content. */
const serverToolDescription = (): string => loadPrompt('requests/intent.md#server_tool')

/**
 * Whether a tool may send data out: it declares destinations, does not declare the label of its results, or belongs to
 * a server.
 */
const reachesOthers = ({ destinations, gives, lazy }: AnyTool): boolean =>
  destinations !== undefined || gives === undefined || (lazy ?? false)

const answerShape = z.array(
  z.object({ tool: z.string(), method: z.string().optional(), to: z.array(z.string()).optional() }),
)

/** An unreadable answer means that no tool is needed, so every outward call needs approval. */
function parseNeeds(text: string, toolbox: ReadonlyMap<string, AnyTool>): readonly ToolNeed[] {
  const [json = ''] = /\[[\s\S]*\]/.exec(text) ?? []
  try {
    return answerShape
      .parse(JSON.parse(json))
      .filter(({ tool }) => toolbox.get(tool) !== undefined)
      .map(({ tool, method, to = [] }) => ({
        tool,
        ...(method !== undefined && { method }),
        ...(to.length > 0 && { to }),
      }))
  } catch {
    return []
  }
}
