/** Plugin `store`: the database, with redaction, semantic recall, error logging and the wake signal around it. */

import { openSqliteStore } from '../../adapters/stores/sqlite/store.ts'
import { newSecret } from '../../adapters/system/ids.ts'
import { describeLoss, LOST_COMMITS, type LostCommits } from '../../domain/lost-commits.ts'
import { createWakeSignal, ringOnCommit } from '../../kernel/queue/wake-signal.ts'
import { definePlugin, type Plugin } from '../../ports/plugin.ts'
import { fallbackIfUnreadable, type Store } from '../../ports/store.ts'
import { withErrorLog, withRedaction, withSemanticRecall } from '../store-wrappers.ts'

export function store(): Plugin {
  let opened: Store | undefined
  return definePlugin({
    name: 'store',
    // The configuration is loaded before the store opens: nothing is written if it is invalid.
    needs: ['home', 'config', 'clock', 'log', 'secrets', 'embedders'],
    provides: ['store', 'bell'],
    async setup(host) {
      const bell = createWakeSignal()
      const { database, auditKey: keyFile, auditHead: headFile } = host.get('home')
      const audit = { keyFile, headFile, newKey: newSecret }
      const sqlite = await openSqliteStore({ file: database, clock: host.get('clock'), audit })
      const lost = (await fallbackIfUnreadable(sqlite.setting(LOST_COMMITS), null)) as LostCommits | null
      if (lost !== null) host.get('log').write('error', 'acknowledged commits missing', { message: describeLoss(lost) })
      const hidden = withRedaction(withSemanticRecall(sqlite, host.get('embedders')), host.get('secrets').hide)
      opened = ringOnCommit(withErrorLog(hidden, host.get('log')), bell)
      host.provide('bell', bell)
      host.provide('store', opened)
    },
    stop: () => opened?.close(),
  })
}
