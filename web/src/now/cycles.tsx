/** The last cycles: status, duration, agents. */

import type { Cycle } from '../api-types.ts'
import { Card, Dot, Empty, Section, toneOf } from '../components.tsx'
import { clockTime, duration, oneLine } from '../format.ts'
import { describeStop } from '../texts/reasons.ts'
import type { Texts } from '../texts.ts'
import type { ViewContext } from '../view-context.ts'

const MAX_CYCLES = 6

export function Cycles({ context, cycles }: { readonly context: ViewContext; readonly cycles: readonly Cycle[] }) {
  const { texts } = context
  return (
    <Section title={texts.cycles}>
      <Card>
        {cycles.length === 0 && <Empty>{texts.noCycles}</Empty>}
        <ul class="divide-y divide-line">
          {cycles.slice(0, MAX_CYCLES).map((cycle) => (
            <Row key={cycle.cycle_id} context={context} cycle={cycle} />
          ))}
        </ul>
      </Card>
    </Section>
  )
}

function Row({ context: { texts, language, now }, cycle }: { readonly context: ViewContext; readonly cycle: Cycle }) {
  const { status, duration_ms, started_at, agents = [], error, idle_reason } = cycle
  const more = countsOf(cycle, texts) || oneLine(describeStop(idle_reason ?? '', language))
  return (
    <li
      class="grid grid-cols-[auto_minmax(0,1fr)_auto] items-baseline gap-x-3 gap-y-1 px-4 py-2.5"
      data-cycle={cycle.cycle_id}
    >
      <Dot tone={toneOf(status)} />
      <span class="truncate">
        {texts.cycleStatuses[status] ?? status}
        <span class="figures text-muted">{more && ` · ${more}`}</span>
      </span>
      <span class="label figures">
        {started_at !== undefined && `${clockTime(Date.parse(started_at), now, language)} · `}
        {duration(duration_ms ?? 0, language)}
      </span>
      {agents.length > 0 && (
        <span class="col-span-2 col-start-2 flex flex-wrap gap-x-3 gap-y-1">
          {agents.map(({ agent_id, status: agentStatus }, i) => (
            <span key={`${agent_id} ${i}`} class="label flex items-center gap-1.5">
              <Dot tone={toneOf(agentStatus)} />
              {agent_id}
            </span>
          ))}
        </span>
      )}
      {error !== null && error !== undefined && (
        <span class="col-span-2 col-start-2 line-clamp-2 text-fault">{oneLine(error)}</span>
      )}
    </li>
  )
}

function countsOf({ dispatched, succeeded, failed, parked }: Cycle, texts: Texts): string {
  if (!dispatched) return ''
  return [
    texts.succeeded(succeeded, dispatched),
    ...(failed > 0 ? [texts.failedCount(failed)] : []),
    ...(parked > 0 ? [texts.waitingCount(parked)] : []),
  ].join(' · ')
}
