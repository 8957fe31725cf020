/**
 * Attributes stray faults (unhandled rejections and exceptions) to the work that caused them. The owner is carried
 * through promises, timers and events.
 */

import { AsyncLocalStorage } from 'node:async_hooks'

export interface FaultOwner {
  /** Names the work for messages, for example `tool fetch`. */
  readonly who: string
  /** The running instance of the program (`App`) that the work belongs to; default: that of the enclosing owner. */
  readonly app?: object | undefined
  /** Contract: fails the work if it is still running; returns whether it was still running. */
  readonly fail?: (fault: unknown) => boolean
}

const owners = new AsyncLocalStorage<FaultOwner>()

/** Contract: everything that `work` starts belongs to `owner`, even if it is still running when `work` has ended. */
export function runAsOwner<T>(owner: FaultOwner, work: () => T): T {
  return owners.run({ ...owner, app: owner.app ?? owners.getStore()?.app }, work)
}

/** Contract: inside a handler of stray faults, returns the owner of the failed work. */
export const currentFaultOwner = (): FaultOwner | undefined => owners.getStore()
