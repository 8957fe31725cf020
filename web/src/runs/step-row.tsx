/** A step in the list: one line with what it did and used; opened, everything about it. */

import { useState } from 'preact/hooks'
import { Button } from '../components.tsx'
import { count, duration, money, visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import { plainLine } from '../plain-line.ts'
import { LiveText, Steps } from '../talk/steps.tsx'
import { ForkDialog } from './fork-dialog.tsx'
import { type RunsContext, runAddress } from './runs-context.ts'
import { StepDetails } from './step-details.tsx'
import { readParked } from './step-words.ts'
import type { RunStep } from './steps.ts'
import type { RunTrace } from './use-trace.ts'

interface StepRowProps {
  readonly context: RunsContext
  readonly page: PageState
  readonly trace: RunTrace
  readonly step: RunStep
  readonly places: ReadonlyMap<number, readonly [number, number]>
  readonly length: number
  /** The time up to which an open step lasts: the clock of a run at work, the recorded time of a replay. */
  readonly until: number
  readonly isOpen: boolean
  /** The step that runs now, or that the replay is at. */
  readonly isCurrent: boolean
  onToggle(): void
}

const LINE_CLASSES = [
  'grid min-h-[51px] w-full cursor-pointer grid-cols-[1.75rem_minmax(0,1fr)_auto] items-baseline gap-x-3',
  'px-4 pt-3 pb-2 text-left hover:bg-sunken focus-visible:-outline-offset-2',
].join(' ')

export function StepRow(props: StepRowProps) {
  const { context, trace, step, isOpen, isCurrent, onToggle } = props
  const what = describeStep(step, context)
  return (
    <div class={step.id === 1 ? '' : 'border-t border-line'} data-step={step.id}>
      <button type="button" class={LINE_CLASSES} aria-expanded={isOpen} onClick={onToggle}>
        <span class="label figures text-right">{step.id}</span>
        <span class="flex min-w-0 items-baseline gap-2">
          <span class={`shrink-0 font-medium ${step.fault === null ? '' : 'text-fault'}`}>{what}</span>
          <span class="min-w-0 truncate text-[13px] text-muted">{summaryOf(step, context)}</span>
        </span>
        <Figures {...props} />
        <Track {...props} />
      </button>
      {isCurrent && !isOpen && <CurrentStep step={step} />}
      {isOpen && (
        <div class="px-4 pb-4 sm:pl-14" data-step-details={step.id}>
          <StepDetails context={context} page={props.page} run={trace.dispatch.dispatch_id} step={step} />
          <StepActions {...props} />
        </div>
      )}
    </div>
  )
}

/** The tools of the step, else its decision. */
function describeStep({ calls, decision, fault }: RunStep, { own, texts }: RunsContext): string {
  const tools = [...new Set(calls.map(({ tool }) => tool))]
  if (tools.length > 0) return visibleText(tools.join(', '))
  if (decision !== null) return own.decisions[decision] ?? decision
  return fault === null ? `${texts.thinking}…` : own.noDecision
}

const MAX_SUMMARY = 200

/** What a call that was held up says is for the model; its state says more to people. */
function summaryOf({ fault, text, calls: [first] }: RunStep, { own }: RunsContext): string {
  const isParked = first?.status === 'parked' || readParked(first?.content ?? '') !== undefined
  const result = isParked ? (own.callStatuses.parked ?? '') : (first?.content ?? '')
  return plainLine(fault ?? (text !== '' ? text : result)).slice(0, MAX_SUMMARY)
}

function Figures({ context, step, until, isOpen }: StepRowProps) {
  const { language, own } = context
  const { input, output, usd } = step
  return (
    <span class="label figures flex items-center gap-3">
      {input + output > 0 && <span class="hidden sm:inline">{own.tokens(count(input + output, language))}</span>}
      {usd !== null && <span class="hidden sm:inline">{money(usd, language)}</span>}
      <span>{duration((step.to ?? Math.max(until, step.from)) - step.from, language)}</span>
      <span class={isOpen ? 'rotate-90' : ''} aria-hidden="true">
        ›
      </span>
    </span>
  )
}

const COLOURS: Readonly<Record<string, string>> = { DECIDE: '--decide', ACT: '--act', CRITIC: '--wait' }

/** Where the step is in the whole run, in the colours of its phases. */
function Track({ step, places, length }: StepRowProps) {
  const [from, to] = places.get(step.id) ?? [0, 0]
  const total = length || 1
  return (
    <span aria-hidden="true" class="relative col-span-2 col-start-2 mt-1.5 h-1 overflow-hidden rounded-full bg-sunken">
      <span
        class="absolute inset-y-0 min-w-1 rounded-full"
        style={{
          left: `${(from / total) * 100}%`,
          width: `${((to - from) / total) * 100}%`,
          background: phasesOf(step),
        }}
      />
    </span>
  )
}

/** Contract: the phases one after the other, as the stops of one gradient: a list of steps has few elements then. */
function phasesOf({ spans, from, to }: RunStep): string {
  const whole = Math.max(1, (to ?? from) - from)
  const stops = spans.map((span) => {
    const place = (at: number): string => `${Math.round(((at - from) / whole) * 100)}%`
    return `var(${COLOURS[span.phase] ?? '--other'}) ${place(span.from)} ${place(span.to ?? span.from)}`
  })
  return stops.length === 0 ? 'var(--other)' : `linear-gradient(to right, ${stops.join(', ')}, var(--other))`
}

/** What happens in the step, while it runs or is replayed. */
function CurrentStep({ step }: { readonly step: RunStep }) {
  const { calls, text, spans } = step
  const run = { ...EMPTY_RUN, steps: [{ ...step, spans: [...spans], calls: [...calls] }] }
  if (text === '' && calls.length === 0) return null
  return (
    <div class="flex min-w-0 flex-col gap-2 px-4 pb-3 sm:pl-14" data-current-step>
      {text !== '' && <LiveText text={text} />}
      <Steps run={run} />
    </div>
  )
}

const EMPTY_RUN = {
  ...{ id: '', agent: '', task: '', isLook: false, saw: '', model: null, from: 0, to: null, seq: 0, answer: '' },
  ...{ reason: '', gap: false, state: 'running' as const },
}

function StepActions({ context, page, trace, step }: StepRowProps) {
  const { own } = context
  const [isForking, setForking] = useState(false)
  const address = runAddress(trace.dispatch.dispatch_id, { step: String(step.id) })
  return (
    <footer class="mt-4 flex flex-wrap items-center gap-3">
      {step.to !== null && <Button onClick={() => setForking(true)}>{own.forkHere}</Button>}
      <a class="label text-link underline underline-offset-2" href={address}>
        {own.link}
      </a>
      {isForking && <ForkDialog {...{ context, page, trace }} step={step.id} onClose={() => setForking(false)} />}
    </footer>
  )
}
