/** Runs the task of counting words and dies at a record: behaviours-main.ts HOME WORKSPACE RECORD */

import { createApp } from '../../src/app.ts'
import { definePlugin } from '../../src/ports/plugin.ts'
import { TASK, wordCounter } from '../support/word-counter.ts'

const [home = '', workspace = '', at = '0'] = process.argv.slice(2)
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
const app = await createApp({ home, model: wordCounter(), plugins: [dying] })
if (workspace === '') await app.run('start', { until_idle: true })
else await app.run('run', { task: TASK, behaviour: 'plan', workspace, max_steps: 80 })
process.stdout.write(String(records))
await app.close()
