/** Works on a task with five sub-agents, and dies at a record if one is given: sub-agents-main.ts HOME [RECORD] */

import { type App, createApp } from '../../src/app.ts'
import { definePlugin } from '../../src/ports/plugin.ts'
import { fiveAgentsOptions, workToTheEnd } from '../support/five-agents.ts'

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
const opened: { app?: App } = {}
const app = await createApp({ ...fiveAgentsOptions(home, () => opened.app as App), plugins: [dying] })
opened.app = app
await workToTheEnd(app)
process.stdout.write(String(records))
await app.close()
