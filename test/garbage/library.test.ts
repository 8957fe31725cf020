/** Generated arguments of the library: the task succeeds, or fails with a message. */

import { test } from 'node:test'
import fc from 'fast-check'
import type { Task } from '../../src/run-task/task.ts'
import type { RunTaskOptions } from '../../src/run-task.ts'
import { runTask } from '../../src/run-task.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { assertReopens, undefinedIfRefused } from '../support/garbage-assertions.ts'
import { anyNumber, anyText, anyValue, checkProperty } from '../support/garbage-values.ts'
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
  anyText,
  anyValue,
  fc.dictionary(fc.constantFrom('objective', 'success_criteria', ...LIMITS), fc.oneof(anyNumber, anyText, anyValue), {
    maxKeys: 4,
  }),
)
const price = fc.record({ input: anyNumber, output: anyNumber, max_output: anyNumber })
const options = fc.record(
  { agent: fc.oneof(anyText, anyValue), name: fc.oneof(anyText, anyValue), price, plugins: anyValue },
  { requiredKeys: [] },
)

test('runTask with any arguments', async (t) => {
  const home = freshFolder(t)
  await t.test('succeeds or is refused with a message', () =>
    checkProperty(25, fc.tuple(task, options), async ([given, { price: of, ...more }]) => {
      const model = { ...scriptedModel(() => ({ text: 'done' })), ...(of && { price: of }) }
      await undefinedIfRefused(() => runTask(given as Task, { ...more, home, model } as RunTaskOptions))
    }),
  )
  await t.test('refuses an invalid home, model or options', () =>
    checkProperty(40, fc.tuple(fc.constantFrom('home', 'config', 'model', 'tools'), anyValue), async ([key, value]) => {
      // A text would be taken as the name of a home or a file.
      if (typeof value !== 'string' || value.trim() === '')
        await undefinedIfRefused(() =>
          runTask('x', { home, model: scriptedModel(() => ({ text: 'done' })), [key]: value }),
        )
    }),
  )
  await t.test('afterwards the home opens, and everything in it can be read', async () => {
    const app = await openApp(t, { home })
    await (await assertReopens(t, app, { home })).close()
  })
})
