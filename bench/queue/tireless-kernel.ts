/**
 * The whole kernel, as `start --role worker` runs it: each dispatch is a run with one step, whose model answers at
 * once. The records of the run are in its journal, as with any run.
 */

import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createApp, type Model } from 'tireless'
import { type BenchQueue, serveQueue, type WorkMeter } from './serve-queue.ts'
import { KERNEL_SLOTS } from './settings.ts'
import { fillStore, sendToStore, sentAtOf } from './store-jobs.ts'

const USAGE = { input_tokens: 0, output_tokens: 0, cached_tokens: 0 }

await serveQueue(async ({ url, folder }): Promise<BenchQueue> => {
  mkdirSync(folder, { recursive: true })
  const home = mkdtempSync(join(folder, 'home-'))
  writeFileSync(
    join(home, 'tireless.yaml'),
    `store: ${url}\nkernel: { max_concurrent: ${KERNEL_SLOTS} }\nsandbox: off\n`,
  )
  let meter: WorkMeter | undefined
  const model: Model = {
    id: 'bench/instant',
    async call({ messages }) {
      meter?.started(sentAtOf({ prompt: messages.findLast(({ role }) => role === 'user')?.text ?? '' }))
      meter?.done(1)
      return { text: 'Done.', calls: [], finish: 'stop', usage: USAGE }
    },
  }
  const stopping = new AbortController()
  const signals = { drain: stopping.signal, abort: new AbortController().signal }
  const app = await createApp({ home, model, signals })
  const { store } = app.context
  return {
    fill: (jobs) => fillStore(store, folder, jobs),
    send: (sentAt) => sendToStore(store, folder, sentAt),
    count: async () => (await store.counts()).pending,
    close: () => app.close(),
    async work(given) {
      meter = given
      const running = app.run('start', { role: 'worker' })
      return async () => {
        stopping.abort()
        await running
      }
    },
  }
})
