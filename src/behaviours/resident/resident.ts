/**
 * The behaviour of a resident: each look sees what is new since the last one, and comes to `noop`, `say` or `query`,
 * after as many tool calls as it needs. Rules stand before and after the model: the owner's message with missing slots
 * is answered by a query, and a resident that got no answer stops asking. Pure.
 */

import { clipText } from '../../domain/clean-summary.ts'
import type { Json } from '../../domain/json.ts'
import { languageOf } from '../../domain/language.ts'
import type { Observation } from '../../domain/observation.ts'
import {
  notAskedAgain,
  RESIDENT_ACTIONS,
  RESIDENT_BEHAVIOUR,
  type ResidentAction,
  type Slot,
} from '../../domain/resident.ts'
import {
  type AfterBehaviour,
  type Behaviour,
  type BehaviourEnd,
  type CompletedStep,
  defineBehaviour,
  type EnvView,
} from '../../ports/behaviour.ts'
import { fenceUntrusted } from '../../prompt-compiler/data-fence.ts'
import { observationText } from '../../prompt-compiler/turn-messages.ts'
import { loadPrompt, loadPromptParts } from '../../prompts/load-prompt.ts'
import { loadWorkPrompt } from '../solo.ts'
import { residentActionReader } from './action-text.ts'
import { beginLook, endLook, learn, type Mind, mindSchema, missingSlots, type Outcome } from './mind.ts'
import { mindText } from './mind-text.ts'

/** Steps of one look: then it is given up. */
const MAX_STEPS = 20
const MAX_SAW = 300

/** What a look is shown. */
interface LookView {
  readonly [name: string]: Json
  readonly mind: string
  readonly input: string
}

export function residentBehaviour(tools: () => readonly string[]): Behaviour {
  return defineBehaviour<Mind>({
    name: RESIDENT_BEHAVIOUR,
    // A getter, because plugins may add tools until set-up is complete.
    get tools() {
      return [...RESIDENT_ACTIONS, 'learn', ...tools().filter((tool) => !NOT_FOR_RESIDENTS.includes(tool))]
    },
    stepLimit: MAX_STEPS,
    state: { version: 1, schema: mindSchema },
    initState: (_, metadata = {}, previous) => beginLook(metadata.resident, previous ?? metadata.mind),
    buildSystemPrompt: () => ({ ...loadWorkPrompt(), ...loadPromptParts('system/resident.md') }),
    observe: observeLook,
    prepare: (_, view) => [(view as LookView).mind, (view as LookView).input].filter(Boolean).join('\n\n') || '(go on)',
    keepsThought: ({ setup }) => setup.persist_thought,
    readText: residentActionReader,
    reduce: reduceStep,
    shouldStop: ({ look }) => look.outcome !== null,
    next: afterLook,
  })
}

/** A resident ends its looks by its own actions, and never waits: the next look comes by itself. */
const NOT_FOR_RESIDENTS: readonly string[] = ['finish', 'wait', 'ask_user']

function observeLook(mind: Mind, { input, feedback, session, step }: EnvView): LookView {
  const news = input.map((observation) => newsText(observation, session.nonce))
  const heading = input.length === 0 ? [] : [loadPrompt('history/resident.md#news')]
  return {
    mind: step === 1 ? mindText(mind, session.nonce) : '',
    input: [...heading, ...news, ...(feedback === undefined ? [] : [`[feedback] ${feedback}`])].join('\n'),
  }
}

/** What did not come from the owner is fenced: it is data, whatever it says. */
function newsText(observation: Observation, nonce: string): string {
  const text = observationText(observation)
  const isOwners = observation.type === 'user_message' && isClean(observation)
  if (isOwners) return loadPrompt('history/resident.md#message', { text })
  return fenceUntrusted(observation.type === 'user_message' ? 'message' : `event ${observation.name}`, text, nonce)
}

const isClean = ({ label, words }: Observation): boolean =>
  (label === undefined || label.trust === 'trusted') && words === undefined

