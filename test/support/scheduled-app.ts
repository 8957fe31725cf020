/** An app with schedules and a fake clock. */

import type { TestContext } from 'node:test'
import type { App } from '../../src/app.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { openApp } from './open-app.ts'

export const NOON = Date.parse('2026-01-15T12:00:00Z')

export const YAML = `kernel:
  timezone: Asia/Shanghai
  schedule: "*/10 * * * *"
  agents:
    - { agent_id: report, prompt: "write the report", timeout: 5m }
    - { agent_id: tender, prompt: "tend the folder", schedule: "0 21 * * *", timeout: 5m }
`

export interface Item {
  readonly id: string
  readonly origin: string
  readonly schedule: unknown
  readonly timezone: string
  readonly agents: readonly string[]
  readonly prompt: string | null
  readonly paused: boolean
  readonly next: string | null
  readonly last: string | null
}

export async function openScheduled(t: TestContext, yaml = YAML): Promise<{ app: App; clock: FakeClock }> {
  const clock = new FakeClock({ now: NOON + 1 })
  return { app: await openApp(t, { clock, model: scriptedModel([{ text: 'done' }]), yaml }), clock }
}

export const addSchedule = (app: App, input: object): Promise<Item> => app.run('schedule add', input) as Promise<Item>
