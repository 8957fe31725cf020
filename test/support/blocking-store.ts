/** A store that blocks commits with a certain operation until released, so that a test can act before them. */

import { definePlugin, type Plugin } from '../../src/ports/plugin.ts'
import type { Op } from '../../src/ports/store.ts'

export interface BlockingStore {
  readonly plugin: Plugin
  /** Whether such a commit was requested and is not on disk yet. */
  isBlocked(): boolean
  release(): void
}

export function blockCommits(matches: (op: Op) => boolean): BlockingStore {
  const { promise, resolve: release } = Promise.withResolvers<void>()
  let blocked = false
  const plugin = definePlugin({
    name: 'blocking store',
    needs: ['store'],
    setup(host) {
      const store = host.get('store')
      const { commit } = store
      const blockingCommit: typeof commit = async (batches) => {
        if (batches.some(({ ops }) => ops.some(matches))) {
          blocked = true
          await promise
        }
        return commit(batches)
      }
      Object.assign(store, { commit: blockingCommit })
    },
  })
  return { plugin, isBlocked: () => blocked, release }
}
