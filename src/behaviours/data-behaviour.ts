/**
 * Makes a behaviour of its file: labelled sections of the system prompt, memory and input of each step, rules that need
 * no model, and what follows (transitions.ts). A rule's call and its result are shown with the next request.
 */

import { z } from 'zod'
import type { BehaviourSpec } from '../domain/behaviour-spec.ts'
import type { Observation } from '../domain/observation.ts'
import { readRouted } from '../domain/routed.ts'
import type { SessionView } from '../domain/session-view.ts'
import type {
  AfterBehaviour,
  Behaviour,
  BehaviourEnd,
  CompletedStep,
  EnvView,
  ProposedDecision,
} from '../ports/behaviour.ts'
import { defineBehaviour } from '../ports/behaviour.ts'
import { fenceUntrusted } from '../prompt-compiler/data-fence.ts'
import { renderObservation } from '../prompt-compiler/turn-messages.ts'
import { loadPrompt } from '../prompts/load-prompt.ts'
import { type MemorySource, memoryText, stepLine, todoLine } from './memory-text.ts'
import { type RuleStep, ruleFor } from './rules.ts'
import { afterFinished } from './transitions.ts'

const stateSchema = z.strictObject({
  /** Tools that the runtime has called in this behaviour. */
  called: z.array(z.string()),
  /** What the next request has to show: input and results of steps that a rule decided. */
  carried: z.string(),
  /** The reply of a routed message; null until it is routed. */
  routed: z.string().nullable(),
})
type BehaviourState = z.output<typeof stateSchema>

/** What a step of a behaviour sees. */
type StepView = {
  /** What the runtime decides without a model. */
  readonly rule: RuleStep | null
  /** Memory, if the model sees this behaviour for the first time. */
  readonly memory: string
  readonly input: string
  readonly nonce: string
}

export function behaviourFromSpec(spec: BehaviourSpec): Behaviour {
  return defineBehaviour<BehaviourState>({
    name: spec.name,
    tools: spec.tools,
    access: spec.access,
    ...(spec.step_limit === null ? {} : { stepLimit: spec.step_limit }),
    ...(spec.output === 'router' ? {} : { onMessage: 'router' }),
    state: { version: 1, schema: stateSchema },
    initState: () => ({ called: [], carried: '', routed: null }),
    buildSystemPrompt: () => systemPrompt(spec),
    observe: (state, view) => observeStep(spec, state, view),
    decide: (_, observation) => decideByRule(observation as StepView),
    prepare: (state, observation) => requestText(state, observation as StepView),
    reduce: reduceStep,
    // A message that comes meanwhile is left for the next run, which routes it on its own.
    shouldStop: ({ routed }) => routed !== null,
    next: ({ routed }, end) =>
      routed === null
        ? whatFollows(spec, end)
        : { kind: 'end', answer: routed || loadPrompt('results/route.md#passed_on') },
  })
}

function systemPrompt({ process_rules, policy, toolbox, skills, output }: BehaviourSpec) {
  const skillLine = skills.length === 0 ? '' : `Fitting skills: ${skills.join(', ')}.`
  return {
    role: labelled('role', loadPrompt('system/work.md#role')),
    process_rules: labelled('process_rules', process_rules),
    policy: labelled('policy', [loadPrompt('system/work.md#policy'), policy].filter(Boolean).join('\n')),
    toolbox: labelled('toolbox', [toolbox, skillLine].filter(Boolean).join('\n')),
    output_protocol: labelled('output_protocol', OUTPUT_PROTOCOLS[output]()),
  }
}

const OUTPUT_PROTOCOLS: Readonly<Record<BehaviourSpec['output'], () => string>> = {
  behaviour: () => loadPrompt('system/output.md#behaviour'),
  router: () => loadPrompt('system/output.md#router'),
}

const labelled = (name: string, text: string): string => (text === '' ? '' : `<<${name}>>\n${text}`)

function observeStep(spec: BehaviourSpec, state: BehaviourState, view: EnvView): StepView {
  const { session } = view
  const rule = ruleFor(spec.name, session, state, hasMessageAfter(view))
  return {
    rule,
    memory: session.isEntering ? entryText(spec, session) : '',
    // What a rule sees is carried to the first request, which shows todo and last step itself.
    input: inputText(spec, view, rule === null && session.isEntering),
    nonce: session.nonce,
  }
}

/** Whether the owner writes to a run that has begun; the first message of a run is its task. */
const hasMessageAfter = ({ input, session }: EnvView): boolean =>
  session.why !== '' && input.some(({ type }) => type === 'user_message')

