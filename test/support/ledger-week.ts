/** A home with a week of spending in its ledger, and a priced model for runs of today. */

import type { TestContext } from 'node:test'
import { MICROS_PER_USD, type Spend } from '../../src/domain/money.ts'
import { commitOne, type Store } from '../../src/ports/store.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { type HttpApp, openHttpApp } from './http-app.ts'
import { runTaskIn } from './open-app.ts'

const usage = { input_tokens: 1000, output_tokens: 10, cached_tokens: 400 }

interface LedgerWeek extends HttpApp {
  /** Contract: the rows of the last seven days. */
  rows(): Promise<readonly Spend[]>
}

/** Each of today's three answers costs a quarter of a dollar; `agent` and `task` are names that the page shows. */
export async function openLedgerWeek(t: TestContext, agent: string, task: string): Promise<LedgerWeek> {
  const model = {
    ...scriptedModel(() => ({ text: 'done', usage })),
    price: { input: 0, output: 25_000, max_output: 10 },
  }
  const agents = ['writer', 'reader'].map((agent_id) => ({ agent_id, prompt: 'work', enabled: false }))
  const yaml = JSON.stringify({ server: { port: 0 }, kernel: { agents }, budget: { per_day_usd: 2 } })
  const served = await openHttpApp(t, { yaml, model })
  const { store, clock, budgetLimits } = served.app.context
  const dayOf = (ago: number): string => budgetLimits.dayOf(clock.now() - ago * 86_400_000)
  for (let ago = 1; ago < 7; ago += 1)
    for (const [n, agent_id] of ['writer', 'reader', agent].entries())
      if ((ago + n) % 3 !== 0) await book(store, { day: dayOf(ago), agent_id, usd: (ago * 10 + n) * 10_000 })
  for (const agent_id of ['writer', 'writer', 'reader']) await runTaskIn(served.app, task, { agent: agent_id })
  await served.app.run('cycle now', {})
  return { ...served, rows: () => store.spend(dayOf(6), dayOf(0)) }
}

async function book(store: Store, { day, agent_id, usd }: Pick<Spend, 'day' | 'agent_id' | 'usd'>): Promise<void> {
  const id = `${day} ${agent_id}`
  const spender = { day, agent_id, kernel_id: 'default', dispatch_id: id, model: `p/${agent_id}` }
  await commitOne(store, [{ op: 'spent', id, usd, usage, ...spender }])
}

export const dollarsOf = (rows: readonly Spend[]): number =>
  rows.reduce((sum, { usd, reserved }) => sum + usd + reserved, 0) / MICROS_PER_USD
