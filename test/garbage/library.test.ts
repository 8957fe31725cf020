/** Generated arguments of the library: a task that is done, or an error in words. */

import { test } from 'node:test'
import fc from 'fast-check'
import type { RunTaskOptions, Task } from '../../src/run-task.ts'
import { runTask } from '../../src/run-task.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { assertReopens, refusedInWords } from '../support/garbage-homes.ts'
import { always, anything, number, text } from '../support/garbage-values.ts'
import { freshFolder, openApp } from '../support/open-app.ts'

const LIMITS = [
  'max_steps',
  'max_seconds',
  'max_tokens',
  'max_usd',
  'resources',
  'behaviour',
  'memory',
  'parser',
  'env',
]
const task = fc.oneof(
  text,
  anything,
  fc.dictionary(fc.constantFrom('objective', 'success_criteria', ...LIMITS), fc.oneof(number, text, anything), {
    maxKeys: 4,
  }),
)
const price = fc.record({ input: number, output: number, max_output: number })
const options = fc.record(
  { agent: fc.oneof(text, anything), name: fc.oneof(text, anything), price, plugins: anything },
  { requiredKeys: [] },
)

test('runTask, whatever it is given', async (t) => {
  const home = freshFolder(t)
  await t.test('is done or refused in words', () =>
    always(25, fc.tuple(task, options), async ([given, { price: of, ...more }]) => {
      const model = { ...scriptedModel(() => ({ text: 'done' })), ...(of && { price: of }) }
      await refusedInWords(() => runTask(given as Task, { ...more, home, model } as RunTaskOptions))
    }),
  )
  await t.test('takes no home, model or options that are none', () =>
    always(40, fc.tuple(fc.constantFrom('home', 'config', 'model', 'tools'), anything), async ([key, value]) => {
      // Text would be a home, or a file, of that name.
      if (typeof value !== 'string' || value.trim() === '')
        await refusedInWords(() => runTask('x', { home, model: scriptedModel(() => ({ text: 'done' })), [key]: value }))
    }),
  )
  await t.test('afterwards the home opens, and everything in it can be read', async () => {
    const app = await openApp(t, { home })
    await (await assertReopens(t, app, { home })).close()
  })
})
