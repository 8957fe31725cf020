/** An app for tests of the place Runs: agents that call a tool and answer with text that must stay text. */

import type { TestContext } from 'node:test'
import { TirelessError } from '../../src/domain/error.ts'
import type { Event } from '../../src/domain/event.ts'
import type { ModelRequest } from '../../src/ports/model.ts'
import type { ScriptedStep } from '../../src/testing/scripted-model.ts'
import { call, LETTER, sendTool, waitStep } from './approval-fixtures.ts'
import { fakeTool, PURE } from './fake-tools.ts'
import type { HttpApp } from './http-app.ts'
import { waitUntil } from './open-app.ts'
import { calls, countingTool } from './replays.ts'
import { openTalkPage, PAYLOAD } from './talk-page.ts'

/** Counts twice, then answers; the answer names the number of the request, so that two runs differ in it. */
function workByScript(): (request: ModelRequest) => ScriptedStep {
  let answers = 0
  return ({ messages }) => {
    const task = messages.find(({ role }) => role === 'user')?.text ?? ''
    if (task.includes('fail')) return { calls: [{ tool: 'count', args: { n: 13 } }], text: PAYLOAD }
    const turns = messages.filter(({ role }) => role === 'assistant').length
    if (turns < 2) return { ...calls(turns), text: `Counting. ${PAYLOAD}` }
    answers += 1
    return { text: `Counted to ${turns}, answer ${answers}. ${PAYLOAD}` }
  }
}

export const openRunsPage = (t: TestContext): Promise<HttpApp> =>
  openTalkPage(t, { tools: [countingTool()], work: workByScript() })

interface FollowedPage extends HttpApp {
  /** The run waits in its tool. */
  readonly isHeld: Promise<void>
  /** Contract: the tool that the run waits in returns. */
  release(): void
}

/** Waits in a tool, writes a file, asks for approval, answers; a task with `fail` is refused by the provider. */
export async function openFollowedPage(t: TestContext): Promise<FollowedPage> {
  const held = Promise.withResolvers<string>()
  t.after(() => held.resolve('over'))
  const called = Promise.withResolvers<void>()
  const run = (): Promise<string> => {
    called.resolve()
    return held.promise
  }
  const hold = fakeTool({ name: 'hold', effect: PURE, run })
  const turns: readonly ScriptedStep[] = [
    { text: 'I look first.', calls: [call('hold')] },
    { calls: [call('create_file', { path: 'note.md', content: PAYLOAD })] },
    { calls: [call('send', LETTER)] },
  ]
  const work = ({ messages }: ModelRequest): ScriptedStep => {
    const text = JSON.stringify(messages)
    if (text.includes('fail')) throw new TirelessError('model_refused', `no credit is left ${PAYLOAD}`)
    const step = turns[messages.filter(({ role }) => role === 'tool').length]
    return step ?? (text.includes('sent') ? { text: 'The letter is sent.' } : waitStep)
  }
  const served = await openTalkPage(t, { tools: [hold, sendTool()], work })
  return { ...served, isHeld: called.promise, release: () => held.resolve('held') }
}

/** Contract: the trace of a run with this many steps, made of the step that the given events begin with. */
export function longTrace(events: readonly Event[], steps: number): readonly Event[] {
  const first = events.filter(({ step_id }) => step_id === 1)
  const long = events.filter(({ step_id }) => step_id === 0).slice(0, 1)
  for (let step = 1; step <= steps; step += 1)
    for (const event of first) long.push({ ...event, step_id: step, seq: long.length + 1, ts: event.ts + step * 100 })
  return long
}

/** Contract: the task has ended when it resolves with the id of its run. */
export async function finishTask({ app }: HttpApp, task: string): Promise<string> {
  const { dispatch_id: id } = await app.run('enqueue', { task })
  await waitUntil(async () => ['done', 'failed'].includes((await app.run('queue show', { id })).status))
  return id
}
