/** A home with residents on a fake clock: its queue and its residents run until the test ends. */

import type { TestContext } from 'node:test'
import type { App, AppOptions } from '../../src/app.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { NOON } from './kernels.ts'
import { openApp, passTime, waitUntil } from './open-app.ts'

export interface Residence {
  readonly app: App
  readonly clock: FakeClock
  /** Contract: the time passes, timer by timer. */
  pass(ms: number): Promise<void>
  /** Contract: publishes a message of the owner. */
  say(agent: string, text: string): Promise<void>
  /** Contract: what each look came to, oldest first. */
  readonly actions: string[]
  stop(): Promise<void>
}

export async function openResidence(
  t: TestContext,
  { residents, ...options }: AppOptions & { readonly residents: readonly object[]; readonly yaml?: string },
): Promise<Residence> {
  const clock = new FakeClock({ now: NOON })
  const yaml = `${JSON.stringify({ residents })}\n`
  const app = await openApp(t, { clock, ...options, yaml: options.yaml ?? yaml })
  const stopping = new AbortController()
  const working = Promise.all([
    app.context.drain({ untilIdle: false, until: stopping.signal }),
    app.context.residents.run(stopping.signal),
  ])
  working.catch(() => {})
  await waitUntil(() => app.context.epoch() !== undefined)
  const actions: string[] = []
  app.service('bus').onAction(({ agent, action, text }) => actions.push(`${agent} ${action}: ${text}`))
  const stop = async (): Promise<void> => {
    stopping.abort()
    await working
  }
  // The app may be closed already; on PostgreSQL, a read that is under way then finds the store closed.
  t.after(() => Promise.allSettled([stop()]))
  return {
    ...{ app, clock, actions, stop },
    pass: (ms) => passTime(clock, ms),
    async say(agent, text) {
      await app.run('observe', { agent, type: 'user_message', payload: JSON.stringify({ text }) })
    },
  }
}
