/** One step of two runs: what each did, beside the other. */

import type { CommandOutput } from '../../../src/commands/lib/registry.ts'
import { count, duration, jsonLine, money, visibleText } from '../format.ts'
import type { RunsContext } from './runs-context.ts'
import { LongText, Pill } from './step-parts.tsx'
import type { RunStep } from './steps.ts'

export type Divergence = NonNullable<CommandOutput<'compare'>['first_divergence']>

interface ComparedStepProps {
  readonly context: RunsContext
  readonly index: number
  readonly a: RunStep | undefined
  readonly b: RunStep | undefined
  /** Set for the step with the first difference. */
  readonly difference: Divergence | undefined
}

export function ComparedStep({ context, index, a, b, difference }: ComparedStepProps) {
  const { own } = context
  const mark = difference ? 'border-l-4 border-l-wait bg-sunken' : 'border-l-4 border-l-transparent'
  return (
    <div class={`${index === 0 ? '' : 'border-t border-line'} ${mark} px-3 py-2.5`} data-compared={index + 1}>
      <p class="mb-1 flex items-center gap-2">
        <span class="label figures">{own.step(index + 1)}</span>
        {difference && <Pill tone="text-wait">{own.different}</Pill>}
      </p>
      <div class="grid gap-x-5 gap-y-3 sm:grid-cols-2">
        <Side context={context} step={a} value={difference?.a} name={own.runA} />
        <Side context={context} step={b} value={difference?.b} name={own.runB} />
      </div>
    </div>
  )
}

interface SideProps {
  readonly context: RunsContext
  readonly step: RunStep | undefined
  /** What this run did at the first difference. */
  readonly value: unknown
  readonly name: string
}

const MAX_LINE = 300

function Side({ context, step, value, name }: SideProps) {
  const { own, language, now } = context
  if (!step)
    return (
      <div class="min-w-0 text-muted" data-side="none">
        {own.noSuchStep}
      </div>
    )
  const { calls, text, decision, fault, input, output, usd, from, to } = step
  return (
    <div class="min-w-0" data-side={decision ?? ''}>
      <p class="label figures flex flex-wrap gap-x-3">
        <span class="sm:hidden">{name}</span>
        <span>{decision === null ? own.noDecision : (own.decisions[decision] ?? decision)}</span>
        {input + output > 0 && <span>{own.tokens(count(input + output, language))}</span>}
        {usd !== null && <span>{money(usd, language)}</span>}
        <span>{duration((to ?? now) - from, language)}</span>
      </p>
      {calls.map((call, at) => (
        <p key={at} class="line-clamp-2 font-mono text-[13px] wrap-anywhere">
          <span class="text-act">{visibleText(call.tool)}</span>{' '}
          <span class="text-muted">{visibleText(jsonLine(call.args).slice(0, MAX_LINE))}</span>
        </p>
      ))}
      {text !== '' && <p class="line-clamp-3 wrap-anywhere">{visibleText(text.slice(0, 2 * MAX_LINE))}</p>}
      {fault !== null && <p class="line-clamp-3 wrap-anywhere text-fault">{visibleText(fault)}</p>}
      {value !== undefined && <LongText text={JSON.stringify(value, null, 2)} />}
    </div>
  )
}
