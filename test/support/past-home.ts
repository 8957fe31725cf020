/**
 * A home with two weeks of real runs by a scripted model, for questions about the past. Now is Thursday 12 November
 * 2026, 15:00 in Berlin. Tuesday the 10th is empty; on Wednesday the 11th little happened.
 */

import type { TestContext } from 'node:test'
import type { App } from '../../src/app.ts'
import type { CommandInput, CommandOutput } from '../../src/commands/lib/registry.ts'
import type { Model, ModelRequest } from '../../src/ports/model.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { type ScriptedAnswer, scriptedModel } from '../../src/testing/scripted-model.ts'
import { sendTool } from './approval-fixtures.ts'
import { fakeTool } from './fake-tools.ts'
import { freshFolder, openApp } from './open-app.ts'

export const PAST_NOW = Date.parse('2026-11-12T15:00:00+01:00')

const YAML = `kernel:
  timezone: Europe/Berlin
  agents:
    - { agent_id: scribe, prompt: "write the reports", schedule: "0 9 * * *" }
    - { agent_id: clerk, prompt: "keep the prices", workspace: workspaces/shop, enabled: false }
    - { agent_id: keeper, prompt: "keep the backups", enabled: false }
`

/** What the model does for a task, step by step; each step costs `cents`. */
interface Task {
  readonly cents: number
  readonly steps: readonly ScriptedAnswer[]
}

const write = (path: string, content: string): ScriptedAnswer => ({
  text: `I write ${path} now.`,
  calls: [{ tool: 'create_file', args: { path, content } }],
})
const edit = (path: string, old: string, to: string): readonly ScriptedAnswer[] => [
  { calls: [{ tool: 'view_file', args: { path } }] },
  { text: 'The supplier raised the price.', calls: [{ tool: 'edit_file', args: { path, old, new: to } }] },
]
const look: ScriptedAnswer = {
  text: 'I look at the files first.',
  calls: [{ tool: 'list_files', args: { path: '.' } }],
}

const TASKS: Readonly<Record<string, Task>> = {
  'Write the October notes': { cents: 5, steps: [write('notes/october.md', 'notes'), { text: 'Notes written.' }] },
  'Summarise the inbox': { cents: 10, steps: [write('reports/inbox.md', 'mail'), { text: 'Four mails summarised.' }] },
  'Check the backups': { cents: 4, steps: [look, look] },
  检查备份: { cents: 4, steps: [look, look] },
  'Update the price list': { cents: 15, steps: [write('prices.csv', 'apple,1\npear,2\n'), { text: 'Two prices.' }] },
  'Raise the pear price': { cents: 5, steps: [...edit('prices.csv', 'pear,2', 'pear,3'), { text: 'Pear is 3 now.' }] },
  整理会议纪要: { cents: 2, steps: [write('会议纪要.md', '纪要'), { text: '纪要已整理。' }] },
  'Look into the mailbox': { cents: 1, steps: [{ text: 'No new mail.' }] },
  'Write the weekly report': { cents: 6, steps: [write('reports/weekly.md', 'week'), { text: 'Report written.' }] },
  'Fetch the exchange rates': { cents: 3, steps: [look, look] },
  'Send the newsletter': {
    cents: 2,
    steps: [
      { text: 'The owner asked for the newsletter.', calls: [{ tool: 'send', args: { to: 'list', text: 'news' } }] },
      { calls: [{ tool: 'wait', args: { for: 'reply' } }] },
    ],
  },
  'Choose a logo': {
    cents: 1,
    steps: [{ text: 'Which logo?', calls: [{ tool: 'wait', args: { for: 'user_message' } }] }],
  },
  'Read the headlines': { cents: 1, steps: [{ calls: [{ tool: 'headlines' }] }, { text: 'HEADLINE-FROM-OUTSIDE' }] },
}

/** Priced at one millionth of a dollar per token. */
export function pastModel(
  more: (request: ModelRequest, turn: number) => ScriptedAnswer | undefined = () => undefined,
): Model {
  const model = scriptedModel((request, turn) => {
    const own = more(request, turn)
    if (own) return own
    const [message] = request.messages
    const task = TASKS[message?.role === 'user' ? (message.text.split('\n')[0]?.trim() ?? '') : '']
    const answer = task?.steps[turn]
    if (!task || !answer) throw new Error(`no script for ${JSON.stringify(message)} in turn ${turn}`)
    return { ...answer, usage: { input_tokens: task.cents * 10_000, output_tokens: 0, cached_tokens: 0 } }
  })
  return { ...model, price: { input: 1, output: 0, max_output: 1000 } }
}

