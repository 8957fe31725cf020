/** Workspaces of agents that work on todos: one file each, and throw-away copies on which checks read it. */

import { createHash } from 'node:crypto'
import { TirelessError } from '../../../src/domain/error.ts'
import { type Env, type FileOps, provideOps } from '../../../src/ports/env.ts'
import type { SimProcess } from '../process.ts'
import type { World } from '../world.ts'

/** The file that agents write. */
export const RESULT_FILE = 'result.txt'

/** What a check saw of a workspace. */
interface CheckedText {
  readonly event: number
  readonly text: string
}

export class Workspaces {
  readonly #texts = new Map<string, string>()
  /** What each copy was when it was made. */
  readonly #copied = new Map<string, string>()
  readonly #checked = new Map<string, CheckedText[]>()

  /** Adds a line. Repeating a write changes nothing. */
  write(root: string, n: number): void {
    const text = this.textOf(root)
    if (!text.includes(lineOf(n))) this.#texts.set(root, text + lineOf(n))
  }

  textOf(root: string): string {
    return this.#texts.get(root) ?? ''
  }

  /** The copy starts as the original is. */
  copy(from: string, to: string): void {
    this.#texts.set(to, this.textOf(from))
    this.#copied.set(to, this.textOf(from))
  }

  /** Contract: whether something was written to a copy. */
  isChanged(copy: string): boolean {
    return this.textOf(copy) !== (this.#copied.get(copy) ?? '')
  }

  /** Adds the lines of a copy that the original lacks. */
  merge(from: string, into: string): void {
    const lines = this.textOf(from).split('\n').slice(0, -1)
    for (const line of lines)
      if (!this.textOf(into).includes(`${line}\n`)) this.#texts.set(into, `${this.textOf(into)}${line}\n`)
  }

  noteChecked(root: string, checked: CheckedText): void {
    this.#checked.set(root, [...(this.#checked.get(root) ?? []), checked])
  }

  /** Contract: whether a check has seen this text on a copy of the workspace after that event. */
  hasSeen(root: string, wanted: string, since: number): boolean {
    return (this.#checked.get(root) ?? []).some(({ event, text }) => event > since && text.includes(wanted))
  }
}

/** The line that the tool `edit` writes. */
export const lineOf = (n: number): string => `value ${n};\n`

/** Adds copies to the env of a workspace. */
export function withCopies(world: World, proc: SimProcess, env: Env): Env {
  return { ...env, openCopy: () => world.io(proc, 'open', 'copy', () => openCopy(world, proc, env)) }
}

function openCopy(world: World, proc: SimProcess, { root, health }: Env): Env {
  if (world.faults.nextFor('env')) {
    world.counters.add('checks not executed (no copy of the workspace)')
    throw new TirelessError('workspace_refused', 'the folder cannot be copied')
  }
  const text = world.workspaces.textOf(root)
  const read: FileOps['read'] = (path) =>
    world.io(proc, 'copy', path, () => {
      world.workspaces.noteChecked(root, { event: world.events, text })
      return path === RESULT_FILE && text !== '' ? { text, sha: digestOf(text) } : undefined
    })
  const file = { read } as Partial<FileOps> as FileOps
  return { root, access: 'copy', digest: digestOf(text), ...provideOps({ file }), health, async close() {} }
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')
