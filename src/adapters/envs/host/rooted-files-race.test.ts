/** Case 37: another process keeps swapping a folder for a link to the outside while files are read and written. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createRootedFiles } from './rooted-files.ts'

/** Removes folders that the test may have created in between, and exits when the test does. */
const SWAPPER = `
  const fs = require('node:fs')
  const [dir, hidden, outside] = process.argv.slice(1)
  const tried = (work) => { try { work() } catch {} }
  process.stdin.on('data', () => {}).on('end', () => process.exit())
  process.stdout.write('ready')
  const swap = () => {
    for (let n = 0; n < 200; n += 1) {
      tried(() => fs.renameSync(dir, hidden))
      tried(() => fs.symlinkSync(outside, dir))
      tried(() => {
        if (fs.lstatSync(dir).isSymbolicLink()) fs.unlinkSync(dir)
        else if (fs.existsSync(hidden)) fs.rmSync(dir, { recursive: true })
      })
      tried(() => fs.renameSync(hidden, dir))
    }
    setImmediate(swap)
  }
  swap()
`

async function underAttack(work: (world: { root: string; outside: string }) => Promise<void>): Promise<void> {
  const base = fs.realpathSync(fs.mkdtempSync(join(os.tmpdir(), 'tireless-race-')))
  const [root, outside] = [join(base, 'ws'), join(base, 'outside')]
  for (const [folder, text] of [
    [join(root, 'dir'), 'inside'],
    [outside, 'secret'],
  ] as const) {
    fs.mkdirSync(folder, { recursive: true })
    fs.writeFileSync(join(folder, 'file'), text)
    fs.writeFileSync(join(folder, 'same'), 'A')
  }
  const swapper = spawn(process.execPath, ['-e', SWAPPER, join(root, 'dir'), join(root, 'hidden'), outside], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const gone = new Promise((resolve) => swapper.once('exit', resolve))
  try {
    await new Promise((resolve) => swapper.stdout.once('data', resolve))
    await work({ root, outside })
  } finally {
    swapper.kill('SIGKILL')
    await gone
  }
  assert.deepEqual(fs.readdirSync(outside).sort(), ['file', 'same'])
  assert.equal(fs.readFileSync(join(outside, 'file'), 'utf8'), 'secret')
  assert.equal(fs.readFileSync(join(outside, 'same'), 'utf8'), 'A')
  fs.rmSync(base, { recursive: true, force: true })
}

const MAX_ATTEMPTS = 20_000
const MIN_OF_EACH = 25

/** Repeats until success and refusal both occurred often enough to prove that there was a race. */
async function raceUntilBoth(attempt: (n: number) => Promise<boolean>): Promise<void> {
  const outcomes = { through: 0, refused: 0 }
  for (let n = 0; n < MAX_ATTEMPTS && Math.min(outcomes.through, outcomes.refused) < MIN_OF_EACH; n += 1)
    outcomes[(await attempt(n)) ? 'through' : 'refused'] += 1
  assert.ok(
    Math.min(outcomes.through, outcomes.refused) >= MIN_OF_EACH,
    `no real race happened: ${JSON.stringify(outcomes)}`,
  )
}

describe('a folder that is swapped for a link', { skip: !fs.existsSync('/proc/self/fd') && 'needs /proc' }, () => {
  test('case 37: never lets a read through to the outside', () =>
    underAttack(async ({ root }) => {
      const file = createRootedFiles(root)
      await raceUntilBoth(async () => {
        const found = await file.read('dir/file').catch(() => undefined)
        assert.notEqual(found?.text, 'secret')
        return found !== undefined
      })
    }))

  test('case 37: never lets a write through to the outside', () =>
    underAttack(async ({ root, outside }) => {
      const file = createRootedFiles(root)
      const sha = (text: string) => createHash('sha256').update(text).digest('hex')
      let [current, next] = ['A', 'B']
      await raceUntilBoth(async () => {
        const written = await file.write('dir/same', next, sha(current)).catch(() => undefined)
        assert.equal(fs.readFileSync(join(outside, 'same'), 'utf8'), 'A')
        if (written) [current, next] = [next, current]
        return written !== undefined
      })
    }))

  test('case 37: never lets a folder or a new file be created outside', () =>
    underAttack(async ({ root, outside }) => {
      const file = createRootedFiles(root)
      await raceUntilBoth(async (n) => {
        const written = await file.write(`dir/sub-${n}/new`, 'x', null).catch(() => undefined)
        assert.equal(fs.existsSync(join(outside, `sub-${n}`)), false)
        return written !== undefined
      })
    }))

  test('case 37: never lists the outside', () =>
    underAttack(async ({ root, outside }) => {
      fs.writeFileSync(join(outside, 'only-outside'), '')
      const file = createRootedFiles(root)
      await raceUntilBoth(async () => {
        const { entries } = await file.list('.', 3, 100)
        assert.equal(
          entries.some((entry) => entry.path.endsWith('only-outside')),
          false,
        )
        return entries.some((entry) => entry.path === 'dir/file')
      })
      fs.rmSync(join(outside, 'only-outside'))
    }))
})
