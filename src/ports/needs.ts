/**
 * Opens and withdraws what waits for the owner. Any part of the program may use it; `needs list`, the page, `status`
 * and "what waits for me?" show it, and `needs answer` runs the command of the choice.
 */

import { EMPTY_NEED, type NewNeed } from '../domain/need.ts'
import type { Clock } from './clock.ts'
import type { Ids } from './ids.ts'
import { commitOne, type Store } from './store.ts'

type Told = Pick<NewNeed, 'kind' | 'same_as' | 'title' | 'body' | 'choices'>

export interface OwnerNeeds {
  /**
   * Contract: it is on disk when this resolves with its id. While one with the same `same_as` is open, that one gets
   * the new texts, and no second one is opened. Texts are in both languages.
   */
  open(need: Told & Partial<Omit<NewNeed, 'id'>>): Promise<string>
  /** Contract: ends the open need with this `same_as`, because its reason has ended; no effect if there is none. */
  withdraw(sameAs: string): Promise<void>
}

interface Deps {
  readonly store: Store
  readonly clock: Pick<Clock, 'now'>
  readonly ids: Ids
}

export function createOwnerNeeds({ store, clock, ids }: Deps): OwnerNeeds {
  return {
    async open(told) {
      const need = { ...EMPTY_NEED, ...told, id: `need-${ids.next()}` }
      const [{ id }] = await commitOne(store, [{ op: 'need_open', need, now: clock.now() }])
      return id
    },
    async withdraw(sameAs) {
      await commitOne(store, [{ op: 'need_withdraw', same_as: sameAs, now: clock.now() }])
    },
  }
}
