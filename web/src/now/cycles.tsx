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
  const { duration_ms, started_at, agents = [], error, idle_reason } = cycle
  const counts = countTasks(cycle)
  const status = cycle.status === 'success' && counts.open > 0 && counts.succeeded === 0 ? 'open' : cycle.status
  const more = sayCounts(counts, texts) || oneLine(describeStop(idle_reason ?? '', language))
  return (
    <li
      class="grid grid-cols-[auto_minmax(0,1fr)_auto] items-baseline gap-x-3 gap-y-1 px-4 py-2.5"
      data-cycle={cycle.cycle_id}
    >
      <Dot tone={toneOf(status)} />
      <span class="wrap-anywhere">
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

interface Counts {
  /** The cycle's own tasks, and those of earlier cycles that ended in it. */
  readonly total: number
  readonly succeeded: number
  readonly failed: number
  readonly parked: number
  /** They went on when the cycle ended. */
  readonly open: number
}

function countTasks({ dispatched, agents, ...cycle }: Cycle): Counts {
  const total = Math.max(dispatched, agents.length)
  const { succeeded, failed, parked } = cycle
  return { total, succeeded, failed, parked, open: Math.max(0, total - succeeded - failed - parked) }
}

function sayCounts({ total, succeeded, failed, parked, open }: Counts, texts: Texts): string {
  if (total === 0) return ''
  return [
    texts.succeeded(succeeded, total),
    ...(failed > 0 ? [texts.failedCount(failed)] : []),
    ...(parked > 0 ? [texts.waitingCount(parked)] : []),
    ...(open > 0 ? [texts.openCount(open)] : []),
  ].join(' · ')
}
