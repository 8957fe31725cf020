/**
 * A process that is killed after a call has had its effect and before its result is written.
 * after-call-main.ts HOME TOOL ARGS-AS-JSON [AGENT]
 */

import { createApp } from '../../src/app.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'

const [home = '', name = '', args = '{}', agent = 'default'] = process.argv.slice(2)
const app = await createApp({ home, model: scriptedModel([{ calls: [{ tool: name, args: JSON.parse(args) }] }]) })
const tool = app.service('tools').all.get(name)
if (!tool) throw new Error(`unknown tool ${name}`)
const { run } = tool
tool.run = async (...given) => {
  await run.apply(tool, given)
  process.kill(process.pid, 'SIGKILL')
  return new Promise(() => {})
}
await app.run('run', { task: 'do it', agent })
