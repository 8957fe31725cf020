/** Homes with a kernel and scheduled agents, for tests of cycles. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { App, AppOptions } from '../../src/app.ts'
import type { CommandOutput } from '../../src/commands/lib/registry.ts'
import type { CycleResult } from '../../src/domain/cycle.ts'
import type { ModelMessage, ModelRequest } from '../../src/ports/model.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { type ScriptedAnswer, type ScriptedModel, scriptedModel } from '../../src/testing/scripted-model.ts'
import { advanceUntilDone, freshFolder, idleWaiter, openApp, waitUntil } from './open-app.ts'

export type ListedCycle = CommandOutput<'cycles list'>['items'][number]

export const NOON = Date.parse('2030-03-10T12:00:00Z')
export const MINUTE = 60_000

export interface KernelHome {
  readonly app: App
  readonly home: string
  readonly clock: FakeClock
  readonly model: ScriptedModel
}

export interface TestAgent {
  readonly agent_id: string
  readonly prompt?: string
  readonly [key: string]: unknown
}

/** `kernel`: more configuration keys of the kernel. */
export async function openKernelApp(
  t: TestContext,
  given: {
    readonly agents: readonly TestAgent[]
    readonly kernel?: object
    readonly model?: ScriptedModel
    readonly config?: object
    readonly home?: string
    readonly clock?: FakeClock
    readonly options?: AppOptions
  },
): Promise<KernelHome> {
  const {
    agents,
    kernel = {},
    config = {},
    model = scriptedModel(diligentScript),
    clock = new FakeClock({ now: NOON }),
  } = given
  const home = given.home ?? freshFolder(t)
  const agentConfigs = agents.map((agent) => ({ prompt: `work of ${agent.agent_id}`, ...agent }))
  const yaml = JSON.stringify({ kernel: { timezone: 'UTC', agents: agentConfigs, ...kernel }, ...config })
  const app = await openApp(t, { home, clock, model, yaml, ...given.options })
  return { app, home, clock, model }
}

/** Agents write one file, then give the summary; the planner dispatches no agent. */
export function diligentScript(request: ModelRequest): ScriptedAnswer {
  if (isPlanning(request)) return { text: '[]' }
  return hasToolResult(request) ? { text: '## Execution Summary\nwrote done.md' } : createFileStep('done.md')
}

export const createFileStep = (path: string, content = 'done'): ScriptedAnswer => ({
  calls: [{ tool: 'create_file', args: { path, content } }],
})

export const isPlanning = ({ system }: ModelRequest): boolean => system.includes('You decide which agents')

export const hasToolResult = ({ messages }: ModelRequest): boolean =>
  messages.findLast((message): message is Extract<ModelMessage, { role: 'tool' }> => message.role === 'tool') !==
  undefined

export const taskIn = ({ messages }: ModelRequest): string => (messages[0]?.role === 'user' ? messages[0].text : '')

export const countPlanningCalls = (model: ScriptedModel): number => model.requests.filter(isPlanning).length

export const runOnce = async (app: App): Promise<CycleResult> => await app.run('once', {})

export const readState = (home: string, kernel = 'default'): string =>
  readFileSync(join(home, 'kernels', kernel, 'STATE.md'), 'utf8')

export function editState(home: string, change: (text: string) => string): void {
  const file = join(home, 'kernels', 'default', 'STATE.md')
  writeFileSync(file, change(readFileSync(file, 'utf8')))
}

export async function listDispatches(app: App): Promise<CommandOutput<'queue list'>['items']> {
  return (await app.run('queue list', { limit: 1000 })).items
}

/** Advances the clock by `ms`, timer by timer, while the kernel runs. */
export async function runClockFor(clock: FakeClock, ms: number): Promise<void> {
  const end = clock.now() + ms
  const waitUntilIdle = idleWaiter()
  let quietRounds = 0
  while (clock.now() < end) {
    await waitUntilIdle()
    const next = clock.nextIn
    quietRounds = next === undefined ? 0 : quietRounds + 1
    if (next === undefined || quietRounds < 2) continue
    quietRounds = 0
    await clock.advance(Math.min(next, end - clock.now()))
  }
}

export const listAllCycles = async (app: App): Promise<readonly ListedCycle[]> =>
  (await app.run('cycles list', { limit: 1000 })).items

/** Without the cycle that the first start runs. */
export const listCyclesAfterFirst = async (app: App): Promise<readonly ListedCycle[]> =>
  (await listAllCycles(app)).filter(({ trigger }) => trigger !== 'first')

export const countEndedCycles = async (app: App): Promise<number> =>
  (await listCyclesAfterFirst(app)).filter(({ ended_at }) => ended_at).length

/** Contract: the kernel is scheduled and its first cycle has ended when it resolves. */
export async function startKernel(
  t: TestContext,
  given: Parameters<typeof openKernelApp>[1],
): Promise<KernelHome & { stop(): Promise<unknown> }> {
  const drain = new AbortController()
  const abort = new AbortController()
  const home = await openKernelApp(t, {
    ...given,
    options: { ...given.options, signals: { drain: drain.signal, abort: abort.signal } },
  })
  const running = home.app.run('start', {})
  running.catch(() => {})
  t.after(() => drain.abort())
  await waitUntil(async () => (await home.app.run('status', {})).kernel.next_beat !== null)
  // With a model of the test's own the first cycle may hang.
  if (given.options?.model === undefined)
    await waitUntil(async () =>
      (await listAllCycles(home.app)).some(({ trigger, ended_at }) => trigger === 'first' && ended_at !== null),
    )
  return {
    ...home,
    stop() {
      drain.abort()
      return advanceUntilDone(home.clock, running)
    },
  }
}

/** Advances the clock by `ms` to the next beat. Contract: one more cycle has ended when it resolves. */
export async function advanceOneBeat({ app, clock }: KernelHome, ms: number): Promise<void> {
  const before = await countEndedCycles(app)
  await clock.advance(ms)
  await waitUntil(async () => (await countEndedCycles(app)) > before)
}
