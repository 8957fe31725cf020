/** An agent as commands show it: when it runs, on which model, what came of it last, what it cost. */

import { z } from 'zod'
import { isOnCall } from '../../domain/agent.ts'
import { addDays } from '../../domain/day.ts'
import { DISPATCH_STATUSES } from '../../domain/dispatch.ts'
import { TirelessError } from '../../domain/error.ts'
import { MICROS_PER_USD, type Spend } from '../../domain/money.ts'
import { nextDueForAgent } from '../../kernel/schedule/beat-timing.ts'
import { localZone } from '../../kernel/schedule/time-zone.ts'
import { iso } from '../../ports/clock.ts'
import type { DefinedAgent } from './agent-directory.ts'
import { sayWhatFor, sayWhen } from './agent-words.ts'
import type { Needs } from './context.ts'

/** Today and the six days before it. */
const DAYS_OF_COST = 7

const scheduleShape = z.union([z.string(), z.object({ every: z.number() }), z.object({ at: z.string() })]).nullable()

export const agentShape = z.object({
  agent_id: z.string(),
  enabled: z.boolean(),
  on_call: z.boolean().describe('runs only when it is written to or given a task'),
  schedule: scheduleShape,
  priority: z.number(),
  source: z.string().describe('file that defines the agent'),
  only_on_change: z.boolean().describe('runs only if something that it sees changes'),
  last_status: z.enum(DISPATCH_STATUSES).nullable(),
  last_run_at: z.string().nullable(),
  last_run_id: z.string().nullable(),
  last_error: z.string().nullable(),
  next_at: z.string().nullable(),
  prompt: z.string(),
  does: z.string().describe('what it is for, in one line'),
  when: z.string().describe('when it runs, in words'),
  when_zh: z.string().describe('the same in Chinese'),
  timezone: z.string().describe('of its schedule'),
  uses_model: z.string().describe('the model of its next run'),
  usd_week: z.number().describe('what it cost in the last seven days'),
})

type AgentEntry = z.input<typeof agentShape>

export const DESCRIBE_NEEDS = [
  ...(['agentDirectory', 'budgetLimits', 'clock', 'kernel', 'kernelId', 'models', 'settings', 'store'] as const),
] as const

export type DescribeNeeds = Needs<(typeof DESCRIBE_NEEDS)[number]>

export async function describeAgent(
  context: DescribeNeeds,
  id: string,
  spend: readonly Spend[] | undefined = undefined,
): Promise<AgentEntry> {
  const found = context.agentDirectory.all().find(({ agent }) => agent.agent_id === id)
  if (!found) throw new TirelessError('internal', `agent ${id} disappeared during the command`)
  return describeDefined(context, found, spend ?? (await spendOfWeek(context)))
}

/** Contract: as `describeAgent`, also for an agent that is not in use yet. */
export async function describeDefined(
  { store, kernelId, settings, models, clock }: DescribeNeeds,
  { agent, file }: DefinedAgent,
  spend: readonly Spend[],
): Promise<AgentEntry> {
  const { agent_id, enabled, schedule, priority, prompt, model } = agent
  const [last] = await store.recent(kernelId, agent_id, 1)
  const next = nextDueForAgent({ ...settings(), agents: [agent] }, agent_id, clock.now())
  const isPlanned = settings().planner.mode !== 'static'
  // Every planner but the static one passes over an agent that would see nothing new.
  const only_on_change = schedule === null && (isPlanned || agent.only_on_change === true)
  const when = { agent_id, schedule, on_call: isOnCall(agent), only_on_change }
  const [uses_model = models.defaultId] = await models.fallbackChain(model === null ? {} : { model })
  return {
    ...{ agent_id, enabled, on_call: when.on_call, priority, prompt, source: file, only_on_change, uses_model },
    schedule: typeof schedule === 'object' && schedule !== null ? { ...schedule } : schedule,
    last_status: last?.status ?? null,
    last_run_at: last?.created_at ?? null,
    last_run_id: last?.dispatch_id ?? null,
    last_error: last?.error ?? null,
    next_at: next === undefined ? null : iso(next),
    timezone: settings().timezone ?? localZone(),
    ...{ does: sayWhatFor(agent), when: sayWhen(when, 'en'), when_zh: sayWhen(when, 'zh') },
    usd_week: costOfAgent(spend, agent_id),
  }
}

/** Contract: the spending of the last seven days, by day, agent and model. */
export function spendOfWeek(context: Needs<'store' | 'clock' | 'budgetLimits'>): Promise<readonly Spend[]> {
  const days = lastDays(context)
  return context.store.spend(days[0] ?? '', days.at(-1) ?? '')
}

function lastDays({ clock, budgetLimits }: Needs<'clock' | 'budgetLimits'>): readonly string[] {
  const today = budgetLimits.dayOf(clock.budgetNow())
  return Array.from({ length: DAYS_OF_COST }, (_, at) => addDays(today, at + 1 - DAYS_OF_COST))
}

/** Contract: US dollars, with what is reserved for running calls. */
export const costOfAgent = (spend: readonly Spend[], id: string): number =>
  spend.filter(({ agent_id }) => agent_id === id).reduce((sum, { usd, reserved }) => sum + usd + reserved, 0) /
  MICROS_PER_USD

/** Contract: the cost of an agent on each of the last seven days, oldest first. */
export const costByDay = (context: Needs<'clock' | 'budgetLimits'>, spend: readonly Spend[], id: string) =>
  lastDays(context).map((day) => ({
    day,
    usd: costOfAgent(
      spend.filter((row) => row.day === day),
      id,
    ),
  }))
