/**
 * Every command of the library with generated input: it succeeds or is refused with a message, and the home stays
 * readable.
 */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import type { App } from '../../src/app.ts'
import type { Command } from '../../src/commands/lib/command.ts'
import { type InputField, inputFields } from '../../src/commands/lib/input-fields.ts'
import { loadCommands } from '../../src/commands/lib/registry.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { assertReopens, undefinedIfRefused } from '../support/garbage-assertions.ts'
import { anyNumber, anyText, anyValue, checkProperty, megabyteText, TIMES } from '../support/garbage-values.ts'
import { freshFolder, openApp } from '../support/open-app.ts'

const COMMANDS = await loadCommands()

/** These run until they are stopped, or stop the kernel; see home-commands.test.ts. */
const EXCLUDED = ['start', 'stop', 'attach', 'mcp serve', 'logs', 'restore', 'once', 'init']
  // These ask the machine's npm and service manager.
  .concat('upgrade', 'service install', 'service uninstall', 'service status')
const ASKED: readonly Command[] = COMMANDS.filter(({ name }) => !EXCLUDED.includes(name))

/** Values for a field: mostly of its own type, so that they get past the validation. */
function generated(
  { type, choices, isPath }: InputField,
  known: readonly string[],
  folder: string,
): fc.Arbitrary<unknown> {
  if (isPath)
    return fc.oneof(
      fc.constantFrom('', '/dev/null', '/proc/self', folder),
      anyText.map((name) => `${folder}/${name.replaceAll('..', '')}`),
    )
  switch (type) {
    case 'number':
      return fc.oneof({ arbitrary: anyNumber, weight: 4 }, anyValue)
    case 'boolean':
      return fc.oneof({ arbitrary: fc.boolean(), weight: 4 }, anyValue)
    case 'enum':
      return fc.oneof({ arbitrary: fc.constantFrom(...choices), weight: 4 }, anyValue)
    case 'string':
      return fc.oneof(
        { arbitrary: anyText, weight: 10 },
        { arbitrary: fc.constantFrom('default', ...known), weight: 8 },
        { arbitrary: fc.constantFrom(...TIMES), weight: 3 },
        { arbitrary: anyValue, weight: 2 },
        { arbitrary: megabyteText, weight: 1 },
      )
    default:
      return anyValue
  }
}

function inputOf(command: Command, known: readonly string[], folder: string): fc.Arbitrary<unknown> {
  const fields = inputFields(command)
  const required = fields.filter((field) => field.required).map(({ key }) => key)
  const typedValue = fc.record(
    Object.fromEntries(fields.map((field) => [field.key, generated(field, known, folder)])),
    {
      requiredKeys: required,
    },
  )
  return fc.oneof(
    { arbitrary: typedValue, weight: 12 },
    { arbitrary: anyValue, weight: 1 },
    {
      arbitrary: fc.tuple(typedValue, anyText, anyValue).map(([input, key, value]) => ({ ...input, [key]: value })),
      weight: 1,
    },
  )
}

/** Ids that exist in the home. */
async function idsIn(app: App): Promise<readonly string[]> {
  const { dispatch_id, session_id } = await app.run('run', { task: 'something' })
  await app.run('schedule add', { id: 'known', prompt: 'x', every: '1h' })
  await app.run('agent new', { sentence: 'watch the news every hour', id: 'known', here: '/' })
  await app.run('secrets set', { name: 'KNOWN', value: 'a-known-secret' })
  return [dispatch_id, session_id, 'known', 'KNOWN', 'solo', 'scripted/model', 'per_day_usd', 'STATE.md', 'console']
}

async function runWithGarbage(t: TestContext, commands: readonly Command[], runs: number): Promise<void> {
  const folder = freshFolder(t, 'garbage')
  mkdirSync(join(folder, 'inside'))
  const options = { home: freshFolder(t), model: scriptedModel(() => ({ text: 'done' })) }
  const app = await openApp(t, options)
  const known = await idsIn(app)
  for (const command of commands)
    await t.test(`${command.name}: any input succeeds or is refused with a message`, () =>
      checkProperty(runs, inputOf(command, known, join(folder, 'inside')), async (input) => {
        await undefinedIfRefused(() => app.runByName(command.name, input))
      }),
    )
  await t.test('afterwards the home opens, and everything in it can be read', async () => {
    await (await assertReopens(t, app, options)).close()
  })
}

test('commands of the queue, its sessions and its schedules accept or refuse any input', (t) =>
  runWithGarbage(
    t,
    ASKED.filter(({ name }) => /^(run|enqueue|send|queue|sessions|schedule|simulate|cycle)/.test(name)),
    8,
  ))

test('all other commands accept or refuse any input', (t) =>
  runWithGarbage(
    t,
    ASKED.filter(({ name }) => !/^(run|enqueue|send|queue|sessions|schedule|simulate|cycle)/.test(name)),
    4,
  ))
