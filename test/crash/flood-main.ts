/** A process that is killed during a flood of messages: flood-main.ts HOME LOOKS */

import { createApp } from '../../src/app.ts'
import { lookTool, lookWhileUnread, watcher } from './flood-tools.ts'

const [home = '', looks = ''] = process.argv.slice(2)
const app = await createApp({ home, model: lookWhileUnread(), tools: [lookTool(Number(looks))], behaviours: [watcher] })
await app.run('start', { until_idle: true })
