/** The runs that cost most, each with a link to what it did. */

import { Card, Empty, Section } from '../components.tsx'
import { money, relativeTime, visibleText } from '../format.ts'
import type { CostsTexts } from '../texts/costs.ts'
import { sayTitle } from '../texts/errors.ts'
import type { ViewContext } from '../view-context.ts'
import type { Spending } from './plot-data.ts'

interface ExpensiveRunsProps {
  readonly context: ViewContext
  readonly own: CostsTexts
  readonly runs: Spending['runs']
}

export function ExpensiveRuns({ context: { language, now }, own, runs }: ExpensiveRunsProps) {
  return (
    <Section title={own.runs}>
      <Card>
        {runs.length === 0 && <Empty>{own.runsEmpty}</Empty>}
        <ol class="divide-y divide-line">
          {runs.map(({ run_id, agent_id, task, usd, steps, started_at }) => (
            <li key={run_id} data-run={run_id}>
              <a class="block px-4 py-2.5 hover:bg-sunken sm:px-5" href={`/runs/${encodeURIComponent(run_id)}`}>
                <span class="flex items-baseline justify-between gap-3">
                  <span class="min-w-0 truncate font-medium">
                    {task === null ? own.noTask : visibleText(sayTitle(task, language))}
                  </span>
                  <span class="figures shrink-0 font-medium">{money(usd, language)}</span>
                </span>
                <span class="label block wrap-anywhere">
                  {[
                    visibleText(agent_id ?? ''),
                    own.steps(steps),
                    ...(started_at === null ? [] : [relativeTime(Date.parse(started_at), now, language)]),
                  ].join(' · ')}
                </span>
              </a>
            </li>
          ))}
        </ol>
      </Card>
    </Section>
  )
}
