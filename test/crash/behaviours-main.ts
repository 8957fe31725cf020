/** Handles the message to count words, from chat to reply, and dies at a record: behaviours-main.ts HOME RECORD */

import { createApp } from '../../src/app.ts'
import { definePlugin } from '../../src/ports/plugin.ts'
import { wordCounter } from '../support/word-counter.ts'
import { fileChannel, receiveTask } from './behaviours-chat.ts'

const [home = '', at = '0'] = process.argv.slice(2)
let records = 0
const dying = definePlugin({
  name: 'dying',
  needs: ['events'],
  setup(host) {
    host.get('events').add({
      onRunOpened() {},
      onRunClosed() {},
      delta() {},
      onRecord() {
        records += 1
        if (records === Number(at)) process.kill(process.pid, 'SIGKILL')
      },
    })
  },
})
const app = await createApp({ home, model: wordCounter(), plugins: [dying], channels: [fileChannel(home)] })
await app.run('channels pair', { name: 'chat', chat: 'c9' })
await receiveTask(app)
await app.run('start', { until_idle: true })
process.stdout.write(String(records))
await app.close()
