/** A store that holds one kind of commit back until it is let go: so that a test can act in between. */

import { definePlugin, type Plugin } from '../../src/ports/plugin.ts'
import type { Op } from '../../src/ports/store.ts'

export interface BlockingStore {
  readonly plugin: Plugin
  /** Such a commit is on its way, and not on disk. */
  isBlocked(): boolean
  release(): void
}

export function blockCommits(isIt: (op: Op) => boolean): BlockingStore {
  const { promise, resolve: letGo } = Promise.withResolvers<void>()
  let held = false
  const plugin = definePlugin({
    name: 'holding back',
    needs: ['store'],
    setup(host) {
      const store = host.get('store')
      const { commit } = store
      const holding: typeof commit = async (batches) => {
        if (batches.some(({ ops }) => ops.some(isIt))) {
          held = true
          await promise
        }
        return commit(batches)
      }
      Object.assign(store, { commit: holding })
    },
  })
  return { plugin, isBlocked: () => held, release: letGo }
}
