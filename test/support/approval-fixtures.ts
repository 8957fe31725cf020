/** Fixtures for approval tests: a tool that needs approval, a model that waits for it, and the owner's commands. */

import type { App } from '../../src/app.ts'
import type { Approval } from '../../src/domain/approval.ts'
import type { Json } from '../../src/domain/json.ts'
import { type ScriptedStep, scriptedModel } from '../../src/testing/scripted-model.ts'
import { fakeTool, type RecordingTool } from './fake-tools.ts'

export const LETTER = { to: 'bob', text: 'hello' }

/** Tool `send`: reaches a third party and always needs approval. */
export const sendTool = (more: Parameters<typeof fakeTool>[0] = {}): RecordingTool =>
  fakeTool({
    name: 'send',
    effect: { recovery: 'once', reach: 'third_party' },
    asks: () => 'it sends data to a third party',
    run: () => 'sent',
    ...more,
  })

export const call = (tool: string, args: Json = {}) => ({ tool, args })
export const waitStep: ScriptedStep = { calls: [call('wait', { for: 'reply' })] }

/** Makes the calls, waits for a reply, then answers "done" once it is woken. */
export const askAndWait = (...calls: ReturnType<typeof call>[]) =>
  scriptedModel([{ calls: calls.length > 0 ? calls : [call('send', LETTER)] }, waitStep, { text: 'done' }])

export const drainQueue = (app: App) => app.run('start', { until_idle: true })

export const listApprovals = async (app: App, input: object = {}): Promise<readonly Approval[]> =>
  (await app.run('approvals list', input)).items

export async function getOnlyApproval(app: App): Promise<Approval> {
  const [approval, ...more] = await listApprovals(app)
  if (!approval || more.length > 0)
    throw new Error(`expected exactly one approval, got ${approval ? more.length + 1 : 0}`)
  return approval
}

export const answerApproval = async (
  app: App,
  verb: 'allow' | 'deny',
  id: string,
  more: object = {},
): Promise<Approval> => (await app.run(`approvals ${verb}`, { id, ...more })) as Approval

/** Answers the only approval and runs the queue until it is idle. */
export async function answerAndDrain(app: App, verb: 'allow' | 'deny', more: object = {}): Promise<void> {
  await answerApproval(app, verb, (await getOnlyApproval(app)).id, more)
  await drainQueue(app)
}

export const replayRun = (app: App, run: string) =>
  app.run('replay', { run }) as Promise<{ identical: boolean; first_divergence: unknown }>
