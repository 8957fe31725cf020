/** Generated words on the command line: a documented exit code, a message on stderr, never a stack trace. */

import { test } from 'node:test'
import fc from 'fast-check'
import { inputFields } from '../../src/commands/lib/input-fields.ts'
import { loadCommands } from '../../src/commands/lib/registry.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { spawnTireless, tireless } from '../support/command-line.ts'
import { assertCleanExit, assertReopens } from '../support/garbage-assertions.ts'
import { anyText, checkProperty } from '../support/garbage-values.ts'
import { freshFolder, openApp } from '../support/open-app.ts'

const COMMANDS = await loadCommands()

/** These run until they are stopped, stop the kernel, or ask for more input; see home-commands.test.ts. */
const EXCLUDED = ['start', 'stop', 'attach', 'mcp serve', 'logs', 'restore', 'once', 'init', 'secrets set', 'backup']
  // These ask the machine's npm and service manager.
  .concat('upgrade', 'service install', 'service uninstall', 'service status')
const VERBS = COMMANDS.filter(({ name }) => !EXCLUDED.includes(name))

/** A process cannot be given a NUL or half a character. */
const word = anyText.filter((output) => output.isWellFormed() && !output.includes('\0'))

const line: fc.Arbitrary<readonly string[]> = fc.constantFrom(...VERBS).chain((command) => {
  const flags = inputFields(command)
    .filter(({ isPath }) => !isPath)
    .map(({ key }) => `--${key.replaceAll('_', '-')}`)
  const option = fc
    .tuple(fc.constantFrom('--json', '--no-such', ...flags), word)
    .map(([flag, output]) => `${flag}=${output}`)
  const rest = fc.array(fc.oneof({ arbitrary: option, weight: 3 }, word), { maxLength: 4 })
  return rest.map((words) => [...command.name.split(' '), ...words])
})

test('the command line with any words', async (t) => {
  const options = { home: freshFolder(t), model: scriptedModel(() => ({ text: 'done' })) }
  const app = await openApp(t, options)
  await t.test('every verb with invalid options', () =>
    checkProperty(120, line, async (words) => assertCleanExit(await tireless(options.home, ...words))),
  )
  await t.test('some verbs in processes of their own', () =>
    checkProperty(3, line, async (words) => assertCleanExit(await spawnTireless(options.home, ...words))),
  )
  await t.test('afterwards the home opens, and everything in it can be read', async () => {
    await (await assertReopens(t, app, options)).close()
  })
})
