/** A process that is killed by the MCP server that it calls: crash-main.ts HOME */

import { createApp } from '../../src/app.ts'
import { modelOfAllTasks, TOOLS, taskFor } from './interrupted-calls.ts'

const [home = ''] = process.argv.slice(2)
const app = await createApp({ home, model: modelOfAllTasks() })
for (const tool of TOOLS) await app.run('enqueue', { prompt: taskFor(tool) })
await app.run('start', { until_idle: true })
