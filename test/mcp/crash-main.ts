/** The process that is killed by the server that it asks: crash-main.ts HOME */

import { createApp } from '../../src/app.ts'
import { modelOfAll, TOOLS, taskFor } from './interrupted-calls.ts'

const [home = ''] = process.argv.slice(2)
const app = await createApp({ home, model: modelOfAll() })
for (const tool of TOOLS) await app.run('enqueue', { prompt: taskFor(tool) })
await app.run('start', { until_idle: true })
