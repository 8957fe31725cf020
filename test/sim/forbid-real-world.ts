/**
 * Replaces everything that a simulation must not touch: clocks, timers, randomness, the network, other processes. Each
 * use throws and is recorded.
 */

import childProcess from 'node:child_process'
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import timers from 'node:timers'
import timersPromises from 'node:timers/promises'

export interface RealWorldGuard {
  /** Every forbidden use. The program may catch the error that it throws; this list still shows it. */
  readonly attempts: readonly string[]
  restore(): void
}

type Target = readonly [name: string, owner: object, keys: readonly string[]]

const FORBIDDEN: readonly Target[] = [
  ['globalThis', globalThis, ['setTimeout', 'setInterval', 'setImmediate', 'fetch']],
  ['timers', timers, ['setTimeout', 'setInterval', 'setImmediate']],
  ['timers/promises', timersPromises, ['setTimeout', 'setInterval', 'setImmediate']],
  ['Math', Math, ['random']],
  ['performance', performance, ['now']],
  ['process', process, ['hrtime']],
  ['AbortSignal', AbortSignal, ['timeout']],
  ['crypto', crypto, ['randomUUID', 'randomBytes', 'randomInt', 'randomFillSync']],
  ['globalThis.crypto', globalThis.crypto, ['randomUUID', 'getRandomValues']],
  ['net', net, ['connect', 'createConnection', 'createServer']],
  ['child_process', childProcess, ['spawn', 'exec', 'execFile', 'fork', 'spawnSync', 'execSync', 'execFileSync']],
]

export function forbidRealWorld(): RealWorldGuard {
  const attempts: string[] = []
  const refuse = (what: string): never => {
    attempts.push(what)
    throw new Error(`a simulation used ${what}`)
  }
  const undo = FORBIDDEN.flatMap(([name, owner, keys]) =>
    keys.map((key) => replace(owner, key, () => refuse(`${name}.${key}`))),
  )
  undo.push(replace(globalThis, 'Date', forbiddenDate(refuse)))
  syncBuiltinESMExports()
  return {
    attempts,
    restore() {
      for (const undoOne of undo) undoOne()
      syncBuiltinESMExports()
    },
  }
}

/** A Date that is given an instant is allowed; only reading the current time is forbidden. */
function forbiddenDate(refuse: (what: string) => never): DateConstructor {
  return class extends Date {
    constructor(...given: readonly unknown[]) {
      if (given.length === 0) refuse('new Date()')
      super(...(given as [number]))
    }
    static override now(): number {
      return refuse('Date.now')
    }
  } as DateConstructor
}

function replace(owner: object, key: string, value: unknown): () => void {
  const own = Object.getOwnPropertyDescriptor(owner, key)
  Object.defineProperty(owner, key, { value, configurable: true, writable: true })
  return () => {
    if (own) Object.defineProperty(owner, key, own)
    else Reflect.deleteProperty(owner, key)
  }
}
