/** The process that dies over what was allowed: approvals-main.ts HOME LOG EFFECT-AS-JSON DEATH */

import { createApp } from '../../src/app.ts'
import type { Approval } from '../../src/domain/approval.ts'
import { askFirst, askingOnce } from './approvals-tools.ts'
import { acting, type Death } from './recovery-tools.ts'

const [home = '', log = '', effect = '', death = 'never'] = process.argv.slice(2)
const tools = [acting(log, JSON.parse(effect), death as Death)]
const app = await createApp({ home, tools, model: askingOnce(), gates: [askFirst] })
await app.run('run', { task: 'act' })
const { items } = (await app.run('approvals list', {})) as { items: Approval[] }
await app.run('approvals allow', { id: items[0]?.id })
await app.run('start', { until_idle: true })
