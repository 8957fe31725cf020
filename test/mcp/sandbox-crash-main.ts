/** A process that is killed: its sandboxed server has started a process of its own. sandbox-crash-main.ts HOME MARK */

import { createApp } from '../../src/app.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'

const [home = '', mark = ''] = process.argv.slice(2)
const what = `child.spawn('sleep', [${JSON.stringify(mark)}], { detached: true, stdio: 'ignore' }).pid > 0`
const model = scriptedModel([
  { calls: [{ tool: 'tool_search', args: { query: 'evaluate' } }] },
  { calls: [{ tool: 'tool_call', args: { name: 'x__evaluate', args: { what } } }] },
  { text: 'done' },
])
const app = await createApp({ home, model })
await app.run('run', { task: 'Evaluate.' })
process.stdout.write('started\n')
setInterval(() => {}, 1000)
