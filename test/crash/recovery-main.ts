/** A process that is killed inside a tool: recovery-main.ts HOME LOG EFFECT-AS-JSON KILL-POINT [PROBE | resume] */

import { createApp } from '../../src/app.ts'
import { actOnceModel, actTool, type KillPoint } from './recovery-tools.ts'

const [home = '', log = '', effect = '', killPoint = 'never', more] = process.argv.slice(2)
const probe = more === 'honest' || more === 'unclear' ? more : undefined
const app = await createApp({
  home,
  tools: [actTool(log, JSON.parse(effect), killPoint as KillPoint, probe)],
  model: actOnceModel(),
})
if (more === 'resume') await app.run('start', { until_idle: true })
else await app.run('run', { task: 'act' })
