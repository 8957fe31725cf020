/** The kernel that dies: cycle-main.ts SCENE-AS-JSON POINT COMMAND */

import { openScene } from './cycle-tools.ts'

const [scene = '', point = '', command = 'once'] = process.argv.slice(2)
const app = await openScene(JSON.parse(scene), point)
await app.run(command, {})
await app.close()
