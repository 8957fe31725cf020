/** A process that is killed during an approved call: approvals-main.ts HOME LOG EFFECT-AS-JSON KILL-POINT */

import { createApp } from '../../src/app.ts'
import { askFirst, modelAwaitingReply } from './approvals-tools.ts'
import { actTool, type KillPoint } from './recovery-tools.ts'

const [home = '', log = '', effect = '', killPoint = 'never'] = process.argv.slice(2)
const tools = [actTool(log, JSON.parse(effect), killPoint as KillPoint)]
const app = await createApp({ home, tools, model: modelAwaitingReply(), gates: [askFirst] })
await app.run('run', { task: 'act' })
const { items } = await app.run('approvals list', {})
await app.run('approvals allow', { id: items[0]?.id ?? '' })
await app.run('start', { until_idle: true })
