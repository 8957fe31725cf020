/** The process that is killed by the server that it asks: crash-main.ts HOME */

import { createApp } from '../../src/app.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { toolCall, toolSearch } from './scenes.ts'

const [home = ''] = process.argv.slice(2)
const answers = [toolSearch('act'), toolCall('a__act', { what: 'something' }), { text: 'finished' }]
const app = await createApp({ home, model: scriptedModel(answers) })
await app.run('run', { task: 'Act on something.' })
