/** A fresh home whose kernel runs with the offline model. */

import type { TestContext } from 'node:test'
import { offlineModel } from '../../src/adapters/models/offline/offline.ts'
import type { App } from '../../src/app.ts'
import { tirelessJson } from './command-line.ts'
import { openApp } from './open-app.ts'

export interface InitResult {
  readonly wrote: readonly string[]
  readonly kept: readonly string[]
  readonly agents: readonly { readonly agent_id: string; readonly enabled: boolean }[]
  readonly forecast: readonly {
    readonly model: string
    readonly day_usd: number
    readonly items: readonly { runs: number }[]
  }[]
}

export const runInit = (home: string, here?: string): Promise<InitResult & { exit: number | null }> =>
  tirelessJson<InitResult>(home, 'init', '--yes', ...(here === undefined ? [] : ['--here', here]))

export async function openWithOfflineModel(t: TestContext, home: string): Promise<{ readonly app: App; stop(): void }> {
  const drain = new AbortController()
  const signals = { drain: drain.signal, abort: new AbortController().signal }
  return { app: await openApp(t, { home, model: offlineModel, signals }), stop: () => drain.abort() }
}
