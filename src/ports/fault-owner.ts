/**
 * Whose work is going on: carried through promises, timers and events, so that a fault which nobody waits for is told to the one who began it.
 */

import { AsyncLocalStorage } from 'node:async_hooks'

export interface FaultOwner {
  /** Such as `tool fetch`. */
  readonly who: string
  /** The app it belongs to; default: that of the work it was begun by. */
  readonly app?: object | undefined
  /** Contract: fails the work, if it is still going on, and says whether it was. */
  readonly fail?: (fault: unknown) => boolean
}

const owners = new AsyncLocalStorage<FaultOwner>()

/** Contract: whatever the work begins, and leaves running, is the owner's. */
export function runOwned<T>(owner: FaultOwner, work: () => T): T {
  return owners.run({ ...owner, app: owner.app ?? owners.getStore()?.app }, work)
}

/** Contract: in the handler of a stray fault, whoever began what failed. */
export const faultOwner = (): FaultOwner | undefined => owners.getStore()
