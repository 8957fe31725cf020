/** Time line of a run's steps and phases. */

import { duration } from '../format.ts'
import type { RunView, Span, StepView } from '../run-view.ts'
import type { ViewContext } from '../view-context.ts'

/** Number of steps shown; earlier ones are only counted. */
const MAX_STEPS = 8

const COLOURS: Readonly<Record<string, string>> = {
  OBSERVE: 'bg-other',
  DECIDE: 'bg-decide',
  ACT: 'bg-act',
  CRITIC: 'bg-wait',
}

const STEP_CLASSES = [
  'grid grid-cols-[1.25rem_minmax(0,1fr)_4.5rem] items-center gap-x-3',
  'sm:grid-cols-[1.25rem_minmax(0,10rem)_minmax(0,1fr)_4.5rem]',
].join(' ')

const TRACK_CLASSES = [
  'relative col-span-3 col-start-1 row-start-2 h-2 overflow-hidden rounded-full bg-sunken',
  'sm:col-span-1 sm:col-start-3 sm:row-start-1',
].join(' ')

const BAR_CLASSES = [
  'absolute inset-y-0 min-w-[2px]',
  'motion-safe:transition-[left,width] motion-safe:duration-500 motion-safe:ease-linear',
].join(' ')

export function Waterfall({ context, run }: { readonly context: ViewContext; readonly run: RunView }) {
  const { texts, language, now } = context
  const visible = run.steps.slice(-MAX_STEPS)
  const [first] = visible
  if (!first) return null
  const end = run.to ?? now
  const total = Math.max(1, end - first.from)
  const hidden = run.steps.length - visible.length
  return (
    <ol class="mt-3 flex flex-col gap-1.5">
      {hidden > 0 && <li class="label">{texts.earlier(hidden)}</li>}
      {visible.map((step) => {
        const to = step.spans.at(-1)?.to ?? end
        return (
          <li key={step.id} data-step={step.id} class={STEP_CLASSES}>
            <span class="label figures text-right">{step.id}</span>
            <span class="truncate font-mono text-[13px]">{labelOf(step, context)}</span>
            <span aria-hidden="true" class={TRACK_CLASSES}>
              {step.spans.map((span) => (
                <Bar key={`${span.phase} ${span.from}`} span={span} from={first.from} total={total} end={end} />
              ))}
            </span>
            <span class="label figures text-right">{duration(to - step.from, language)}</span>
          </li>
        )
      })}
    </ol>
  )
}

/** Colours of the phases. */
export function Legend({ context: { texts } }: { readonly context: ViewContext }) {
  return (
    <span class="flex gap-4" aria-hidden="true">
      {['DECIDE', 'ACT'].map((phase) => (
        <span key={phase} class="flex items-center gap-1.5">
          <span class={`h-2 w-3 rounded-sm ${COLOURS[phase]}`} />
          {texts.phases[phase]}
        </span>
      ))}
    </span>
  )
}

interface BarProps {
  readonly span: Span
  readonly from: number
  readonly total: number
  readonly end: number
}

function Bar({ span, from, total, end }: BarProps) {
  const left = ((span.from - from) / total) * 100
  const width = (((span.to ?? end) - span.from) / total) * 100
  return (
    <span
      class={`${BAR_CLASSES} ${COLOURS[span.phase] ?? 'bg-other'} ${span.to === null ? 'pulsing' : ''}`}
      style={{ left: `${left}%`, width: `${Math.max(0, width)}%` }}
    />
  )
}

/** The step's tools, else its decision, else its phase. */
function labelOf({ calls, decision, spans }: StepView, { texts }: ViewContext): string {
  const tools = calls.map(({ tool }) => tool)
  if (tools.length > 0) return tools.join(', ')
  const phase = spans.at(-1)?.phase ?? ''
  return decision === null ? (texts.phases[phase] ?? phase) : (texts.decisions[decision] ?? decision)
}
