/**
 * The intent lock: what the owner's words need of tools that reach others, asked of a model that is shown those words and nothing else. Asked when
 * it first matters, once; again only when the owner has said something new.
 * Must not know: what is allowed. That is policy/rule.ts.
 * Invariants: nothing that came from outside is in that request, so nothing from outside can widen what comes of it.
 */

import { z } from 'zod'
import type { Call } from '../domain/decision.ts'
import { asTirelessError, TirelessError } from '../domain/error.ts'
import type { Need } from '../domain/intent.ts'
import { costOf, MICROS } from '../domain/money.ts'
import type { Answer } from '../domain/record.ts'
import { mentionsIn } from '../policy/words.ts'
import type { AnyTool } from '../ports/tool.ts'
import { ownWords } from './heard.ts'
import { paidCall, spenderOf } from './money.ts'
import { flush, type Run, record } from './run.ts'
import { reachableIn } from './toolbox.ts'

/** Contract: whether such a call is among what the owner's words need; undefined where nobody was asked yet. */
export function isIntended(
  { thread }: Run,
  { tool, effect }: Call,
  destinations: readonly string[],
): boolean | undefined {
  const { intent } = thread
  if (!intent || intent.words !== ownWords(thread).length) return undefined
  return intent.needs.some(
    (need) =>
      need.tool === tool &&
      need.method?.toLowerCase() === effect.method?.toLowerCase() &&
      (need.to === undefined || goesTo(need.to, destinations)),
  )
}

/** What says nowhere where it goes is not what the words need for a place. */
function goesTo(places: readonly string[], destinations: readonly string[]): boolean {
  const needed = mentionsIn(places)
  return destinations.length > 0 && destinations.every((one) => needed.names(one))
}

/** Contract: on record when this resolves. A model that cannot be asked, or says what is no answer, has fixed nothing. */
export async function fixIntent(run: Run, turn: number): Promise<void> {
  const { engine, model, thread, toolbox } = run
  const words = ownWords(thread)
  // What was answered so far is booked before anything more is set aside.
  await flush(run, [])
  const request = { system: SYSTEM, tools: [], messages: [{ role: 'user', text: question(words, toolbox) } as const] }
  try {
    const id = `${run.dispatch.dispatch_id}-intent-${thread.head}`
    const waited = (call: () => Promise<Answer>): Promise<Answer> => run.leaving.or(call, leftBehind)
    const answer = await paidCall(engine, model, request, run.signal, spenderOf(run), id, waited)
    const usd = model.price ? costOf(model.price, answer.usage) / MICROS : undefined
    record(run, {
      kind: 'intent_fixed',
      turn,
      needs: needsIn(answer.text, toolbox),
      words: words.length,
      usage: answer.usage,
      ...(usd === undefined ? {} : { usd }),
    })
  } catch (thrown) {
    if (run.signal.aborted) throw asTirelessError(thrown)
  }
}

function leftBehind(): never {
  throw new TirelessError('aborted', 'the run was interrupted while its intent was asked for')
}

const SYSTEM = `You decide, before anything else is read, what a task needs. You see the task in its owner's own words, and tools that reach other people or places.
Answer with JSON only: a list of the tools that the task itself asks to be used, like [{"tool": "send_mail", "to": ["ann@example.org"]}].
"to": where it has to go, as written in the task; leave it out where the task leaves that open. "method": with fetch POST, PUT, PATCH or DELETE, with browser click, type or select, with git push, with bash network; leave it out otherwise. Nothing that the task does not ask for. An empty list is a good answer.`

function question(words: readonly string[], toolbox: ReadonlyMap<string, AnyTool>): string {
  const tools = reachableIn(toolbox).filter(reachesOthers)
  const lines = tools.map(
    ({ name, description, foreign }) => `- ${name}: ${foreign ? OF_A_SERVER : description.split('\n', 1)[0]}`,
  )
  return `The task:\n${words.join('\n\n')}\n\nTools:\n${lines.join('\n')}`
}

/** What servers say of their tools is from outside. */
const OF_A_SERVER = 'a tool of a server, which does what its name says'

/** One that says nothing of where it goes, or what it gives, may do anything; those of servers are mostly there to reach others. */
const reachesOthers = ({ destinations, gives, lazy }: AnyTool): boolean =>
  destinations !== undefined || gives === undefined || (lazy ?? false)

const answerShape = z.array(
  z.object({ tool: z.string(), method: z.string().optional(), to: z.array(z.string()).optional() }),
)

/** Unreadable: nothing is needed, so that everything is asked for. */
function needsIn(text: string, toolbox: ReadonlyMap<string, AnyTool>): readonly Need[] {
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
