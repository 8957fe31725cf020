/** Summary of kernel, queue, spending and health. Every key is always present; null or empty if there is no value. */

import { z } from 'zod'
import { isOnCall } from '../domain/agent.ts'
import type { CycleResult } from '../domain/cycle.ts'
import { labelOfJournal } from '../domain/journal-label.ts'
import { type Label, TRUSTS, UNTRUSTED_LABEL } from '../domain/label.ts'
import { MICROS_PER_USD } from '../domain/money.ts'
import { NEED_KINDS } from '../domain/need.ts'
import { RESIDENT_ACTIONS } from '../domain/resident.ts'
import { titleOfRun } from '../domain/title.ts'
import { isPaused } from '../kernel/pause-setting.ts'
import { countWaiting, readStoredNeeds } from '../past/open-needs.ts'
import { iso } from '../ports/clock.ts'
import { fallbackIfUnreadable, type Store } from '../ports/store.ts'
import { copyCycleResult, cycleSchema } from './cycles.ts'
import { connectionStates } from './lib/channel-states.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { modelState, readModelState } from './lib/model-state.ts'
import { childSchema, connectionSchema } from './lib/output-schemas.ts'
import { unfinishedUndoShape, unfinishedUndos } from './lib/unfinished-undos.ts'
import { hasLeader, workerSchema, workersOf } from './lib/workers.ts'
import { nextScheduledRun } from './schedule.ts'

const labelledAgent = cycleSchema.shape.agents.element.extend({
  label: z
    .object({ trust: z.enum(TRUSTS), private: z.boolean() })
    .describe('label of everything that its session has read; it applies to the summary too'),
})

/** Number of running dispatches that are named. */
const MAX_RUNS_NAMED = 20
/** Number of needs that are named. */
const MAX_NEEDS_NAMED = 20

async function spendToday({ store, clock, budgetLimits: purse }: Needs<'store' | 'clock' | 'budgetLimits'>) {
  const day = purse.dayOf(clock.budgetNow())
  const rows = await store.spend(day, day)
  const cap = purse.caps().find(({ name }) => name === 'per_day_usd')
  return {
    today_usd: rows.reduce((sum, { usd, reserved }) => sum + usd + reserved, 0) / MICROS_PER_USD,
    cap_usd: cap ? cap.limit / MICROS_PER_USD : null,
    calls: rows.reduce((sum, { calls }) => sum + calls, 0),
  }
}

/** The labels of the last cycle's agents. They are cached, because `status` runs often and a journal may be long. */
const labelsByStore = new WeakMap<Store, { readonly cycle_id: string; readonly labels: readonly Label[] }>()

/** Adds a label to each agent's result, because the summary of an agent may be text that it read from outside. */
async function labelledAgents(store: Store, { cycle_id, agents }: CycleResult) {
  const known = labelsByStore.get(store)
  const labels =
    known?.cycle_id === cycle_id
      ? known.labels
      : await Promise.all(
          agents.map(async ({ session_id }) => {
            const journal = await fallbackIfUnreadable(store.journal(session_id), undefined)
            return journal ? labelOfJournal(journal) : UNTRUSTED_LABEL
          }),
        )
  labelsByStore.set(store, { cycle_id, labels })
  return agents.map((agent, i) => ({ ...agent, label: { ...(labels[i] ?? UNTRUSTED_LABEL) } }))
}

type KernelNeeds = Needs<'store' | 'clock' | 'kernel' | 'kernelId' | 'draining' | 'isQueueWorked' | 'settings'>

async function kernelState(context: KernelNeeds) {
  const { store, kernel, kernelId, draining, isQueueWorked } = context
  const paused = await isPaused(store)
  const isElsewhere = kernel.isElsewhere()
  const isLed = isElsewhere && (await hasLeader(context))
  const isRunning = draining() || kernel.isRunning() || isLed || (isElsewhere && (await isQueueWorked()))
  const next = isLed ? await nextScheduledRun(context) : kernel.nextBeatAt()
  const last = (await store.cycles(kernelId, { limit: 2 })).find(({ result }) => result !== null)?.result
  return {
    state: paused ? ('paused' as const) : isRunning ? ('running' as const) : ('stopped' as const),
    next_beat: next === undefined ? null : iso(next),
    last_cycle: last ? { ...copyCycleResult(last), agents: await labelledAgents(store, last) } : null,
  }
}

/** What has no row elsewhere; approvals, questions and unknown outcomes are counted. */
async function otherNeeds({ store, clock }: Needs<'store' | 'clock'>) {
  const needs = await readStoredNeeds({ store, now: () => clock.now() })
  return needs.slice(0, MAX_NEEDS_NAMED).map(({ id, kind, title: { text, zh = text } }) => {
    return { id, kind, title: text, title_zh: zh }
  })
}

function agentsOf({ agentDirectory, kernel }: Needs<'agentDirectory' | 'kernel'>) {
  return agentDirectory.all().map(({ agent }) => {
    const { agent_id, enabled } = agent
    const next = kernel.nextBeatOf(agent_id)
    return { agent_id, enabled, on_call: isOnCall(agent), next_at: next === undefined ? null : iso(next) }
  })
}

async function connectionsOf(context: Needs<'channels'> & Parameters<typeof connectionStates>[0]) {
  const stateOf = await connectionStates(context)
  return [...context.channels.keys()].flatMap((name) => {
    const state = stateOf(name)
    return state === null ? [] : [{ name, ...state }]
  })
}

