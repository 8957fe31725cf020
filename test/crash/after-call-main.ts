/** The process that dies when a call has done its work and nobody has written that down yet: after-call-main.ts HOME TOOL ARGS-AS-JSON [AGENT] */

import { createApp } from '../../src/app.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'

const [home = '', name = '', args = '{}', agent = 'default'] = process.argv.slice(2)
const app = await createApp({ home, model: scriptedModel([{ calls: [{ tool: name, args: JSON.parse(args) }] }]) })
const tool = app.service('tools').all.get(name)
if (!tool) throw new Error(`there is no tool ${name}`)
const { run } = tool
tool.run = async (...given) => {
  await run.apply(tool, given)
  process.kill(process.pid, 'SIGKILL')
  return new Promise(() => {})
}
await app.run('run', { task: 'do it', agent })