export interface PastHome {
  readonly app: App
  readonly clock: FakeClock
  readonly home: string
  /** Ids of the runs, by their task. */
  readonly runs: ReadonlyMap<string, string>
}

type RunInput = Omit<CommandInput<'run'>, 'task'>

/** When what was done: local times of Berlin, which is on summer time until 25 October. */
const STORY: readonly (readonly [at: string, task: string, input: RunInput])[] = [
  ['2026-10-30T10:00', 'Write the October notes', { agent: 'scribe' }],
  ['2026-11-03T09:30', 'Summarise the inbox', { agent: 'scribe' }],
  ['2026-11-04T11:00', 'Check the backups', { agent: 'keeper', max_steps: 1 }],
  ['2026-11-04T16:00', '检查备份', { agent: 'keeper', max_steps: 1 }],
  ['2026-11-09T10:00', 'Update the price list', { agent: 'clerk' }],
  ['2026-11-09T14:00', '整理会议纪要', { agent: 'scribe' }],
  ['2026-11-11T09:00', 'Look into the mailbox', { agent: 'keeper' }],
  ['2026-11-11T16:00', 'Raise the pear price', { agent: 'clerk' }],
  ['2026-11-12T09:10', 'Write the weekly report', { agent: 'scribe' }],
  ['2026-11-12T10:00', 'Fetch the exchange rates', { agent: 'keeper', max_steps: 1 }],
  ['2026-11-12T11:00', 'Send the newsletter', { agent: 'scribe' }],
  ['2026-11-12T12:00', 'Choose a logo', { agent: 'scribe' }],
  ['2026-11-12T13:00', 'Read the headlines', { agent: 'keeper' }],
]

const IDLE_CYCLE = '2026-11-11T08:00'

export async function openPastHome(t: TestContext, model: Model = pastModel()): Promise<PastHome> {
  const clock = new FakeClock({ now: Date.parse('2026-10-30T08:00:00+01:00') })
  const home = freshFolder(t)
  const headlines = fakeTool({ name: 'headlines', effect: { recovery: 'pure', reach: 'none' }, run: () => 'news' })
  const app = await openApp(t, { home, clock, model, yaml: YAML, tools: [sendTool(), headlines] })
  const runs = new Map<string, string>()
  const moments = [...STORY.map(([at]) => at), IDLE_CYCLE].toSorted()
  for (const at of moments) {
    clock.setWall(Date.parse(`${at}:00+01:00`))
    // These days have passed: the clock is right.
    await app.context.clockTrust.accept()
    if (at === IDLE_CYCLE) await app.run('once', {})
    for (const [, task, input] of STORY.filter(([when]) => when === at)) {
      const { dispatch_id }: CommandOutput<'run'> = await app.run('run', { task, ...input })
      runs.set(task, dispatch_id)
    }
  }
  clock.setWall(PAST_NOW)
  await app.context.clockTrust.accept()
  return { app, clock, home, runs }
}

export interface PastTask {
  readonly task: string
  /** The local day. */
  readonly day: string
  readonly hour: number
  readonly usd: number
  readonly files: readonly string[]
  readonly failed: boolean
}

const FAILING = new Set(['Check the backups', '检查备份', 'Fetch the exchange rates'])

/** What happened, as this file tells it, without the code under test. */
export const PAST_TASKS: readonly PastTask[] = STORY.map(([at, task]) => {
  const { steps = [], cents = 0 } = TASKS[task] ?? {}
  const calls = steps.flatMap((step) => step.calls ?? []).filter(({ tool }) => /create_file|edit_file/.test(tool))
  const failed = FAILING.has(task)
  return {
    ...{ task, day: at.slice(0, 10), hour: Number(at.slice(11, 13)), failed },
    // A failing run ends after its first step.
    usd: (cents * (failed ? 1 : steps.length)) / 100,
    files: calls.map(({ args }) => (args as { readonly path: string }).path),
  }
})
