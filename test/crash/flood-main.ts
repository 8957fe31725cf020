/** The process that dies in a flood: flood-main.ts HOME LOOKS */

import { createApp } from '../../src/app.ts'
import { look, looking, onLooker } from './flood-tools.ts'

const [home = '', looks = ''] = process.argv.slice(2)
const app = await createApp({ home, model: looking(), tools: [look(Number(looks))], behaviours: [onLooker] })
await app.run('start', { until_idle: true })
