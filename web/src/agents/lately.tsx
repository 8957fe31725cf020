/** What an agent did lately, when it runs next, and what it cost. */

import type { AgentDetails } from '../api-types.ts'
import { Card, Dot, Empty, Section, toneOf } from '../components.tsx'
import { type Language, money, relativeTime } from '../format.ts'
import { plainLine } from '../plain-line.ts'
import { AGENT_TEXTS } from '../texts/agent.ts'
import { sayTitle } from '../texts/errors.ts'
import { describeStop } from '../texts/reasons.ts'
import type { ViewContext } from '../view-context.ts'
import { NextTimes } from './next-times.tsx'

interface LatelyProps {
  readonly context: ViewContext
  readonly agent: AgentDetails
}

export function LatelyDone({ context: { texts, language, now }, agent: { runs, on_call } }: LatelyProps) {
  const own = AGENT_TEXTS[language]
  return (
    <Section title={own.lately}>
      <Card>
        {runs.length === 0 && <Empty>{on_call ? own.noTasks : own.noRuns}</Empty>}
        <ul class="divide-y divide-line">
          {runs.map(({ dispatch_id, status, created_at, title, outcome, error }) => (
            <li key={dispatch_id}>
              <a class="block px-4 py-2.5 hover:bg-sunken" href={`/runs/${encodeURIComponent(dispatch_id)}`}>
                <span class="flex items-center gap-2">
                  <Dot tone={toneOf(status)} pulsing={status === 'running'} />
                  {texts.statuses[status] ?? status}
                  <span class="label figures ml-auto">{relativeTime(Date.parse(created_at), now, language)}</span>
                </span>
                <span class={`line-clamp-2 wrap-anywhere ${error === null ? 'text-muted' : 'text-fault'}`}>
                  {plainLine(describeStop(error ?? outcome ?? sayTitle(title, language), language))}
                </span>
              </a>
            </li>
          ))}
        </ul>
      </Card>
    </Section>
  )
}

interface TimesProps {
  readonly context: ViewContext
  readonly agent: AgentDetails
}

export function Times({ context, agent }: TimesProps) {
  const { language } = context
  const own = AGENT_TEXTS[language]
  const { next, timezone, only_on_change, enabled, on_call } = agent
  return (
    <Section title={own.when}>
      <Card class="flex flex-col gap-2 px-4 py-3">
        <p class="font-medium wrap-anywhere first-letter:uppercase">{language === 'zh' ? agent.when_zh : agent.when}</p>
        {enabled && only_on_change && <p class="text-muted">{own.onlyOnChange}</p>}
        {next.length > 0 && <NextTimes context={context} times={next} zone={timezone} />}
        {next.length === 0 && !only_on_change && !on_call && <p class="text-muted">{own.noTimes}</p>}
      </Card>
    </Section>
  )
}

interface CostProps {
  readonly language: Language
  readonly agent: AgentDetails
}

export function CostOfWeek({ language, agent: { cost_days, usd_week, usd_per_run } }: CostProps) {
  const own = AGENT_TEXTS[language]
  const most = Math.max(...cost_days.map(({ usd }) => usd))
  return (
    <Section title={own.cost}>
      <Card class="flex flex-col gap-2 px-4 py-3">
        <p class="figures">{own.week(money(usd_week, language))}</p>
        {most > 0 && (
          <ol class="flex h-14 items-end gap-1" data-cost-days>
            {cost_days.map(({ day, usd }) => (
              <li
                key={day}
                class="flex h-full min-w-0 flex-1 flex-col justify-end"
                title={own.dayCost(day, money(usd, language))}
              >
                <span
                  class={`block min-h-px rounded-sm ${usd > 0 ? 'bg-decide' : 'bg-line'}`}
                  style={{ height: `${(usd / most) * 100}%` }}
                />
                <span class="sr-only">{own.dayCost(day, money(usd, language))}</span>
              </li>
            ))}
          </ol>
        )}
        {usd_per_run !== null && usd_per_run > 0 && (
          <p class="label figures">{own.forecast(money(usd_per_run, language))}</p>
        )}
      </Card>
    </Section>
  )
}
