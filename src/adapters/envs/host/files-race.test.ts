/** Case 37 under attack: another process swaps a folder for a link to the outside, as fast as it can, while we read and write. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { rootedFiles } from './files.ts'

/** It tidies up after folders that we may have made in its way, and ends with us. */
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
      tried(() => fs.lstatSync(dir).isSymbolicLink() ? fs.unlinkSync(dir) : fs.existsSync(hidden) && fs.rmSync(dir, { recursive: true }))
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

const MOST = 20_000
const ENOUGH = 25

/** Goes on until success and refusal were both met often enough for the race to have been one. */
async function contested(attempt: (n: number) => Promise<boolean>): Promise<void> {
  const met = { through: 0, refused: 0 }
  for (let n = 0; n < MOST && Math.min(met.through, met.refused) < ENOUGH; n += 1)
    met[(await attempt(n)) ? 'through' : 'refused'] += 1
  assert.ok(Math.min(met.through, met.refused) >= ENOUGH, `the race was never close: ${JSON.stringify(met)}`)
}

describe('a folder swapped for a link meanwhile', { skip: !fs.existsSync('/proc/self/fd') && 'needs /proc' }, () => {
  test('case 37: never lets a read through to the outside', () =>
    underAttack(async ({ root }) => {
      const file = rootedFiles(root)
      await contested(async () => {
        const found = await file.read('dir/file').catch(() => undefined)
        assert.notEqual(found?.text, 'secret')
        return found !== undefined
      })
    }))

  test('case 37: never lets a write through to the outside', () =>
    underAttack(async ({ root, outside }) => {
      const file = rootedFiles(root)
      const sha = (text: string) => createHash('sha256').update(text).digest('hex')
      let [current, next] = ['A', 'B']
      await contested(async () => {
        const written = await file.write('dir/same', next, sha(current)).catch(() => undefined)
        assert.equal(fs.readFileSync(join(outside, 'same'), 'utf8'), 'A')
        if (written) [current, next] = [next, current]
        return written !== undefined
      })
    }))

  test('case 37: never lets a folder or a new file be made outside', () =>
    underAttack(async ({ root, outside }) => {
      const file = rootedFiles(root)
      await contested(async (n) => {
        const written = await file.write(`dir/sub-${n}/new`, 'x', null).catch(() => undefined)
        assert.equal(fs.existsSync(join(outside, `sub-${n}`)), false)
        return written !== undefined
      })
    }))

  test('case 37: never lists the outside', () =>
    underAttack(async ({ root, outside }) => {
      fs.writeFileSync(join(outside, 'only-outside'), '')
      const file = rootedFiles(root)
      await contested(async () => {
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
