/**
 * Faults that nobody waits for: a promise that is rejected later, a timer or an event that throws. By default either ends the process, so a
 * tool, a plugin or its library could end the kernel. Here the call that began it fails, the log has it and health says it; the process goes on.
 * What belongs to no app of ours is left to the program that we are part of, unless this process is ours alone.
 */

import { asTirelessError } from '../domain/error.ts'
import { type FaultOwner, faultOwner } from '../ports/fault-owner.ts'
import type { Services } from '../ports/plugin.ts'

/** More are counted, not kept. */
const MOST_KEPT = 5

export interface StrayFaults {
  /** Contract: from now on they are logged. */
  logTo(log: Services['log']): void
  /** What failed outside of any call: something of ours, or of a plugin's, is broken. */
  reasons(): readonly string[]
  /** Of a call that failed, or was over. */
  degraded(): readonly string[]
  close(): void
}

interface Listener extends StrayFaults {
  readonly ownsProcess: boolean
  take(fault: unknown, owner: FaultOwner | undefined): void
}

const apps = new Map<object, Listener>()

/** `ownsProcess`: nobody else has anything running in this process. Contract: call `close` when the app is. */
export function createStrayFaults(app: object, ownsProcess: boolean): StrayFaults {
  const outside: string[] = []
  const inCalls: string[] = []
  let log: Services['log'] | undefined
  const made: Listener = {
    ownsProcess,
    take(fault, owner) {
      const who = owner?.who ?? 'nobody that is known'
      const failed = owner?.fail?.(fault) ?? false
      const { message } = asTirelessError(fault)
      const level = owner?.fail ? 'warn' : 'error'
      log?.write(level, 'stray fault', { who, message, stack: stackOf(fault), failed_call: failed })
      keep(owner?.fail ? inCalls : outside, `${who}: ${message}`)
    },
    logTo(given) {
      log = given
    },
    reasons: () =>
      outside.map((text) => `something failed that nobody waited for (${text}); see the log, then start it again`),
    degraded: () => inCalls.map((text) => `a call left something behind that failed later (${text})`),
    close: () => void apps.delete(app),
  }
  apps.set(app, made)
  listen()
  return made
}

/** Anything can be thrown, also what cannot be read. */
function stackOf(fault: unknown): string | null {
  try {
    return fault instanceof Error ? String(fault.stack) : null
  } catch {
    return null
  }
}

function keep(list: string[], text: string): void {
  if (!list.includes(text)) list.push(text)
  if (list.length > MOST_KEPT) list.shift()
}

/** Once, and for as long as the process lives: what a tool left behind may fail after its app was closed. */
function listen(): void {
  if (!process.listeners('unhandledRejection').includes(takeRejection)) process.on('unhandledRejection', takeRejection)
  if (!process.listeners('uncaughtException').includes(takeException)) process.on('uncaughtException', takeException)
}

const takeRejection = (fault: unknown): void => takeStray('unhandledRejection', fault)
const takeException = (fault: unknown): void => takeStray('uncaughtException', fault)

function takeStray(event: string, fault: unknown): void {
  const owner = faultOwner()
  const own = owner?.app === undefined ? undefined : apps.get(owner.app)
  const taker = own ?? [...apps.values()].find(({ ownsProcess }) => ownsProcess)
  if (taker) taker.take(fault, owner)
  else if (owner?.app !== undefined)
    process.emitWarning(`${owner.who} failed after its app was closed: ${asTirelessError(fault).message}`)
  // As if we were not there: somebody else listens, or the process ends.
  else if (process.listenerCount(event) === 1) throw fault
}
