/** Generated words on the command line: an exit code that means something, words on stderr, never a stack. */

import { test } from 'node:test'
import fc from 'fast-check'
import { inputFields } from '../../src/commands/lib/input-fields.ts'
import { COMMANDS } from '../../src/commands/lib/registry.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { spawnTireless, tireless } from '../support/command-line.ts'
import { assertCleanExit, assertReopens } from '../support/garbage-homes.ts'
import { anyText, checkProperty } from '../support/garbage-values.ts'
import { freshFolder, openApp } from '../support/open-app.ts'

/** Those go on until they are ended, end the one who is asked, or ask for more; see home-commands.test.ts. */
const LEFT_OUT = ['start', 'stop', 'attach', 'mcp serve', 'logs', 'restore', 'once', 'init', 'secrets set', 'backup']
const VERBS = COMMANDS.filter(({ name }) => !LEFT_OUT.includes(name))

/** No process can be given a NUL or half a character. */
const word = anyText.filter((said) => said.isWellFormed() && !said.includes('\0'))

const line: fc.Arbitrary<readonly string[]> = fc.constantFrom(...VERBS).chain((command) => {
  const flags = inputFields(command)
    .filter(({ isPath }) => !isPath)
    .map(({ key }) => `--${key.replaceAll('_', '-')}`)
  const option = fc
    .tuple(fc.constantFrom('--json', '--no-such', ...flags), word)
    .map(([flag, said]) => `${flag}=${said}`)
  const rest = fc.array(fc.oneof({ arbitrary: option, weight: 3 }, word), { maxLength: 4 })
  return rest.map((words) => [...command.name.split(' '), ...words])
})

test('the command line, whatever its words', async (t) => {
  const options = { home: freshFolder(t), model: scriptedModel(() => ({ text: 'done' })) }
  const app = await openApp(t, options)
  await t.test('every verb with options that are none', () =>
    checkProperty(120, line, async (words) => assertCleanExit(await tireless(options.home, ...words))),
  )
  await t.test('a few of them in processes of their own', () =>
    checkProperty(3, line, async (words) => assertCleanExit(await spawnTireless(options.home, ...words))),
  )
  await t.test('afterwards the home opens, and everything in it can be read', async () => {
    await (await assertReopens(t, app, options)).close()
  })
})
