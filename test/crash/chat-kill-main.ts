/**
 * A message in a thread of a chat, from its arrival to its delivered answer, in a process that dies at a point:
 * chat-kill-main.ts HOME POINT. POINT: `before N` or `after N` for the Nth commit, `deliver N` inside the Nth delivery.
 */

import { createApp } from '../../src/app.ts'
import type { Store } from '../../src/ports/store.ts'
import { answeringModel, deliveringChannel, receiveChatTask } from './chat-kill-tools.ts'

const [home = '', point = ''] = process.argv.slice(2)
let commits = 0
let deliveries = 0
const dieAt = (here: string): void => {
  if (here === point) process.kill(process.pid, 'SIGKILL')
}
const channel = deliveringChannel(home, () => {
  deliveries += 1
  dieAt(`deliver ${deliveries}`)
})
const app = await createApp({ home, model: answeringModel(), channels: [channel] })
const store = app.service('store')
const { commit } = store
const dying: Store['commit'] = async (...batches) => {
  commits += 1
  const here = commits
  dieAt(`before ${here}`)
  const outcome = await commit.apply(store, batches)
  dieAt(`after ${here}`)
  return outcome
}
Object.assign(store, { commit: dying })
await receiveChatTask(app)
await app.run('start', { until_idle: true })
process.stdout.write(JSON.stringify({ commits, deliveries }))
await app.close()
