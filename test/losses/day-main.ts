/**
 * One day in a home, in a process of its own that may be killed: `day-main.ts HOME LEDGER SEED DAY SHIFT_MS`. The owner
 * and agents write, undo and fail, the disk is full for a while. What the owner wrote is in the ledger before it is
 * written.
 */

import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { type App, createApp } from '../../src/app.ts'
import { scriptedWork, type WorkStep } from '../support/scripted-work.ts'
import { createDice } from '../undo/random-work.ts'

const [home = '', ledger = '', seed = '', day = '', shift = '0'] = process.argv.slice(2)
const dice = createDice(Number(seed) * 7919 + Number(day) * 104_729 + 17)
const workspace = join(home, 'workspaces/writer')
const NAMES = ['a.txt', 'b.md', 'sub/c.md', 'sub/deep/d', '报告 一.md', '.env', 'lib/x.sh'] as const
const pick = <T>(from: readonly T[]): T => from[dice(from.length)] as T

/** Texts of the owner are found again by their content, wherever they are kept. */
let count = 0
function nextCount(): number {
  count += 1
  return count
}
const newText = (): string => `owner ${seed}-${day}-${nextCount()} ${dice(2 ** 30).toString(36)} 文\n`
const note = (line: object): void => appendFileSync(ledger, `${JSON.stringify(line)}\n`, { flush: true })

/** What the owner replaces or deletes himself is no loss. */
function noteReplaced(file: string): void {
  if (!existsSync(file) || !lstatSync(file).isFile()) return
  note({ replaced: readFileSync(file, 'utf8') })
}

function ownerWrites(): void {
  const file = join(workspace, pick(NAMES))
  try {
    mkdirSync(dirname(file), { recursive: true })
    noteReplaced(file)
    const text = newText()
    writeFileSync(file, text)
    if (readFileSync(file, 'utf8') === text) note({ file: text })
  } catch {}
}

function ownerDeletes(): void {
  const file = join(workspace, pick(NAMES))
  noteReplaced(file)
  if (existsSync(file) && lstatSync(file).isFile()) rmSync(file)
}

/** An agent's work is as careless as it gets. */
function agentStep(): WorkStep {
  const [name, other, kind, text] = [pick(NAMES), pick(NAMES), dice(6), `agent ${dice(2 ** 30)}\n`]
  return (root) => {
    const file = join(root, name)
    if (kind === 0) rmSync(file, { recursive: true, force: true })
    else if (kind === 1) rmSync(join(root, 'sub'), { recursive: true, force: true })
    else if (kind === 2 && existsSync(file)) {
      rmSync(join(root, other), { recursive: true, force: true })
      mkdirSync(dirname(join(root, other)), { recursive: true })
      if (existsSync(file)) renameSync(file, join(root, other))
    } else if (kind === 3) throw new Error('the step fails')
    else {
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
    }
  }
}

const attempt = async (work: () => unknown): Promise<void> => {
  try {
    await work()
  } catch {}
}

async function withFullDisk(work: () => Promise<void>): Promise<void> {
  const filler = join(home, '..', 'filler')
  const { bavail, bsize } = statfsSync(home)
  try {
    execFileSync('fallocate', ['-l', String(Math.max(1, bavail * bsize - dice(40) * 1024)), filler])
    await work()
  } finally {
    rmSync(filler, { force: true })
  }
}

function lockSome(): (() => void) | undefined {
  const names = existsSync(workspace)
    ? readdirSync(workspace).filter((name) => lstatSync(join(workspace, name)).isFile())
    : []
  const name = names.length > 0 ? pick(names) : undefined
  if (name === undefined) return undefined
  try {
    execFileSync('chattr', ['+i', join(workspace, name)], { stdio: 'ignore' })
    return () => execFileSync('chattr', ['-i', join(workspace, name)], { stdio: 'ignore' })
  } catch {
    return undefined
  }
}

async function liveThroughIt(app: App, work: ReturnType<typeof scriptedWork>): Promise<void> {
  const run = (): Promise<void> =>
    attempt(() => work.run(app, Array.from({ length: 1 + dice(3) }, agentStep), pick(['writer', 'other'])))
  const undo = (): Promise<void> =>
    attempt(() => app.run('undo', { target: pick(['last', 'last', 'today', 'yesterday']), yes: true }))
  const ACTIONS: readonly (() => void | Promise<void>)[] = [
    ownerWrites,
    ownerWrites,
    ownerWrites,
    ownerDeletes,
    run,
    run,
    run,
    undo,
    undo,
    async () => {
      const unlock = lockSome()
      await undo()
      unlock?.()
    },
    () => withFullDisk(pick([run, undo, undo])),
    async () => {
      const text = newText()
      await attempt(async () => {
        await app.run('agent edit', { id: 'writer', role: text })
        note({ file: text })
      })
    },
    () =>
      attempt(async () => {
        const [name, value] = [`S${dice(5)}`, newText().trim().replaceAll(' ', '_')]
        await withMaybeFullDisk(() => app.run('secrets set', { name, value }))
        note({ secret: [name, value] })
      }),
    () =>
      attempt(async () => {
        const per_day_usd = 1 + dice(50)
        await withMaybeFullDisk(() => app.run('budget set', { key: 'per_day_usd', value: String(per_day_usd) }))
        note({ budget: per_day_usd })
      }),
    () => {
      const file = join(home, 'kernels/default/STATE.md')
      if (!existsSync(file)) return
      const text = newText()
      writeFileSync(file, `${readFileSync(file, 'utf8')}\n${text}`)
      note({ file: text })
    },
    () => attempt(() => app.run('once', {})),
  ]
  for (let left = 4 + dice(8); left > 0; left -= 1) await pick(ACTIONS)()
}

async function withMaybeFullDisk(work: () => Promise<unknown>): Promise<void> {
  if (dice(3) > 0) await work()
  else await withFullDisk(async () => void (await work()))
}

const work = scriptedWork()
const clock = { ...systemClock, now: () => systemClock.now() + Number(shift) }
const app = await createApp({ home, clock, model: work.model, tools: [work.tool], ownsProcess: true })
process.stdout.write('lives\n')
await liveThroughIt(app, work)
// A store that could not commit on a full disk ends its process; the next day starts a new one.
await attempt(() => app.close())
note({ day })
