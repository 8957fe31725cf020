/** The process that dies: recovery-main.ts HOME LOG EFFECT-AS-JSON DEATH [PROBE | resume] */

import { createApp } from '../../src/app.ts'
import { acting, actOnce, type Death } from './recovery-tools.ts'

const [home = '', log = '', effect = '', death = 'never', more] = process.argv.slice(2)
const probe = more === 'honest' || more === 'unclear' ? more : undefined
const app = await createApp({ home, tools: [acting(log, JSON.parse(effect), death as Death, probe)], model: actOnce() })
if (more === 'resume') await app.run('start', { until_idle: true })
else await app.run('run', { task: 'act' })
