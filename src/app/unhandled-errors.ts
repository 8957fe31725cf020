/**
 * Handles stray faults: rejections and exceptions that no caller awaits. By default they end the process, so a tool or
 * plugin could end the kernel. Here the call that caused the fault fails, the log and health report the fault, and the
 * process continues. Faults of no app are left to the surrounding program, unless the process belongs to one app.
 */

import { asTirelessError, TirelessError } from '../domain/error.ts'
import { currentFaultOwner, type FaultOwner } from '../ports/fault-owner.ts'
import type { Services } from '../ports/plugin.ts'

/** Number of faults kept for health; older ones are dropped. */
const MAX_KEPT = 5

export interface UnhandledErrors {
  /** Contract: logs faults from now on. */
  logTo(log: Services['log']): void
  /** Faults outside of any call: part of the program or of a plugin is broken. */
  reasons(): readonly string[]
  /** Faults caused by a call. */
  degraded(): readonly string[]
  close(): void
}

interface Listener extends UnhandledErrors {
  readonly ownsProcess: boolean
  take(fault: unknown, owner: FaultOwner | undefined): void
}

const apps = new Map<object, Listener>()

/** `ownsProcess`: the app is alone in this process. Contract: call `close` when the app closes. */
export function createUnhandledErrors(app: object, ownsProcess: boolean): UnhandledErrors {
  const outsideCalls: string[] = []
  const inCalls: string[] = []
  let log: Services['log'] | undefined
  const listener: Listener = {
    ownsProcess,
    take(fault, owner) {
      const who = owner?.who ?? 'unknown owner'
      const failed = owner?.fail?.(fault) ?? false
      const { message } = asTirelessError(fault)
      const level = owner?.fail ? 'warn' : 'error'
      log?.write(level, 'stray fault', { who, message, stack: stackOf(fault), failed_call: failed })
      keepLatest(owner?.fail ? inCalls : outsideCalls, `${who}: ${message}`)
    },
    logTo(target) {
      log = target
    },
    reasons: () =>
      outsideCalls.map(
        (text) =>
          `A background operation of the program or of a plugin failed (${text}). See tireless logs, then restart.`,
      ),
    degraded: () => inCalls.map((text) => `A background operation that a call had started failed (${text}).`),
    close: () => void apps.delete(app),
  }
  apps.set(app, listener)
  listen()
  return listener
}

/** Any value can be thrown, even one whose stack getter throws. */
function stackOf(fault: unknown): string | null {
  try {
    return fault instanceof Error ? String(fault.stack) : null
  } catch {
    return null
  }
}

function keepLatest(list: string[], text: string): void {
  if (!list.includes(text)) list.push(text)
  if (list.length > MAX_KEPT) list.shift()
}

/** The handlers stay installed: background work of a tool may fail after its app has closed. */
function listen(): void {
  if (!process.listeners('unhandledRejection').includes(takeRejection)) process.on('unhandledRejection', takeRejection)
  if (!process.listeners('uncaughtException').includes(takeException)) process.on('uncaughtException', takeException)
}

const takeRejection = (fault: unknown): void => takeStray('unhandledRejection', fault)
const takeException = (fault: unknown): void => takeStray('uncaughtException', fault)

function takeStray(event: string, fault: unknown): void {
  const owner = currentFaultOwner()
  const own = owner?.app === undefined ? undefined : apps.get(owner.app)
  const handler = own ?? [...apps.values()].find(({ ownsProcess }) => ownsProcess)
  if (handler) handler.take(fault, owner)
  else if (owner?.app !== undefined)
    process.emitWarning(`${owner.who} failed after its app was closed: ${asTirelessError(fault).message}`)
  // The same happens as without this handler: another listener handles the fault, or the process ends.
  else if (process.listenerCount(event) === 1) throw isExpected(fault) ? withoutStack(fault) : fault
}

/** A home that another process holds is no fault of the program: its author needs the message, not our frames. */
const isExpected = (fault: unknown): fault is TirelessError =>
  fault instanceof TirelessError && fault.code === 'home_locked'

function withoutStack({ name, code, message }: TirelessError): Error {
  const plain = new Error(message)
  plain.stack = `${name} [${code}]: ${message}`
  return plain
}
