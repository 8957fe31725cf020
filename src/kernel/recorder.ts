/**
 * Recorder: what is left of a cycle for people and for the next one: the runtime block of STATE.md, SYSTEM_PROMPT.md, INIT.md, and the mirror.
 * Must not know: how the cycle went about it.
 * Invariants: I6, I7; nothing here keeps a cycle from ending, except a store that fails.
 */

import { CUT_SHORT, type Cycle, type CycleResult, decorated, errorResult } from '../domain/cycle.ts'
import { isTerminal } from '../domain/dispatch.ts'
import { asTirelessError } from '../domain/error.ts'
import { markdownTable } from '../domain/markdown-table.ts'
import { type RecentAction, withRecentActions } from '../domain/recent-actions.ts'
import { type CycleRow, changedOutside, renderBlock, withBlock } from '../domain/runtime-block.ts'
import { clipped } from '../domain/summary.ts'
import { isClean } from '../domain/trust.ts'
import { labelOfJournal } from '../engine/heard.ts'
import { iso } from '../ports/clock.ts'
import { commitOne, unlessUnreadable } from '../ports/store.ts'
import type { Surroundings } from './settings.ts'

const MOST_OF_AN_AGENT = 80

export async function recordCycle(around: Surroundings, result: CycleResult): Promise<void> {
  const { documents, store, clock, settings, systemPrompt } = around
  const { id, max_cycle_history: most } = settings()
  const { cycle_id } = result
  await undisturbed(around, async () => {
    const updated_at = iso(clock.now())
    const before = (await store.cycles(id, { limit: most })).filter((cycle) => cycle.cycle_id !== cycle_id)
    const history = [rowOf(result, updated_at), ...before.flatMap(pastRow)]
    const agent_summary = summariesOf(result)
    const block = renderBlock({ ...result, updated_at, agent_summary }, history, most)
    const by = { author: 'system', reason: 'cycle', cycle_id }
    await documents.write('STATE.md', (text) => withBlock(text, block), by)
    const actions = await actionsOf(around, result, updated_at)
    if (actions.length > 0)
      await documents.write('STATE.md', (text) => changedOutside(text, (own) => withRecentActions(own, actions)), by)
    await documents.write('SYSTEM_PROMPT.md', systemPrompt, { ...by, reason: 'what unattended runs are told' })
    await documents.commit(`post-cycle ${cycle_id}`)
  })
}

/** Those that are over. What an agent says that has read text from outside may be that text: it is not put into every prompt (I12). */
async function actionsOf(
  { store }: Surroundings,
  { agents }: CycleResult,
  ended_at: string,
): Promise<readonly RecentAction[]> {
  const over = agents.filter(({ status }) => isTerminal(status))
  return Promise.all(
    over.map(async (agent) => {
      const { agent_id, status, dispatch_id: run_id } = agent
      const journal = await unlessUnreadable(store.journal(agent.session_id), undefined)
      const isOwn = journal !== undefined && isClean(labelOfJournal(journal))
      return { ended_at, agent_id, status, run_id, summary: isOwn ? agent.summary : null }
    }),
  )
}

/** Of a cycle that its process did not live to end: that, and what it leaves to the next. Only for who is alone with its kernel. */
export async function recordCut(around: Surroundings): Promise<void> {
  const { store, clock, settings } = around
  const [last] = await store.cycles(settings().id, { limit: 1 })
  if (!last || last.ended_at !== null) return
  const now = clock.now()
  const made = (await store.dispatchesOf(last.cycle_id)).map(({ dispatch_id }) => dispatch_id)
  const result = errorResult(last.cycle_id, CUT_SHORT, now - Date.parse(last.started_at))
  await recordCycle(around, result)
  await commitOne(store, [{ op: 'cycle_end', result, open: [...last.open, ...made], now }])
}

/** What stands there from the first boot on. `init`: written once. */
export async function recordBoot(around: Surroundings, init: string): Promise<void> {
  const { documents, settings, systemPrompt } = around
  await undisturbed(around, async () => {
    await documents.seed('INIT.md', init)
    await documents.seed('STATE.md', settings().seed_state)
    await documents.write('SYSTEM_PROMPT.md', systemPrompt, {
      author: 'system',
      reason: 'what unattended runs are told',
    })
  })
}

async function undisturbed({ log }: Surroundings, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (thrown) {
    const error = asTirelessError(thrown)
    if (error.code.startsWith('store_')) throw error
    log('error', 'cycle not written down', { message: error.message })
  }
}

const summariesOf = ({ agents, idle_reason }: CycleResult): string =>
  agents
    .map((agent) => `${agent.agent_id}: ${clipped(decorated(agent) || agent.status, MOST_OF_AN_AGENT)}`)
    .join('; ') || (idle_reason === null ? '' : `idle: ${idle_reason}`)

const rowOf = (result: CycleResult, updated_at: string): CycleRow => ({
  ...result,
  summary: result.error ?? summariesOf(result),
  updated_at,
})

const pastRow = ({ result, ended_at }: Cycle): CycleRow[] =>
  result && ended_at !== null ? [rowOf(result, ended_at)] : []

/** Characters of a cell of the tables for prompts. */
const MOST_SAID = 200
const HISTORY_COLUMNS = ['updated_at', 'cycle_id', 'status', 'dispatched', 'succeeded', 'failed', 'summary'] as const

/** For `{CYCLE_HISTORY}`: newest first; empty where there is none. */
export function historyTable(cycles: readonly Cycle[], most: number): string {
  const rows = cycles.flatMap(pastRow).slice(0, most)
  const cells = rows.map((row) => HISTORY_COLUMNS.map((key) => String(row[key])))
  return rows.length === 0 ? '' : markdownTable(HISTORY_COLUMNS, cells, MOST_SAID)
}

/** For `{RECENT_RESULTS}`: of the last cycle in which an agent did something; empty where there is none. */
export function resultsTable(cycles: readonly Cycle[]): string {
  const last = cycles.find(({ result }) => (result?.agents.length ?? 0) > 0)
  const agents = last?.result?.agents ?? []
  const cells = agents.map((agent) => [agent.agent_id, agent.status, decorated(agent), last?.ended_at ?? ''])
  return agents.length === 0 ? '' : markdownTable(['agent', 'status', 'result', 'updated_at'], cells, MOST_SAID)
}
