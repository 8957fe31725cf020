/** An app for tests of the place Runs: agents that call a tool and answer with text that must stay text. */

import type { TestContext } from 'node:test'
import type { ModelRequest } from '../../src/ports/model.ts'
import type { ScriptedStep } from '../../src/testing/scripted-model.ts'
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

/** Contract: the task has ended when it resolves with the id of its run. */
export async function finishTask({ app }: HttpApp, task: string): Promise<string> {
  const { dispatch_id: id } = await app.run('enqueue', { task })
  await waitUntil(async () => ['done', 'failed'].includes((await app.run('queue show', { id })).status))
  return id
}
