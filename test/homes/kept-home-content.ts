/** The content of a kept home: finished, failed, parked, pending and interrupted work, and rows of every other kind. */

import { z } from 'zod'
import type { App, AppOptions } from '../../src/app.ts'
import { createApp } from '../../src/app.ts'
import type { Effect } from '../../src/domain/effect.ts'
import { iso } from '../../src/ports/clock.ts'
import { defineTool } from '../../src/ports/define-tool.ts'
import { commitOne } from '../../src/ports/store.ts'
import type { AnyTool } from '../../src/ports/tool.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { type ScriptedModel, type ScriptedStep, scriptedModel } from '../../src/testing/scripted-model.ts'
import { seededIds } from '../../src/testing/seeded-ids.ts'
import { advanceUntilDone } from '../support/open-app.ts'

export const YAML = `sandbox: off
kernel:
  agents:
    - agent_id: daily-report
      prompt: |
        The state is: {STATE}
        Write the daily report.
`

const calls = (tool: string, args: Readonly<Record<string, string>> = {}): ScriptedStep => ({ calls: [{ tool, args }] })

/** The scripts, by the first words of the task. */
const SCRIPTS: Readonly<Record<string, readonly ScriptedStep[]>> = {
  'Write a file': [calls('create_file', { path: 'made.md', content: 'made\n' }), { text: 'the file is there' }],
  'Fail at it': [],
  'Wait for word': [calls('wait', { for: 'user_message' }), { text: 'the word was heard' }],
  'Ask me': [calls('ask_user', { question: 'Which colour?' }), { text: 'blue it is' }],
  'Send a letter': [calls('send', { to: 'bob' }), calls('wait', { for: 'reply' }), { text: 'the letter is sent' }],
  'Order it': [calls('order'), { text: 'it is ordered' }],
  'Remember it': [calls('remember', { key: 'sheep', text: 'they are blue' }), { text: 'remembered' }],
  'Do it later': [{ text: 'done later' }],
  'Do it soon': [{ text: 'done soon' }],
  'Write the daily report': [
    calls('create_file', { path: 'report.md', content: 'all is well\n' }),
    { text: 'All is well.\n\n## 执行总结\n- wrote report.md' },
  ],
}

function keptHomeModel(): ScriptedModel {
  return scriptedModel((request, turn) => {
    const first = JSON.stringify(request.messages.find(({ role }) => role === 'user'))
    const task = Object.keys(SCRIPTS).find((words) => first.includes(words)) ?? ''
    const answer = SCRIPTS[task]?.[turn]
    if (!answer) throw new Error('no script for this task')
    return answer
  })
}

const OUTSIDE: Effect = { recovery: 'once', reach: 'third_party' }
const tool = (name: string, more: Partial<AnyTool>, act: () => void): AnyTool => ({
  ...defineTool({
    name,
    description: 'for tests',
    args: z.record(z.string(), z.json()),
    effect: () => OUTSIDE,
    async run() {
      act()
      return { status: 'ok', content: 'done' }
    },
  }),
  ...more,
})

/** `fatal`: the call `order` kills its process. */
export function keptHomeOptions(home: string, ids: string, fatal = false): AppOptions & { readonly clock: FakeClock } {
  const killProcess = (): void => {
    if (fatal) process.kill(process.pid, 'SIGKILL')
  }
  return {
    ...{ home, clock: new FakeClock(), ids: seededIds(ids), model: keptHomeModel() },
    tools: [tool('order', {}, killProcess), tool('send', { asks: () => 'it leaves the house' }, () => {})],
  }
}

export async function openKeptApp(
  home: string,
  ids: string,
  fatal = false,
): Promise<App & { readonly clock: FakeClock }> {
  const options = keptHomeOptions(home, ids, fatal)
  const app = await createApp(options)
  await app.service('sandbox').trial()
  return { ...app, clock: options.clock }
}

/** The first process: it is killed during the call `order`. */
export async function runUntilKilled(home: string): Promise<void> {
  const app = await openKeptApp(home, 'first', true)
  for (const task of ['Write a file', 'Fail at it', 'Wait for word', 'Ask me', 'Send a letter', 'Remember it'])
    await advanceUntilDone(app.clock, app.run('run', { task }))
  await advanceUntilDone(app.clock, app.run('once', {}))
  await app.run('schedule add', { agent: 'daily-report', cron: '30 9 * * mon-fri', id: 'mornings' })
  await app.run('schedule add', { agent: 'daily-report', every: '6h', id: 'often' })
  await advanceUntilDone(app.clock, app.run('run', { task: 'Order it' }))
}

/** The second process recovers from the kill, enqueues more work, and exits normally. */
export async function runAfterKill(home: string): Promise<void> {
  const app = await openKeptApp(home, 'second')
  await advanceUntilDone(app.clock, app.run('start', { until_idle: true }))
  const message = { id: 'm1', channel: 'elsewhere', chat_id: 'c1', kind: 'notice', text: 'to be delivered' } as const
  const now = app.clock.now()
  const grant = {
    ...{ id: 'g1', tool: 'send', agent_id: 'default', session_id: null, to: ['alice'], args: null },
    ...{ granted_at: iso(now), expires_at: null },
  }
  await commitOne(app.context.store, [
    { op: 'post', message, due: now + 1000, now },
    { op: 'grant', grant },
    { op: 'label', of: 'state:default:recent_actions', label: { trust: 'untrusted', private: false } },
    { op: 'select', scope: 'agent:default', model: 'scripted/model', now },
  ])
  await app.run('enqueue', { prompt: 'Do it soon' })
  await app.run('enqueue', { prompt: 'Do it later', at: '2026-03-01T09:00:00Z' })
  await app.close()
}
