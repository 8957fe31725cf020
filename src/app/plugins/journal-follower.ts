/** Plugin `journal follower`: on a shared store, viewers of this process also see the runs of other processes. */

import { definePlugin, type Plugin } from '../../ports/plugin.ts'
import { JournalFollower } from '../journal-follower.ts'

export function journalFollower(): Plugin {
  let follower: JournalFollower | undefined
  return definePlugin({
    name: 'journal follower',
    needs: ['clock', 'events', 'store'],
    setup(host) {
      const [store, { allRuns }] = [host.get('store'), host.get('events')]
      if (!store.onAppend) return
      follower = new JournalFollower({
        ...{ store, clock: host.get('clock'), feed: allRuns.feed },
        onSkipped: () => allRuns.tellSkipped(),
      })
      allRuns.connect(follower)
    },
    stop: () => follower?.close(),
  })
}
