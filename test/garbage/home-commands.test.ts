/**
 * Generated words for commands that hold, create, replace or follow a home: a documented exit code, a message, and a
 * home that opens.
 */

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { startKernelIn, tireless } from '../support/command-line.ts'
import { assertCleanExit, assertReopens } from '../support/garbage-assertions.ts'
import { anyNumber, anyText, checkProperty } from '../support/garbage-values.ts'
import { freshFolder, openApp } from '../support/open-app.ts'

/** A process cannot be given a NUL or half a character. `logs --follow` and help in a pipe would never end. */
const word = anyText.filter((output) => output.isWellFormed() && !output.includes('\0') && !/^-[a-z]*f/i.test(output))

const MODEL = scriptedModel(() => ({ text: 'done' }))

/** A home with a kernel that has an agent, and a model that needs no network. */
function kernelHome(t: TestContext): string {
  const home = freshFolder(t)
  const kernel = { agents: [{ agent_id: 'a', prompt: 'work' }], max_attempts: 1 }
  const yaml = { kernel, sandbox: 'off', models: { default: 'offline/echo' }, server: { port: 0 } }
  writeFileSync(join(home, 'tireless.yaml'), JSON.stringify(yaml))
  return home
}

/** Half of the words are the command's own options with any value, so that they get past the parser. */
const words = (...flags: readonly string[]): fc.Arbitrary<readonly string[]> => {
  const value = fc.oneof(anyNumber.map(String), word)
  const option = (...names: readonly string[]): fc.Arbitrary<string> =>
    fc.tuple(fc.constantFrom(...names), value).map(([flag, given]) => `${flag}=${given}`)
  const anyWords = fc.array(fc.oneof({ arbitrary: option('--json', '--no-such', ...flags), weight: 3 }, word), {
    maxLength: 3,
  })
  return flags.length === 0 ? anyWords : fc.oneof(fc.array(option(...flags), { minLength: 1, maxLength: 2 }), anyWords)
}

async function assertHomeOpens(t: TestContext, home: string): Promise<void> {
  const options = { home, model: MODEL }
  await (await assertReopens(t, await openApp(t, options), options)).close()
}

describe('commands that hold a home', () => {
  for (const [name, own, runs] of [
    ['start', ['--max-minutes'], 25],
    ['once', [], 15],
  ] as const)
    test(`${name} with any words`, async (t) => {
      const home = kernelHome(t)
      const given = name === 'start' ? ['--until-idle'] : []
      await checkProperty(runs, words(...own), async (rest) =>
        assertCleanExit(await tireless(home, name, ...given, ...rest)),
      )
      await assertHomeOpens(t, home)
    })

  test('start beside a running one is refused with any words, and the running one is not affected', async (t) => {
    const home = kernelHome(t)
    const holder = await startKernelIn(t, home)
    await checkProperty(10, words('--max-minutes'), async (rest) => {
      const output = await tireless(home, 'start', '--until-idle', ...rest)
      assert.ok([2, 75].includes(output.exit ?? -1) || rest.includes('--help'), `exit ${output.exit}: ${output.stderr}`)
    })
    assert.equal((await tireless(home, 'stop', '--now')).exit, 0)
    assert.equal(holder.exitCode ?? 0, 0)
  })
})

test('init with any words: the result is a home that opens', async (t) => {
  const folder = freshFolder(t, 'homes')
  let n = 0
  await checkProperty(25, words('--here'), async (rest) => {
    n += 1
    const home = join(folder, `home-${n}`)
    // Without a terminal it asks no question.
    assertCleanExit(await tireless(home, 'init', ...rest, '--yes'))
    if (existsSync(join(home, 'tireless.yaml'))) assertCleanExit(await tireless(home, 'config', 'check'))
  })
})

test('restore with any words: anything but a backup is refused, and the home stays unchanged', async (t) => {
  const home = kernelHome(t)
  await tireless(home, 'once')
  const folder = freshFolder(t, 'backups')
  for (const name of ['empty', 'half']) mkdirSync(join(folder, name))
  writeFileSync(join(folder, 'half', 'manifest.json'), '{"files": [')
  writeFileSync(join(folder, 'file'), 'not a folder')
  const places = ['empty', 'half', 'file', 'none'].map((name) => join(folder, name))
  const dir = fc.oneof(fc.constantFrom('/dev/null', '/proc/self', '/', home, ...places), word)
  const line = fc.tuple(dir, words('--dir')).map(([first, rest]) => [first, ...rest])
  await checkProperty(30, line, async (rest) => {
    const output = await tireless(home, 'restore', ...rest)
    assertCleanExit(output)
    assert.ok(output.exit !== 0 || rest.includes('--help'), `restored from ${JSON.stringify(rest)}`)
  })
  await assertHomeOpens(t, home)
})

test('logs and attach with any words', async (t) => {
  const home = kernelHome(t)
  await tireless(home, 'once')
  await checkProperty(30, words('--lines'), async (rest) => assertCleanExit(await tireless(home, 'logs', ...rest)))
  // No kernel is running there, so there is nothing to attach to.
  await checkProperty(15, words(), async (rest) => {
    const output = await tireless(home, 'attach', ...rest)
    assertCleanExit(output)
    assert.ok(output.exit !== 0 || rest.includes('--help'))
  })
  await assertHomeOpens(t, home)
})