async function runningNow({ store }: Needs<'store'>) {
  const running = await store.dispatches({ status: 'running', limit: MAX_RUNS_NAMED })
  return running.map(({ dispatch_id, agent_id, prompt, metadata, parent_id }) => {
    return { dispatch_id, agent_id, title: titleOfRun(prompt, metadata.behaviour), parent_id }
  })
}

type DescribedResident = Awaited<ReturnType<Needs<'residents'>['residents']['describe']>>[number]

const statusOfResident = ({
  last_look,
  next_look,
  goals,
  missing,
  known,
  last_action,
  ...resident
}: DescribedResident) => ({
  ...resident,
  ...{ goals: [...goals], known: { ...known }, missing: [...missing] },
  last_action: last_action === null ? null : { ...last_action },
  last_look: last_look === null ? null : iso(last_look),
  next_look: next_look === null ? null : iso(next_look),
})

const residentSchema = z.object({
  agent_id: z.string(),
  hz: z.number().describe('looks per second, at most; lower after unanswered queries'),
  session_id: z.string().nullable(),
  state: z.enum(['idle', 'looking', 'backing_off']),
  tick: z.number().describe('number of its last look on the grid of its rate'),
  looks: z.number().describe('looks of this process'),
  failures: z.number().describe('looks that failed since the last good one'),
  error: z.string().nullable().describe('of the last look; null: it was good'),
  last_look: z.string().nullable(),
  next_look: z.string().nullable(),
  unread: z.number(),
  goals: z.array(z.string()),
  known: z.record(z.string(), z.string()),
  missing: z.array(z.string()).describe('slots that it does not know'),
  unanswered: z.number().describe('queries since its owner last wrote'),
  last_action: z.object({ action: z.enum(RESIDENT_ACTIONS), text: z.string() }).nullable(),
  why: z.string().describe('why it does nothing now'),
  why_zh: z.string().describe('the same in Chinese'),
})

const NEEDS = [
  ...(['agentDirectory', 'budgetLimits', 'channels', 'clock', 'connections', 'draining', 'epoch'] as const),
  ...([
    'health',
    'homeId',
    'isQueueWorked',
    'kernel',
    'kernelId',
    'models',
    'pageAddress',
    'residents',
    'settings',
  ] as const),
  'store',
] as const

type StatusNeeds = Needs<(typeof NEEDS)[number]>

export async function summarizeStatus(context: StatusNeeds) {
  const { store } = context
  // Nothing is known without the database, and the question must not wait for it.
  await store.ping?.()
  const queue = await store.counts()
  const { ok, reasons, degraded } = await context.health()
  return {
    kernel: {
      id: context.kernelId,
      ...(await kernelState(context)),
    },
    queue: { ...queue },
    // A session has at most one open dispatch, so queue counts are session counts.
    sessions: { active: queue.pending + queue.running, waiting: queue.waiting },
    residents: (await context.residents.describe()).map(statusOfResident),
    model: await readModelState(context.models),
    spend: await spendToday(context),
    ...(await countWaiting(context)),
    needs: await otherNeeds(context),
    health: { ok, reasons: [...reasons] },
    page: context.pageAddress() ?? null,
    channels: await connectionsOf(context),
    agents: agentsOf(context),
    runs: await runningNow(context),
    degraded: [...degraded],
    unfinished_undos: await unfinishedUndos(context),
    workers: await workersOf(context),
  }
}

export const status = defineCommand({
  name: 'status',
  summary: 'show the state of kernel, queue, sessions, spending and health',
  example: 'status',
  toleratesBrokenPlugins: true,
  runsIn: 'any_process',
  needs: NEEDS,
  input: z.object({}),
  output: z.object({
    kernel: z.object({
      id: z.string(),
      state: z.enum(['running', 'paused', 'stopped']),
      next_beat: z.string().nullable(),
      last_cycle: cycleSchema.extend({ agents: z.array(labelledAgent) }).nullable(),
    }),
    queue: z.object({
      pending: z.number(),
      running: z.number(),
      waiting: z.number(),
      done: z.number(),
      failed: z.number(),
      dead: z.number(),
      cancelled: z.number(),
    }),
    sessions: z.object({ active: z.number(), waiting: z.number() }),
    residents: z.array(residentSchema),
    model: modelState,
    spend: z.object({ today_usd: z.number().nullable(), cap_usd: z.number().nullable(), calls: z.number().nullable() }),
    approvals: z.number().describe('calls that wait for your approval'),
    questions: z.number().describe('runs that wait for your answer'),
    unknowns: z.number().describe('interrupted calls whose outcome you must tell'),
    needs: z
      .array(z.object({ id: z.string(), kind: z.enum(NEED_KINDS), title: z.string(), title_zh: z.string() }))
      .describe('what else waits for you; needs list shows everything'),
    health: z.object({ ok: z.boolean(), reasons: z.array(z.string()) }),
    page: z.string().nullable().describe('address of the page; null: it is not served'),
    channels: z.array(connectionSchema.extend({ name: z.string() })).describe('channels with a long connection'),
    agents: z.array(
      z.object({
        agent_id: z.string(),
        enabled: z.boolean(),
        on_call: z.boolean().describe('runs only when it is written to or given a task'),
        next_at: z.string().nullable(),
      }),
    ),
    runs: z.array(childSchema.omit({ status: true }).extend({ parent_id: z.string().nullable() })).describe('run now'),
    degraded: z.array(z.string()),
    unfinished_undos: z.array(unfinishedUndoShape).describe('undos of this home that are half done'),
    workers: z.array(workerSchema).describe('processes that work on the store'),
  }),
  run: summarizeStatus,
})
