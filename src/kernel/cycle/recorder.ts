/**
 * Recorder: writes a cycle down for people and for the next cycle: runtime block of STATE.md, SYSTEM_PROMPT.md, INIT.md
 * and the git mirror.
 * Must not know: how the cycle ran.
 * Invariants: I6 (every cycle is recorded), I7 (only text between the kernel's own marks is written); no failure here
 * keeps a cycle from ending, except a failure of the store.
 */

import { clipText } from '../../domain/clean-summary.ts'
import {
  annotateSummary,
  type Cycle,
  type CycleResult,
  ENDED_DURING_CYCLE,
  errorCycleResult,
} from '../../domain/cycle.ts'
import { isTerminal } from '../../domain/dispatch.ts'
import { asTirelessError } from '../../domain/error.ts'
import { labelOfJournal } from '../../domain/journal-label.ts'
import { isCleanLabel } from '../../domain/label.ts'
import { markdownTable } from '../../domain/markdown-table.ts'
import { type RecentAction, withRecentActions } from '../../domain/recent-actions.ts'
import { type CycleRow, changeOutsideBlock, renderRuntimeBlock, replaceBlock } from '../../domain/runtime-block.ts'
import { iso } from '../../ports/clock.ts'
import { commitOne, fallbackIfUnreadable } from '../../ports/store.ts'
import type { KernelDeps } from '../settings.ts'

const MAX_AGENT_SUMMARY = 80

export async function recordCycle(deps: KernelDeps, result: CycleResult): Promise<void> {
  const { documents, store, clock, settings, systemPrompt } = deps
  const { id, max_cycle_history: limit } = settings()
  const { cycle_id } = result
  await logFailure(deps, async () => {
    const updated_at = iso(clock.now())
    const earlier = (await store.cycles(id, { limit })).filter((cycle) => cycle.cycle_id !== cycle_id)
    const history = [cycleRow(result, updated_at), ...earlier.flatMap(pastRow)]
    const agent_summary = summariesOf(result)
    const block = renderRuntimeBlock({ ...result, updated_at, agent_summary }, history, limit)
    const by = { author: 'system', reason: 'cycle', cycle_id }
    await documents.write('STATE.md', (text) => replaceBlock(text, block), by)
    const actions = await recentActions(deps, result, updated_at)
    if (actions.length > 0)
      await documents.write(
        'STATE.md',
        (text) => changeOutsideBlock(text, (own) => withRecentActions(own, actions)),
        by,
      )
    await documents.write('SYSTEM_PROMPT.md', systemPrompt, { ...by, reason: 'system prompt of unattended runs' })
    await documents.commit(`post-cycle ${cycle_id}`)
  })
}

/**
 * The finished dispatches of a cycle, for STATE.md, which prompts contain: without the summary of a session that has
 * read untrusted or private text (I12).
 */
async function recentActions(
  { store }: KernelDeps,
  { agents }: CycleResult,
  ended_at: string,
): Promise<readonly RecentAction[]> {
  const finished = agents.filter(({ status }) => isTerminal(status))
  return Promise.all(
    finished.map(async (agent) => {
      const { agent_id, status, dispatch_id: run_id } = agent
      const journal = await fallbackIfUnreadable(store.journal(agent.session_id), undefined)
      const isTrusted = journal !== undefined && isCleanLabel(labelOfJournal(journal))
      return { ended_at, agent_id, status, run_id, summary: isTrusted ? agent.summary : null }
    }),
  )
}

/**
 * Ends a cycle whose process died; the next cycle takes over its dispatches. Only the process that holds the home may
 * call it.
 */
export async function recordInterruptedCycle(deps: KernelDeps): Promise<void> {
  const { store, clock, settings } = deps
  const [last] = await store.cycles(settings().id, { limit: 1 })
  if (!last || last.ended_at !== null) return
  const now = clock.now()
  const dispatched = (await store.dispatchesOf(last.cycle_id)).map(({ dispatch_id }) => dispatch_id)
  const result = errorCycleResult(last.cycle_id, ENDED_DURING_CYCLE, now - Date.parse(last.started_at))
  await recordCycle(deps, result)
  await commitOne(store, [{ op: 'cycle_end', result, open: [...last.open, ...dispatched], now }])
}

/** Writes the documents at start-up. `init`: text of INIT.md, which is written only once. */
export async function recordBoot(deps: KernelDeps, init: string): Promise<void> {
  const { documents, settings, systemPrompt } = deps
  await logFailure(deps, async () => {
    await documents.seed('INIT.md', init)
    await documents.seed('STATE.md', settings().seed_state)
    await documents.write('SYSTEM_PROMPT.md', systemPrompt, {
      author: 'system',
      reason: 'system prompt of unattended runs',
    })
  })
}

async function logFailure({ log }: KernelDeps, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (thrown) {
    const error = asTirelessError(thrown)
    if (error.code.startsWith('store_')) throw error
    log('error', 'cycle not recorded', { message: error.message })
  }
}

const summariesOf = ({ agents, idle_reason }: CycleResult): string =>
  agents
    .map((agent) => `${agent.agent_id}: ${clipText(annotateSummary(agent) || agent.status, MAX_AGENT_SUMMARY)}`)
    .join('; ') || (idle_reason === null ? '' : `idle: ${idle_reason}`)

const cycleRow = (result: CycleResult, updated_at: string): CycleRow => ({
  ...result,
  summary: result.error ?? summariesOf(result),
  updated_at,
})

const pastRow = ({ result, ended_at }: Cycle): CycleRow[] =>
  result && ended_at !== null ? [cycleRow(result, ended_at)] : []

/** Maximum characters of a table cell in prompts. */
const MAX_CELL = 200
const HISTORY_COLUMNS = ['updated_at', 'cycle_id', 'status', 'dispatched', 'succeeded', 'failed', 'summary'] as const

/** The table of past cycles for `{CYCLE_HISTORY}`, newest first; empty if there are none. */
export function renderHistoryTable(cycles: readonly Cycle[], limit: number): string {
  const rows = cycles.flatMap(pastRow).slice(0, limit)
  const cells = rows.map((row) => HISTORY_COLUMNS.map((key) => String(row[key])))
  return rows.length === 0 ? '' : markdownTable(HISTORY_COLUMNS, cells, MAX_CELL)
}

/** The table for `{RECENT_RESULTS}`: results of the last cycle that had any; empty if there is none. */
export function renderResultsTable(cycles: readonly Cycle[]): string {
  const last = cycles.find(({ result }) => (result?.agents.length ?? 0) > 0)
  const agents = last?.result?.agents ?? []
  const cells = agents.map((agent) => [agent.agent_id, agent.status, annotateSummary(agent), last?.ended_at ?? ''])
  return agents.length === 0 ? '' : markdownTable(['agent', 'status', 'result', 'updated_at'], cells, MAX_CELL)
}
