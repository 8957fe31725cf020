/** What the tests of approvals share: a tool that asks, a model that waits for the answer, and a person's words. */

import type { App } from '../../src/app.ts'
import type { Approval } from '../../src/domain/approval.ts'
import type { Json } from '../../src/domain/json.ts'
import { type ScriptedStep, scriptedModel } from '../../src/testing/scripted-model.ts'
import { aTool, type CountingTool } from './fake-tools.ts'

export const LETTER = { to: 'bob', text: 'hello' }

/** `send`: reaches outside, and always asks. */
export const sending = (more: Parameters<typeof aTool>[0] = {}): CountingTool =>
  aTool({
    name: 'send',
    effect: { recovery: 'once', reach: 'third_party' },
    asks: () => 'it leaves the house',
    run: () => 'sent',
    ...more,
  })

export const call = (tool: string, args: Json = {}) => ({ tool, args })
export const wait: ScriptedStep = { calls: [call('wait', { for: 'reply' })] }

/** Calls, waits, and says that it is done when it is woken. */
export const askAndWait = (...calls: ReturnType<typeof call>[]) =>
  scriptedModel([{ calls: calls.length > 0 ? calls : [call('send', LETTER)] }, wait, { text: 'done' }])

export const drained = (app: App) => app.run('start', { until_idle: true })

export const approvals = async (app: App, input: object = {}): Promise<Approval[]> =>
  ((await app.run('approvals list', input)) as { items: Approval[] }).items

export async function theApproval(app: App): Promise<Approval> {
  const [approval, ...more] = await approvals(app)
  if (!approval || more.length > 0) throw new Error(`one approval was expected; there are ${more.length + 1}`)
  return approval
}

export const answer = async (app: App, verb: 'allow' | 'deny', id: string, more: object = {}): Promise<Approval> =>
  (await app.run(`approvals ${verb}`, { id, ...more })) as Approval

/** Answered, and whatever follows from it done. */
export async function answered(app: App, verb: 'allow' | 'deny', more: object = {}): Promise<void> {
  await answer(app, verb, (await theApproval(app)).id, more)
  await drained(app)
}

export const replayed = (app: App, run: string) =>
  app.run('replay', { run }) as Promise<{ identical: boolean; first_divergence: unknown }>
