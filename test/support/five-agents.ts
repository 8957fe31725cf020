/**
 * A run with five sub-agents: one whose tool kills the process, one that spends too much, one that asks for approval,
 * and two that edit the same line. Everything depends on the requests alone, so that a killed run goes on.
 */

import type { App, AppOptions } from '../../src/app.ts'
import type { Usage } from '../../src/domain/journal-record.ts'
import type { Json } from '../../src/domain/json.ts'
import type { ModelRequest } from '../../src/ports/model.ts'
import type { ScriptedAnswer } from '../../src/testing/scripted-model.ts'
import {
  calling,
  familyModel,
  finishing,
  LEAD_TOOLS,
  resultsRead,
  spawning,
  WAIT_FOR_AGENTS,
  workspaceOf,
} from './agent-family.ts'
import { fakeBehaviour, fakeTool } from './fake-tools.ts'
import { waitUntil } from './open-app.ts'

const USAGE: Usage = { input_tokens: 10_000, output_tokens: 0, cached_tokens: 0 }
const LINES = 'one\ntwo\nthree\nfour\n'

/** The lead waits until it has read five results. */
function waitForFive({ messages }: ModelRequest): ScriptedAnswer {
  const runs = new Set(JSON.stringify(messages).match(/(?<=agent_result\].{0,80}run\\*":\\*")[\w-]+/g))
  return runs.size < 5 ? WAIT_FOR_AGENTS : finishing('five results')
}

const edit = (to: string) => [
  calling('view_file', { path: 'plan.txt' }),
  calling('edit_file', { path: 'plan.txt', old: 'three', new: to }),
  finishing(to),
]

const ROLES = {
  lead: [
    calling('create_file', { path: 'plan.txt', content: LINES }),
    spawning(
      { task: 'crasher: die', budget: 0.5 },
      { task: 'greedy: spend', budget: 0.05 },
      { task: 'asker: pay', budget: 0.5 },
      { task: 'first: edit', budget: 0.5 },
      { task: 'second: edit', budget: 0.5 },
    ),
    ...Array.from({ length: 20 }, () => waitForFive),
  ],
  'crasher:': [calling('crash')],
  'greedy:': Array.from({ length: 20 }, (_, n) => ({ ...calling('view_file', { path: `${n}` }), usage: USAGE })),
  'asker:': [calling('pay'), finishing('asked'), finishing('paid')],
  'first:': edit('FIRST'),
  'second:': edit('SECOND'),
}

/** Kills the process when no other sub-agent runs: the others must not look as if they had caused it. */
const crash = (app: () => App) =>
  fakeTool({
    name: 'crash',
    effect: { recovery: 'idempotent', reach: 'none' },
    async run() {
      const store = app().service('store')
      await waitUntil(async () => {
        const all = await store.dispatches({ limit: 20 })
        return !all.some(({ status, prompt }) => /pending|running/.test(status) && !prompt.startsWith('crasher'))
      })
      process.kill(process.pid, 'SIGKILL')
      return new Promise(() => {})
    },
  })

const pay = fakeTool({
  ...{
    name: 'pay',
    effect: { recovery: 'idempotent', reach: 'none' },
    asks: () => 'it costs money',
    run: () => 'paid',
  },
})

export const fiveAgentsYaml = 'budget: { per_dispatch_usd: 4 }\n'

export const fiveAgentsOptions = (home: string, app: () => App): AppOptions => ({
  home,
  model: { ...familyModel(ROLES), price: { input: 1, output: 0, max_output: 100 } },
  tools: [crash(app), pay],
  behaviours: [fakeBehaviour({ name: 'lead', tools: [...LEAD_TOOLS, 'crash', 'pay'] })],
})

/** Starts the work or goes on with it, and allows what is asked, until nothing is left to do. */
export async function workToTheEnd(app: App): Promise<void> {
  const isNew = (await app.service('store').dispatches({ limit: 1 })).length === 0
  if (isNew) await app.run('run', { task: 'lead five agents', behaviour: 'lead' })
  else await app.run('start', { until_idle: true })
  for (;;) {
    const { items } = await app.run('approvals list', { status: 'open' })
    if (items.length === 0) return
    for (const { id } of items) await app.run('approvals allow', { id })
    await app.run('start', { until_idle: true })
  }
}

export interface FamilyEnd {
  readonly lead: string
  /** One line per result that the lead has read: who, and what became of it. */
  readonly results: readonly string[]
  /** The answer whose version is in the file, and the one that is kept beside it. */
  readonly merged: string | undefined
  readonly kept: string | undefined
  readonly errors: Readonly<Record<string, Json>>
  readonly approval: string | undefined
}

/** What became of the family. */
export async function endOfFamily(app: App, read: (file: string) => string): Promise<FamilyEnd> {
  const store = app.service('store')
  const all = await store.dispatches({ limit: 20 })
  const lead = all.find(({ parent_id }) => parent_id === null)
  const nameOf = (run: Json | undefined): string =>
    all.find(({ dispatch_id }) => dispatch_id === run)?.prompt.split(':')[0] ?? String(run)
  const results = await resultsRead(app, lead?.session_id ?? '')
  const conflict = results.flatMap(({ conflicts }) => (Array.isArray(conflicts) ? conflicts : []))[0]
  const { kept_at } = (conflict ?? {}) as { readonly kept_at?: string }
  const wordIn = async (path: string | undefined): Promise<string | undefined> =>
    path === undefined
      ? undefined
      : /FIRST|SECOND/.exec(read(await workspaceOf(app, lead?.session_id ?? '', path)))?.[0]
  const [approval] = await store.approvals({ limit: 5 })
  return {
    lead: `${lead?.status} ${lead?.result}`,
    results: results.map(({ run, status }) => `${nameOf(run)} ${status}`).sort(),
    merged: await wordIn('plan.txt'),
    kept: await wordIn(kept_at),
    errors: Object.fromEntries(results.map(({ run, error = null }) => [nameOf(run), error])),
    approval: approval?.reason,
  }
}
