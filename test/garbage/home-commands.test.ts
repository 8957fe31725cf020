/** Generated words for the commands that hold, make, replace or follow a home: an exit code that means something, words, and a home that opens. */

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { startKernelIn, tireless } from '../support/command-line.ts'
import { assertCleanExit, assertReopens } from '../support/garbage-homes.ts'
import { anyNumber, anyText, checkProperty } from '../support/garbage-values.ts'
import { freshFolder, openApp } from '../support/open-app.ts'

/** No process can be given a NUL or half a character; and whoever follows the log, or is asked for help in a pipe, never ends. */
const word = anyText.filter((said) => said.isWellFormed() && !said.includes('\0') && !/^-[a-z]*f/i.test(said))

const MODEL = scriptedModel(() => ({ text: 'done' }))

/** A home with a kernel that has somebody to send, and a model that needs no network. */
function kernelHome(t: TestContext): string {
  const home = freshFolder(t)
  const kernel = { agents: [{ agent_id: 'a', prompt: 'work' }], max_attempts: 1 }
  const yaml = { kernel, sandbox: 'off', models: { default: 'offline/echo' }, server: { port: 0 } }
  writeFileSync(join(home, 'tireless.yaml'), JSON.stringify(yaml))
  return home
}

/** Half of them the command's own options with any value, so that the command itself gets to see it. */
const words = (...flags: readonly string[]): fc.Arbitrary<readonly string[]> => {
  const value = fc.oneof(anyNumber.map(String), word)
  const option = (...names: readonly string[]): fc.Arbitrary<string> =>
    fc.tuple(fc.constantFrom(...names), value).map(([flag, said]) => `${flag}=${said}`)
  const odd = fc.array(fc.oneof({ arbitrary: option('--json', '--no-such', ...flags), weight: 3 }, word), {
    maxLength: 3,
  })
  return flags.length === 0 ? odd : fc.oneof(fc.array(option(...flags), { minLength: 1, maxLength: 2 }), odd)
}

async function assertOpens(t: TestContext, home: string): Promise<void> {
  const options = { home, model: MODEL }
  await (await assertReopens(t, await openApp(t, options), options)).close()
}

describe('commands that hold a home', () => {
  for (const [name, own, runs] of [
    ['start', ['--max-minutes'], 25],
    ['once', [], 15],
  ] as const)
    test(`${name}, whatever it is told`, async (t) => {
      const home = kernelHome(t)
      const given = name === 'start' ? ['--until-idle'] : []
      await checkProperty(runs, words(...own), async (rest) =>
        assertCleanExit(await tireless(home, name, ...given, ...rest)),
      )
      await assertOpens(t, home)
    })

  test('start beside one that runs, whatever it is told, is refused, and leaves that one alone', async (t) => {
    const home = kernelHome(t)
    const holder = await startKernelIn(t, home)
    await checkProperty(10, words('--max-minutes'), async (rest) => {
      const said = await tireless(home, 'start', '--until-idle', ...rest)
      assert.ok([2, 75].includes(said.exit ?? -1) || rest.includes('--help'), `exit ${said.exit}: ${said.stderr}`)
    })
    assert.equal((await tireless(home, 'stop', '--now')).exit, 0)
    assert.equal(holder.exitCode ?? 0, 0)
  })
})

test('init, whatever it is told: what it writes is a home that opens', async (t) => {
  const folder = freshFolder(t, 'homes')
  let n = 0
  await checkProperty(25, words('--here'), async (rest) => {
    n += 1
    const home = join(folder, `home-${n}`)
    // On no terminal it is asked nothing that it could wait for.
    assertCleanExit(await tireless(home, 'init', ...rest, '--yes'))
    if (existsSync(join(home, 'tireless.yaml'))) assertCleanExit(await tireless(home, 'config', 'check'))
  })
})

test('restore, whatever it is told: what is no backup is refused, and the home is as it was', async (t) => {
  const home = kernelHome(t)
  await tireless(home, 'once')
  const folder = freshFolder(t, 'backups')
  for (const name of ['empty', 'half']) mkdirSync(join(folder, name))
  writeFileSync(join(folder, 'half', 'manifest.json'), '{"files": [')
  writeFileSync(join(folder, 'file'), 'no folder')
  const places = ['empty', 'half', 'file', 'none'].map((name) => join(folder, name))
  const dir = fc.oneof(fc.constantFrom('/dev/null', '/proc/self', '/', home, ...places), word)
  const line = fc.tuple(dir, words('--dir')).map(([first, rest]) => [first, ...rest])
  await checkProperty(30, line, async (rest) => {
    const said = await tireless(home, 'restore', ...rest)
    assertCleanExit(said)
    assert.ok(said.exit !== 0 || rest.includes('--help'), `restored from ${JSON.stringify(rest)}`)
  })
  await assertOpens(t, home)
})

test('logs and attach, whatever they are told', async (t) => {
  const home = kernelHome(t)
  await tireless(home, 'once')
  await checkProperty(30, words('--lines'), async (rest) => assertCleanExit(await tireless(home, 'logs', ...rest)))
  // Nobody is at work there, so there is nothing to be attached to.
  await checkProperty(15, words(), async (rest) => {
    const said = await tireless(home, 'attach', ...rest)
    assertCleanExit(said)
    assert.ok(said.exit !== 0 || rest.includes('--help'))
  })
  await assertOpens(t, home)
})
