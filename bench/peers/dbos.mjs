// DBOS on the PostgreSQL of the suite runs the loop of subjects/loop.ts: a workflow per session; the answer of the
// model and the tool call are a step each, as everything that must not be repeated has to be.

import { DBOS } from '@dbos-inc/dbos-sdk'
import { serve } from '../meter.ts'
import { withDatabase } from '../queue/databases.ts'
import { argsOf, resultOf } from '../subjects/loop.ts'

let onStep = () => {}

const loop = DBOS.registerWorkflow(
  async (steps) => {
    let result
    for (let step = 1; step <= steps; step++) {
      onStep()
      const { text } = await DBOS.runStep(async () => argsOf(step), { name: 'model' })
      result = await DBOS.runStep(async () => resultOf(text), { name: 'tool' })
    }
    onStep()
    return result
  },
  { name: 'loop' },
)

await serve(({ server, sessions, steps, step, measure }) =>
  withDatabase(server.url, async (url) => {
    onStep = step
    DBOS.setConfig({ name: 'bench', systemDatabaseUrl: url, logLevel: 'error', runAdminServer: false })
    await DBOS.launch()
    try {
      await measure(async () => {
        const handles = await Promise.all(Array.from({ length: sessions }, () => DBOS.startWorkflow(loop)(steps)))
        const results = await Promise.all(handles.map((handle) => handle.getResult()))
        const last = resultOf(argsOf(steps).text)
        if (results.some((result) => result !== last)) throw new Error('a workflow did not finish')
      })
    } finally {
      await DBOS.shutdown()
    }
  }),
)
