/** The calls of a step: exact arguments, what the policy and the owner said, and the whole result. */

import { toneOf } from '../components.tsx'
import { FirstItems } from '../first-items.tsx'
import { clockTime, duration, visibleText } from '../format.ts'
import { Arguments } from '../needs-you/arguments.tsx'
import { translateReason } from '../texts/reasons.ts'
import type { RunsContext } from './runs-context.ts'
import { type FullStep, LongText, Part, Pill } from './step-parts.tsx'
import { readParked } from './step-words.ts'

interface CallsProps {
  readonly context: RunsContext
  readonly step: FullStep
}

type StepCall = FullStep['calls'][number]
/** With what the model or the behaviour asked for, if the call was held back before it started. */
type ShownCall = Omit<StepCall, 'tool'> & { readonly tool: string }

export function Calls({ context, step }: CallsProps) {
  const calls = callsOf(step)
  if (calls.length === 0) return null
  return (
    <Part title={context.own.calls}>
      <FirstItems items={calls} atOnce={20}>
        {(first) => (
          <ol class="flex flex-col gap-3">
            {first.map((call) => (
              <li key={call.index} class="min-w-0 rounded-lg border border-line px-3 py-2.5" data-step-call={call.tool}>
                <CallHead context={context} call={call} />
                <Reasons context={context} step={step} call={call} />
                <div class="mt-2">
                  <Arguments args={parsed(call.args)} label={context.own.arguments} />
                </div>
                {call.result !== null && <Result context={context} content={call.result.content} />}
              </li>
            ))}
          </ol>
        )}
      </FirstItems>
    </Part>
  )
}

/** A call that waits says for what; the words to the model are in the request. */
function Result({ context: { own, language, now }, content }: { context: RunsContext; content: string }) {
  const parked = readParked(content)
  if (content === '') return null
  if (!parked)
    return (
      <div class="mt-2">
        <span class="label">{own.result}</span>
        <LongText text={content} />
      </div>
    )
  const { reason, expires_at } = parked
  return (
    <p class="mt-2 wrap-anywhere text-muted" data-parked>
      {own.neededApproval}
      {reason !== '' && `: ${visibleText(translateReason(reason, language))}`}
      {expires_at !== null && ` · ${own.askedUntil(clockTime(Date.parse(expires_at), now, language))}`}
    </p>
  )
}

function callsOf({ calls, answer, decided }: FullStep): readonly ShownCall[] {
  const asked = decided?.kind === 'act' ? decided.calls : (answer?.calls ?? [])
  const known = new Map(calls.map((call) => [call.index, call]))
  const indexes = new Set([...asked.keys(), ...known.keys()])
  return [...indexes]
    .sort((a, b) => a - b)
    .map((index) => {
      const [call, wanted] = [known.get(index) ?? NOT_STARTED, asked[index]]
      return {
        ...call,
        index,
        tool: call.tool ?? wanted?.tool ?? '',
        args: call.tool === null ? (wanted?.args ?? null) : call.args,
      }
    })
}

const NOT_STARTED: StepCall = {
  ...{ index: 0, tool: null, args: null, effect: null, attempt: 1, approval: null, from: null, to: null },
  ...{ result: null, label: null, outside: false },
}

const TONES = { live: 'text-live', wait: 'text-wait', fault: 'text-fault', other: 'text-muted' } as const

function CallHead({ context: { own, language }, call }: { readonly context: RunsContext; readonly call: ShownCall }) {
  const { tool, effect, result, attempt, from, to, outside, label } = call
  return (
    <p class="flex flex-wrap items-center gap-x-2 gap-y-1">
      <span class="font-mono text-[13px] text-act wrap-anywhere">{visibleText(tool)}</span>
      <Pill tone={TONES[toneOf(result?.status === 'error' ? 'failed' : (result?.status ?? ''))]}>
        {result === null ? own.noResult : (own.callStatuses[result.status] ?? result.status)}
      </Pill>
      {effect && <Pill>{effect.host ?? own.reaches[effect.reach] ?? effect.reach}</Pill>}
      {(outside || label?.trust === 'untrusted') && <Pill tone="text-wait">{own.untrusted}</Pill>}
      {label?.private && <Pill>{own.private}</Pill>}
      {attempt > 1 && <Pill>{own.attempt(attempt)}</Pill>}
      {from !== null && to !== null && <span class="label figures ml-auto">{duration(to - from, language)}</span>}
    </p>
  )
}

/** Why the call was allowed, asked about or refused. */
function Reasons({ context: { own, language }, step, call }: CallsProps & { readonly call: ShownCall }) {
  const rulings = step.rulings.filter(({ index }) => index === call.index)
  const asked = step.approvals.filter(
    ({ tool, args }) => tool === call.tool && JSON.stringify(args) === textOf(call.args),
  )
  if (rulings.length + asked.length === 0) return null
  return (
    <ul class="mt-1 text-[13px] text-muted">
      {rulings.map(({ ruling, reason }) => (
        <li key={ruling + reason} class="wrap-anywhere" data-ruling={ruling}>
          {own.rulings[ruling] ?? ruling}
          {reason !== '' && `: ${visibleText(translateReason(reason, language))}`}
        </li>
      ))}
      {asked.map(({ id, status, answer_reason }) => (
        <li key={id} class="wrap-anywhere" data-approval-status={status}>
          {own.approvals[status] ?? status}
          {answer_reason && `: ${visibleText(answer_reason)}`}
        </li>
      ))}
    </ul>
  )
}

/** Arguments as the model wrote them are text. */
function parsed(args: unknown): unknown {
  if (typeof args !== 'string') return args
  try {
    return JSON.parse(args)
  } catch {
    return args
  }
}

const textOf = (args: unknown): string => JSON.stringify(parsed(args))