function decideByRule({ rule }: StepView): ProposedDecision | undefined {
  if (!rule) return undefined
  if (rule.kind === 'end') return { kind: 'final', answer: rule.answer }
  return { kind: 'act', calls: callsOf(rule) }
}

const callsOf = (rule: Exclude<RuleStep, { kind: 'end' }>) =>
  (rule.kind === 'call' ? [rule] : rule.calls).map(({ tool, args }) => ({ tool, args }))

function entryText(spec: BehaviourSpec, session: SessionView): string {
  const moved =
    session.why === '' ? '' : loadPrompt('history/behaviour.md#moved', { behaviour: spec.name, why: session.why })
  const shown: MemorySource = {
    ...session,
    // In the first behaviour of a run, the engine itself shows the facts.
    facts: session.why === '' ? [] : session.facts,
    // The last step is shown once: in the input, if the template has a place for it.
    worklog: spec.input.includes('{last_step}') ? session.worklog.slice(0, -1) : session.worklog,
  }
  return [memoryText(spec, shown), moved].filter((part) => part !== '').join('\n\n')
}

/** The template with its parts; a line whose parts are all empty is left out. */
function inputText(
  { input: template }: BehaviourSpec,
  { input, feedback, session }: EnvView,
  isFirstRequest: boolean,
): string {
  const current = session.todos.find(({ code }) => code === session.params.todo)
  const parts: Readonly<Record<string, string>> = {
    messages: texts(input, 'user_message', session.nonce),
    events: texts(input, 'system_event', session.nonce),
    todo: current && isFirstRequest ? loadPrompt('history/behaviour.md#current_todo', { todo: todoLine(current) }) : '',
    last_step: isFirstRequest ? lastStepText(session) : '',
    feedback: feedback === undefined ? '' : `[feedback] ${feedback}`,
  }
  return template
    .split('\n')
    .filter(
      (line) => !/\{[a-z_]+\}/.test(line) || [...line.matchAll(/\{([a-z_]+)\}/g)].some(([, name = '']) => parts[name]),
    )
    .map((line) => line.replaceAll(/\{([a-z_]+)\}/g, (_, name: string) => parts[name] ?? ''))
    .join('\n')
    .trim()
}

/** In later steps of the behaviour, the last step is part of the conversation. */
function lastStepText({ worklog, nonce }: SessionView): string {
  const last = worklog.at(-1)
  return last ? loadPrompt('history/behaviour.md#last_step', { step: stepLine(last, nonce) }) : ''
}

const texts = (input: readonly Observation[], type: Observation['type'], nonce: string): string =>
  input
    .filter((observation) => observation.type === type)
    .map((observation) => renderObservation(observation, nonce))
    .join('\n\n')

function requestText({ carried }: BehaviourState, { memory, input }: StepView): string {
  const label = memory === '' || (input === '' && carried === '') ? '' : loadPrompt('history/behaviour.md#input')
  return [memory, label, carried, input].filter((part) => part !== '').join('\n\n') || '(go on)'
}

/** Results of a rule are kept for the next request; a request shows everything that was kept. */
function reduceStep(state: BehaviourState, { observation, results, decision }: CompletedStep): BehaviourState {
  const { rule, input, nonce } = observation as StepView
  const routed = decision.kind === 'act' ? routedReply(results) : null
  if (rule === null || rule.kind === 'end') return { ...state, carried: '', routed: routed ?? state.routed }
  const tools = callsOf(rule).map(({ tool }) => tool)
  const shown = results.map(({ content }, at) => {
    const tool = tools[at] ?? ''
    return loadPrompt('history/behaviour.md#rule_result', { tool, result: fenceUntrusted(tool, content, nonce) })
  })
  const carried = [state.carried, ...shown, input].filter((part) => part !== '').join('\n\n')
  return { ...state, called: [...new Set([...state.called, ...tools])], carried }
}

/** The reply of a successful call of `route`; empty if it gave none. */
function routedReply(results: CompletedStep['results']): string | null {
  const routed = results.map(readRouted).find((found) => found !== undefined)
  return routed ? (routed.reply ?? '') : null
}

function whatFollows(spec: BehaviourSpec, end: BehaviourEnd): AfterBehaviour {
  if (end.why === 'finished') return afterFinished(spec.name, end)
  const why = loadPrompt('retries/behaviour.md#step_limit', { behaviour: spec.name })
  if (spec.fallback === 'end') return { kind: 'end', answer: '', error: why }
  if (spec.fallback === 'self') return { kind: 'wait', reason: why }
  return { kind: 'become', behaviour: spec.fallback, params: end.params, why }
}
