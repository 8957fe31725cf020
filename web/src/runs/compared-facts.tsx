/** What two runs used and how they ended, side by side. */

import type { ComponentChild } from 'preact'
import { count, duration, money, visibleText } from '../format.ts'
import { type RunsContext, runAddress } from './runs-context.ts'
import { isEnded, type RunTrace } from './use-trace.ts'

interface ComparedFactsProps {
  readonly context: RunsContext
  readonly a: RunTrace
  readonly b: RunTrace
}

export function ComparedFacts({ context, a, b }: ComparedFactsProps) {
  const { own } = context
  const [one, other] = [factsOf(a, context), factsOf(b, context)]
  return (
    <table class="w-full table-fixed border-collapse text-left">
      <thead>
        <tr class="border-b border-line">
          <td class="w-24 sm:w-36" />
          <th class="py-1.5 pr-3 font-medium">{own.runA}</th>
          <th class="py-1.5 font-medium">{own.runB}</th>
        </tr>
      </thead>
      <tbody>
        {one.map(([label, value], at) => {
          const second = other[at]?.[1]
          const isDifferent = typeof value === 'string' && value !== second
          return (
            <tr key={label} class="border-b border-line align-top">
              <th class="label py-1.5 pr-3 font-normal">{label}</th>
              <td class={`figures py-1.5 pr-3 wrap-anywhere ${isDifferent ? 'font-medium' : 'text-muted'}`}>{value}</td>
              <td class={`figures py-1.5 wrap-anywhere ${isDifferent ? 'font-medium' : 'text-muted'}`}>{second}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

type FactRow = readonly [label: string, value: ComponentChild]

function factsOf({ dispatch, manifest, events }: RunTrace, context: RunsContext): readonly FactRow[] {
  const { own, texts, language, now } = context
  const { labels } = own
  const usage = manifest?.usage
  const from = Date.parse(manifest?.started_at ?? dispatch.created_at)
  const to = isEnded(dispatch) ? Date.parse(dispatch.updated_at) : now
  const link = (
    <a class="font-mono text-[12px] text-link underline underline-offset-2" href={runAddress(dispatch.dispatch_id)}>
      {dispatch.dispatch_id}
    </a>
  )
  return [
    [labels.id, link],
    [own.status, texts.statuses[dispatch.status] ?? dispatch.status],
    [labels.agent, visibleText(dispatch.agent_id)],
    [labels.model, manifest?.setup?.model ?? '–'],
    [labels.steps, count(events.at(-1)?.step_id ?? 0, language)],
    [
      labels.tokens,
      usage ? own.tokensInOut(count(usage.input_tokens, language), count(usage.output_tokens, language)) : '–',
    ],
    [labels.cost, manifest?.cost_usd == null ? own.unknownCost : money(manifest.cost_usd, language)],
    [labels.duration, duration(to - from, language)],
  ]
}