function reduceStep(before: Mind, { input, decision, results, thought = '' }: CompletedStep): Mind {
  // A look that waited for an approval goes on.
  let mind = hear({ ...before, look: { ...before.look, outcome: null } }, input)
  if (thought !== '' && mind.setup.persist_thought)
    mind = { ...mind, look: { ...mind.look, thought: [mind.look.thought, thought].filter(Boolean).join('\n') } }
  if (decision.kind === 'final') return endLook(mind, settle(mind, { action: 'say', text: decision.answer, why: '' }))
  if (decision.kind !== 'act') return mind
  let ending: Outcome | undefined
  for (const [at, { tool, args }] of decision.calls.entries()) {
    if (results[at]?.status !== 'ok') continue
    if (tool === 'learn') mind = learn(mind, (args as { readonly known: Readonly<Record<string, string>> }).known)
    else if (isAction(tool)) ending ??= outcomeOf(tool, args as Readonly<Record<string, string | undefined>>)
    else mind = { ...mind, look: { ...mind.look, did: [...mind.look.did, tool] } }
  }
  return ending ? endLook(mind, settle(mind, ending)) : mind
}

const isAction = (tool: string): tool is ResidentAction => (RESIDENT_ACTIONS as readonly string[]).includes(tool)

const outcomeOf = (
  action: ResidentAction,
  { text = '', reason = '' }: Readonly<Record<string, string | undefined>>,
) => ({
  ...{ action, text, why: reason },
})

function hear(mind: Mind, input: readonly Observation[]): Mind {
  if (input.length === 0) return mind
  const messages = input.filter((observation) => observation.type === 'user_message' && isClean(observation))
  const saw = input.map((observation) => clipText(observationText(observation), MAX_SAW))
  const [first] = input
  const look = {
    ...mind.look,
    ts: mind.look.ts || (first?.ts ?? 0),
    saw: [...mind.look.saw, ...saw],
    heard: mind.look.heard || messages.length > 0,
    isAnswer: mind.look.isAnswer || (messages.length > 0 && mind.unanswered > 0),
    chinese: messages.length > 0 ? languageOf(messages.map(observationText).join('\n')) === 'zh' : mind.look.chinese,
  }
  return { ...mind, look, unanswered: messages.length > 0 ? 0 : mind.unanswered }
}

/** The rules that stand after the model. */
function settle(mind: Mind, wanted: Outcome): Outcome {
  const missing = missingSlots(mind)
  const { heard, isAnswer, chinese } = mind.look
  const { max_queries: limit } = mind.setup
  // A conclusion before the first query would be a guess; after it, the model may find that it knows enough.
  const isPremature = wanted.action === 'noop' || (wanted.action === 'say' && !isAnswer)
  if (heard && missing.length > 0 && isPremature)
    return { action: 'query', text: questionFor(missing, chinese), why: 'slots are missing' }
  if (wanted.action === 'query' && limit !== null && mind.unanswered >= limit)
    return { action: 'noop', text: '', why: notAskedAgain(mind.unanswered).text }
  return wanted
}

function questionFor(missing: readonly Slot[], chinese: boolean): string {
  const questions = missing.flatMap(({ question }) => question ?? [])
  const names = missing.filter(({ question }) => question === null).map(({ name }) => name)
  const asked =
    names.length === 0 ? [] : [chinese ? `请告诉我：${names.join('、')}。` : `Please tell me: ${names.join(', ')}.`]
  return [...questions, ...asked].join('\n')
}

function afterLook({ look: { outcome } }: Mind, { why }: BehaviourEnd): AfterBehaviour {
  if (outcome) return { kind: 'end', answer: outcome.action === 'noop' ? '' : outcome.text }
  const error = why === 'step_limit' ? `the look came to no action in ${MAX_STEPS} steps` : 'the look came to no action'
  return { kind: 'end', answer: '', error }
}
