/** Random work in a workspace: files, folders, links, permissions, commits, STATE.md and facts; the same for a seed. */

import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { WorkStep } from '../support/scripted-work.ts'

/** Contract: numbers from 0 up to, not including, `n`. */
export type Dice = (n: number) => number

export function createDice(seed: number): Dice {
  let state = seed >>> 0 || 1
  return (n) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % n
  }
}

const NAMES = ['a.txt', 'b.bin', 'sub/c.md', 'sub/deep/d', 'e f', 'lib/x.sh', 'ünï', 'sub']
const FILE_MODES = [0o644, 0o755, 0o600, 0o664, 0o444, 0o711]
const FOLDER_MODES = [0o755, 0o700, 0o775, 0o555]
const KEYS = ['tea', 'milk', 'host', '语言']
const SECTIONS = ['notes', 'plans']

type FileWork = (root: string, dice: Dice) => void

const FILE_WORK: readonly FileWork[] = [
  (root, dice) => write(root, dice, pick(dice, NAMES)),
  (root, dice) => write(root, dice, pick(dice, NAMES)),
  (root, dice) => rmSync(join(root, pick(dice, NAMES)), { recursive: true, force: true }),
  (root, dice) => mkdirSync(join(root, `empty${dice(3)}/inner`), { recursive: true }),
  (root, dice) => chmodSome(root, dice),
  (root, dice) => {
    const link = join(root, `link${dice(2)}`)
    rmSync(link, { recursive: true, force: true })
    symlinkSync(pick(dice, ['/etc/passwd', 'sub', '../..', 'nowhere']), link)
  },
  (root, dice) => {
    const from = join(root, pick(dice, NAMES))
    if (existsSync(from)) renameSync(from, join(root, `moved${dice(1000)}`))
  },
  (root, dice) => commitAll(dice(4) === 0 ? join(root, 'nested') : root, dice),
  (root, dice) => commitAll(root, dice),
  (root, dice) => {
    for (let n = dice(30); n >= 0; n -= 1) write(root, dice, `many/${dice(4)}/${n}`)
  },
]

const pick = <T>(dice: Dice, from: readonly T[]): T => from[dice(from.length)] as T

function write(root: string, dice: Dice, path: string): void {
  const file = join(root, path)
  for (let parent = dirname(file); parent !== root; parent = dirname(parent))
    if (existsSync(parent) && !lstatSync(parent).isDirectory()) rmSync(parent)
  rmSync(file, { recursive: true, force: true })
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, Buffer.from(Array.from({ length: dice(40) }, () => dice(256))))
}

function chmodSome(root: string, dice: Dice): void {
  const names = readdirSync(root).filter((name) => name !== '.git' && !lstatSync(join(root, name)).isSymbolicLink())
  if (names.length === 0) return
  const path = join(root, pick(dice, names))
  chmodSync(path, pick(dice, lstatSync(path).isDirectory() ? FOLDER_MODES : FILE_MODES))
}

function commitAll(folder: string, dice: Dice): void {
  mkdirSync(folder, { recursive: true })
  const git = (...args: string[]): unknown =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { stdio: 'pipe' })
  if (!existsSync(join(folder, '.git'))) git('init', '-q')
  git('add', '-A')
  git('commit', '-qm', `change ${dice(1000)}`, '--allow-empty')
}

/** Work that a folder without write permission refuses is part of a random day. */
const tolerant =
  (work: FileWork, seed: number) =>
  (root: string): void => {
    try {
      work(root, createDice(seed))
    } catch {}
  }

export function randomSteps(dice: Dice): readonly WorkStep[] {
  return Array.from({ length: 1 + dice(4) }, (): WorkStep => {
    const kind = dice(10)
    if (kind === 0) return { tool: 'remember', args: { key: pick(dice, KEYS), text: `text ${dice(1000)}` } }
    if (kind === 1)
      return {
        tool: 'edit_state',
        args: { section: pick(dice, SECTIONS), text: `line ${dice(1000)}\nline ${dice(9)}` },
      }
    return tolerant(pick(dice, FILE_WORK), dice(2 ** 31))
  })
}
