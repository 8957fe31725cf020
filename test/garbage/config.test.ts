/** Generated configurations: each is accepted, or refused with a message that names the key; an accepted one starts. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { schemaLevels } from '../../src/config/explain-problems.ts'
import { jsonSchema, loadConfig } from '../../src/config.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { assertReopens, undefinedIfRefused } from '../support/garbage-assertions.ts'
import { anyBytes, anyNumber, anyText, anyValue, checkProperty, TIMES } from '../support/garbage-values.ts'
import { freshFolder, openApp } from '../support/open-app.ts'

/** A key of the configuration and its parents. */
const path: fc.Arbitrary<readonly string[]> = fc.constantFrom(
  ...schemaLevels(jsonSchema() as Parameters<typeof schemaLevels>[0]).flatMap((level) =>
    level.keys.map((key) => [...level.path, key]),
  ),
)
const value = fc.oneof(anyNumber, fc.constantFrom(...TIMES), anyText, anyValue)

function setAtPath(mapping: Record<string, unknown>, [step = '', ...rest]: readonly string[], leaf: unknown): void {
  const key = step === '*' ? 'x' : step
  if (rest.length === 0) mapping[key] = leaf
  else {
    const inner = mapping[key]
    mapping[key] = typeof inner === 'object' && inner !== null ? inner : {}
    setAtPath(mapping[key] as Record<string, unknown>, rest, leaf)
  }
}

/** JSON is YAML. A generated list index or name replaces the schema's wildcard. */
const written = fc.array(fc.tuple(path, value), { minLength: 1, maxLength: 3 }).map((entries) => {
  const root: Record<string, unknown> = {}
  for (const [steps, leaf] of entries) setAtPath(root, steps, leaf)
  return JSON.stringify(root)
})

test('any configuration is accepted or refused with a message', (t) => {
  const file = join(freshFolder(t), 'tireless.yaml')
  const source = fc.oneof({ arbitrary: written, weight: 4 }, { arbitrary: fc.oneof(anyBytes, anyText), weight: 1 })
  return checkProperty(150, source, async (yaml) => {
    writeFileSync(file, yaml)
    await undefinedIfRefused(async () => loadConfig({ file, env: {} }))
  })
})

/** Sections that a start reads and that reach nothing outside of the home. */
const SAFE = ['budget', 'retention', 'models']

test('an accepted configuration starts, works and stops', async (t) => {
  await checkProperty(
    6,
    written.filter((yaml) => Object.keys(JSON.parse(yaml)).every((key) => SAFE.includes(key))),
    async (yaml) => {
      const home = freshFolder(t)
      const model = scriptedModel(() => ({ text: 'done' }))
      const app = await undefinedIfRefused(() => openApp(t, { home, model, yaml }))
      if (!app) return
      await app.run('run', { task: 'something' })
      await (await assertReopens(t, app, { home, model })).close()
    },
  )
})
