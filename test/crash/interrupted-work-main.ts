/** Runs the work and dies in its second step: interrupted-work-main.ts HOME */

import { createApp } from '../../src/app.ts'
import { interruptedWork } from './interrupted-work.ts'

const [home = ''] = process.argv.slice(2)
const app = await createApp({ home, ...interruptedWork({ dies: true }) })
await app.run('run', { task: 'work', agent: 'writer' })
