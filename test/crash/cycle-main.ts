/** A kernel that is killed at a point of a cycle: cycle-main.ts SETUP-AS-JSON POINT COMMAND */

import { openCycleApp } from './cycle-tools.ts'

const [setup = '', point = '', command = 'once'] = process.argv.slice(2)
const app = await openCycleApp(JSON.parse(setup), point)
await app.runByName(command, {})
await app.close()
