/** Files that another home has, on a store that several homes share: they can be used there only (decision 64). */

import { TirelessError } from '../../domain/error.ts'
import type { Needs } from './context.ts'

interface FileOwner {
  /** What was asked for: a run, a session, a workspace. */
  readonly got: string
  /** The home that has its files; undefined: all homes see them. */
  readonly home: string | undefined
  /** Its folder, if known. */
  readonly workspace?: string | undefined
}

/** Contract: throws `conflict` if another home has the files, and says on which machine. */
export async function refuseElsewhere(
  { store, clock, homeId }: Needs<'clock' | 'homeId' | 'store'>,
  { got, home, workspace }: FileOwner,
): Promise<void> {
  if (home === undefined || homeId === undefined || home === homeId) return
  const [seen] = await store.homes([home], clock.now())
  const host = seen?.host ?? 'another machine'
  throw new TirelessError('conflict', {
    what: 'its files are in another home, which cannot be reached from here',
    where: workspace === undefined ? host : `${workspace} on ${host}`,
    got,
    expected: 'work of this home',
    fix: `give the command in that home on ${host}, or use the page of its process`,
  })
}
