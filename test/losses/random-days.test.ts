/**
 * Random days in which owner and agents write, undo and fail, disks are full, processes are killed, homes are moved and
 * restored, and clocks jump: nothing of the owner's is lost. `LOSS_DAYS=1000` lives through more (`npm test`: 16).
 */

import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { parse } from 'yaml'
import { endBeforeRemoving, freshFolder } from '../support/open-app.ts'
import { WORK_YAML } from '../support/scripted-work.ts'
import { createDice } from '../undo/random-work.ts'

const DAYS = Number(process.env.LOSS_DAYS ?? 16)
const SEED = Number(process.env.LOSS_SEED ?? 1)
/** Days that one home lives through. */
const LIFE = 16
const DAY_MS = 86_400_000
const CHILD = join(import.meta.dirname, 'day-main.ts')

/** A file system of its own, so that it can be full; a folder if the machine refuses that. */
function smallDisk(t: TestContext): string {
  const folder = freshFolder(t, 'losses')
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', folder], { stdio: 'ignore' })
    endBeforeRemoving(folder, async () => {
      execFileSync('umount', ['-l', folder], { stdio: 'ignore' })
    })
  } catch {
    t.diagnostic('no small file system here: full disks are left out')
  }
  return folder
}

function livesDay(args: readonly string[], killAfterMs: number | undefined): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', CHILD, ...args])
    let output = ''
    child.stderr.on('data', (data) => {
      output += data
    })
    const kill = (): void => {
      if (killAfterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), killAfterMs)
    }
    child.stdout.once('data', kill)
    child.on('close', (code, signal) => resolve(code === 0 || signal === 'SIGKILL' ? '' : `exit ${code}: ${output}`))
  })
}

interface Ledger {
  readonly files: readonly string[]
  readonly secrets: ReadonlyMap<string, string>
  readonly budget: number | undefined
}

function readLedger(file: string): Ledger {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
  const replaced = new Set(lines.map((line) => line.replaced))
  return {
    files: lines.flatMap(({ file: text }) => (text === undefined || replaced.has(text) ? [] : [text])),
    secrets: new Map(lines.flatMap(({ secret }) => (secret ? [secret] : []))),
    budget: lines.findLast(({ budget }) => budget !== undefined)?.budget,
  }
}

/** Every file under the folder, by its bytes; and every object of the snapshots, by its id. */
function everythingIn(folder: string): { texts: string; objects: ReadonlySet<string> } {
  const texts: string[] = []
  const objects = new Set<string>()
  const visit = (path: string): void => {
    const stats = lstatSync(path)
    if (stats.isDirectory()) for (const name of readdirSync(path)) visit(join(path, name))
    else if (/objects\/[0-9a-f]{2}\/[0-9a-f]{38}$/.test(path)) objects.add(path.slice(-41).replace('/', ''))
    else if (stats.isFile() && stats.size < 1_000_000) texts.push(readFileSync(path, 'utf8'))
  }
  visit(folder)
  return { texts: texts.join('\n'), objects }
}

const blobId = (text: string): string =>
  createHash('sha1')
    .update(`blob ${Buffer.byteLength(text)}\0${text}`)
    .digest('hex')

/** Versions of documents are in the database only. */
function documentTexts(home: string): string {
  const file = join(home, 'tireless.db')
  if (!existsSync(file)) return ''
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    return db
      .prepare('SELECT text FROM documents')
      .all()
      .map(({ text }) => String(text))
      .join('\n')
  } finally {
    db.close()
  }
}

function findLosses(home: string, ledger: Ledger): readonly string[] {
  const { texts, objects } = everythingIn(home)
  const documents = documentTexts(home)
  const files = ledger.files.filter(
    (text) => !texts.includes(text.trim()) && !objects.has(blobId(text)) && !documents.includes(text.trim()),
  )
  const stored = JSON.parse(
    existsSync(join(home, 'secrets.json')) ? readFileSync(join(home, 'secrets.json'), 'utf8') : '{"secrets":{}}',
  )
  const secrets = [...ledger.secrets].flatMap(([name]) => (stored.secrets[name] ? [] : [`secret ${name}`]))
  const config = readFileSync(join(home, 'tireless.yaml'), 'utf8')
  const isWhole = config.includes('# the owner’s comment') && parse(config).budget !== null
  return [...files, ...secrets, ...(isWhole ? [] : [`tireless.yaml: ${config}`])]
}

/** Contract: where the home is afterwards. */
function moveHome(home: string, dice: (n: number) => number, day: number): string {
  const to = join(home, '..', `home-${day}`)
  if (dice(2) === 0) renameSync(home, to)
  else {
    // A copy, whose original is gone, as after a new machine.
    cpSync(home, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
    rmSync(home, { recursive: true })
  }
  return to
}

for (let life = 0; life * LIFE < DAYS; life += 1)
  test(`O7, E6, E17: ${LIFE} random days lose nothing of the owner's, life ${SEED + life}`, async (t) => {
    const disk = smallDisk(t)
    const seed = SEED + life
    const dice = createDice(seed * 31 + 7)
    const ledger = join(freshFolder(t, 'ledger'), 'ledger.jsonl')
    writeFileSync(ledger, '')
    let home = join(disk, 'home')
    mkdirSync(home, { mode: 0o700 })
    writeFileSync(join(home, 'tireless.yaml'), `# the owner’s comment\n${WORK_YAML}`)
    for (let day = 0; day < LIFE; day += 1) {
      const jump = dice(6) === 0 ? (dice(800) - 400) * DAY_MS : 0
      const killAfterMs = dice(3) === 0 ? dice(3000) : undefined
      const args = [home, ledger, String(seed), String(day), String(day * DAY_MS + jump)]
      assert.equal(await livesDay(args, killAfterMs), '', `seed ${seed}, day ${day}`)
      assert.deepEqual(findLosses(home, readLedger(ledger)), [], `seed ${seed}, day ${day}`)
      if (dice(5) === 0) home = moveHome(home, dice, day)
    }
  })
