/** A program that is killed while a tool of its task runs. Arguments: the home. */

import { startTask } from '../../src/run-task/start-task.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { fakeTool, PURE } from '../support/fake-tools.ts'

const [home = ''] = process.argv.slice(2)
const slow = fakeTool({
  name: 'slow',
  effect: PURE,
  run: () => {
    process.kill(process.pid, 'SIGKILL')
    return new Promise(() => {})
  },
})
const model = scriptedModel([{ calls: [{ tool: 'slow' }] }])
const task = await startTask({ objective: 'be slow', behaviour: 'solo' }, { home, key: 'once', model, tools: [slow] })
console.log(task.id)
