/** Time line of a run's steps and phases. */

import { duration } from '../format.ts'
import type { ShownRun, ShownStep, Span } from '../runs.ts'
import type { Scene } from './now.tsx'

/** Number of steps shown; earlier ones are only counted. */
const MAX_STEPS = 8

const COLOURS: Readonly<Record<string, string>> = {
  OBSERVE: 'bg-other',
  DECIDE: 'bg-decide',
  ACT: 'bg-act',
  CRITIC: 'bg-wait',
}

export function Waterfall({ scene, run }: { readonly scene: Scene; readonly run: ShownRun }) {
  const { words, language, now } = scene
  const shown = run.steps.slice(-MAX_STEPS)
  const [first] = shown
  if (!first) return null
  const end = run.to ?? now
  const total = Math.max(1, end - first.from)
  const hidden = run.steps.length - shown.length
  return (
    <ol class="mt-3 flex flex-col gap-1.5">
      {hidden > 0 && <li class="label">{words.earlier(hidden)}</li>}
      {shown.map((step) => {
        const to = step.spans.at(-1)?.to ?? end
        return (
          <li
            key={step.id}
            data-step={step.id}
            class="grid grid-cols-[1.25rem_minmax(0,1fr)_4.5rem] items-center gap-x-3 sm:grid-cols-[1.25rem_minmax(0,10rem)_minmax(0,1fr)_4.5rem]"
          >
            <span class="label figures text-right">{step.id}</span>
            <span class="truncate font-mono text-[13px]">{labelOf(step, scene)}</span>
            <span
              aria-hidden="true"
              class="relative col-span-3 col-start-1 row-start-2 h-2 overflow-hidden rounded-full bg-sunken sm:col-span-1 sm:col-start-3 sm:row-start-1"
            >
              {step.spans.map((span) => (
                <Bar key={`${span.phase} ${span.from}`} span={span} from={first.from} whole={total} end={end} />
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
export function Legend({ scene: { words } }: { readonly scene: Scene }) {
  return (
    <span class="flex gap-4" aria-hidden="true">
      {['DECIDE', 'ACT'].map((phase) => (
        <span key={phase} class="flex items-center gap-1.5">
          <span class={`h-2 w-3 rounded-sm ${COLOURS[phase]}`} />
          {words.phases[phase]}
        </span>
      ))}
    </span>
  )
}

interface BarProps {
  readonly span: Span
  readonly from: number
  readonly whole: number
  readonly end: number
}

function Bar({ span, from, whole, end }: BarProps) {
  const left = ((span.from - from) / whole) * 100
  const width = (((span.to ?? end) - span.from) / whole) * 100
  const alive = span.to === null ? 'breathing' : ''
  return (
    <span
      class={`absolute inset-y-0 min-w-[2px] motion-safe:transition-[left,width] motion-safe:duration-500 motion-safe:ease-linear ${COLOURS[span.phase] ?? 'bg-other'} ${alive}`}
      style={{ left: `${left}%`, width: `${Math.max(0, width)}%` }}
    />
  )
}

/** The step's tools, else its decision, else its phase. */
function labelOf({ calls, decision, spans }: ShownStep, { words }: Scene): string {
  const tools = calls.map(({ tool }) => tool)
  if (tools.length > 0) return tools.join(', ')
  const phase = spans.at(-1)?.phase ?? ''
  return decision === null ? (words.phases[phase] ?? phase) : (words.decisions[decision] ?? decision)
}
