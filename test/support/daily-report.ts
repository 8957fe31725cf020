/** The daily-report agent of the seed, dispatched as the kernel does it. */

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { App, AppOptions } from '../../src/app.ts'
import { enqueueTask } from '../../src/commands/queue.ts'
import type { AgentResult } from '../../src/domain/cycle.ts'
import type { Json } from '../../src/domain/json.ts'
import { buildAgentPrompt, type PromptValues } from '../../src/kernel/cycle/agent-prompt.ts'
import { buildAgentResult } from '../../src/kernel/cycle/agent-result.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { type ModelScript, type ScriptedModel, scriptedModel } from '../../src/testing/scripted-model.ts'
import { advanceUntilDone, dispatchOf, journalOf, openApp, replayIn } from './open-app.ts'

/** The prompt of seed 000, the first example of the contract. */
export const DAILY_REPORT = `当前系统状态:
{STATE}

请根据上述状态生成今日工作简报。
`

export const YAML = `kernel:
  agents:
    - agent_id: "daily-report"
      prompt: |
        当前系统状态:
        {STATE}

        请根据上述状态生成今日工作简报。
      priority: 10
      enabled: true
`

export const INSERTIONS: PromptValues = {
  state: '# Kernel State\n## identity\nelephant.ai autonomous kernel\n## recent_actions\n(none yet)',
  goal: '',
  recent_results: '',
  cycle_history: '',
  watched: '',
  folder: '/workspaces/daily-report',
  state_label: { trust: 'trusted', private: false },
  now: Date.UTC(2026, 1, 11),
}

export const WRITE = { calls: [{ tool: 'create_file', args: { path: 'report.md', content: '一切正常' } }] }

export const DONE = { text: '简报已经写好。\n\n## 执行总结\n- 写入 report.md' }

export interface Setup {
  readonly app: App
  readonly clock: FakeClock
  readonly model: ScriptedModel
}

export async function openSetup(
  t: TestContext,
  script: ModelScript,
  options: AppOptions & { yaml?: string } = {},
): Promise<Setup> {
  const clock = new FakeClock()
  const model = scriptedModel(script)
  return { app: await openApp(t, { clock, model, yaml: YAML, ...options }), clock, model }
}

export interface PlanOptions {
  readonly template?: string
  readonly state?: string
  readonly agent?: string
  readonly metadata?: Readonly<Record<string, Json>>
}

/** Enqueues a dispatch as the kernel does. */
export async function enqueueAsKernel(
  { app }: Setup,
  options: PlanOptions = {},
): Promise<{ dispatch_id: string; session_id: string }> {
  const { template = DAILY_REPORT, state = INSERTIONS.state, agent = 'daily-report', metadata = {} } = options
  const layers = buildAgentPrompt(template, { ...INSERTIONS, state }, app.context.ids.next())
  return enqueueTask(app.context, {
    ...{ agent, prompt: layers.prompt, priority: 10, source: 'kernel' },
    metadata: { ...layers.metadata, ...metadata },
  })
}

export const drain = ({ app, clock }: Setup): Promise<unknown> =>
  advanceUntilDone(clock, app.run('start', { until_idle: true }))

/** Drains the queue, and advances the clock past retry waits, until the dispatch has a result. */
export async function runToResult(setup: Setup, id: string): Promise<AgentResult> {
  for (;;) {
    await drain(setup)
    const { wait } = await dispatchOf(setup.app, id)
    if (wait?.kind !== 'retry') return resultOf(setup.app, id)
    await setup.clock.advance(wait.until - setup.clock.now())
  }
}

export async function resultOf(app: App, id: string): Promise<AgentResult> {
  const dispatch = (await app.context.store.dispatch(id)) ?? assert.fail(`no dispatch ${id}`)
  const session = await app.context.store.session(dispatch.session_id)
  return buildAgentResult(dispatch, await journalOf(app, dispatch.session_id), session?.workspace ?? '')
}

export async function isReplayIdentical(app: App, run: string): Promise<boolean> {
  return (await replayIn(app, run)).identical
}
