/**
 * Plugin `store`: the database, with redaction, semantic recall, error logging and the wake signal around it; and what
 * waits for the owner.
 */

import { setDatabaseAside } from '../../adapters/stores/sqlite/set-database-aside.ts'
import { openSqliteStore } from '../../adapters/stores/sqlite/store.ts'
import { newSecret } from '../../adapters/system/ids.ts'
import type { TirelessError } from '../../domain/error.ts'
import { describeLoss, LOST_COMMITS, type LostCommits } from '../../domain/lost-commits.ts'
import { fenceLeader, Leadership } from '../../kernel/queue/leadership.ts'
import { createWakeSignal, ringOnCommit } from '../../kernel/queue/wake-signal.ts'
import { createOwnerNeeds } from '../../ports/needs.ts'
import { definePlugin, type Plugin, type PluginHost } from '../../ports/plugin.ts'
import { fallbackIfUnreadable, isSharedStore, type Store } from '../../ports/store.ts'
import { placesOf } from '../../ports/stored-paths.ts'
import { homeId, readHomeId } from '../home-id.ts'
import { pathAside } from '../move-store.ts'
import { pinHere, pinWorkspaces } from '../pin-workspaces.ts'
import { withOwnPaths, withRelativePaths } from '../store-paths.ts'
import { withErrorLog, withRedaction, withSemanticRecall } from '../store-wrappers.ts'

interface Opening {
  /** If given, the start waits for a database that is away; called with the reason once a minute, at most. */
  readonly onAway: ((error: TirelessError) => void) | undefined
  readonly stop: AbortSignal
}

export function store(opening: Opening): Plugin {
  let opened: Store | undefined
  return definePlugin({
    name: 'store',
    // The configuration is loaded before the store opens: nothing is written if it is invalid.
    needs: ['home', 'storedPaths', 'config', 'clock', 'storeClock', 'ids', 'log', 'secrets', 'embedders'],
    provides: ['store', 'needs', 'bell', 'leadership'],
    async setup(host) {
      const bell = createWakeSignal()
      const database = await host.get('storeClock').follow(await openDatabase(host, opening))
      const lost = (await fallbackIfUnreadable(database.setting(LOST_COMMITS), null)) as LostCommits | null
      if (lost !== null) host.get('log').write('error', 'acknowledged commits missing', { message: describeLoss(lost) })
      const paths = host.get('storedPaths')
      const placed = isSharedStore(database)
        ? withOwnPaths(database, paths, homeId(paths.root))
        : withRelativePaths(database, paths)
      const hidden = withRedaction(withSemanticRecall(placed, host.get('embedders')), host.get('secrets').hide)
      const leadership = new Leadership(host.get('config').loaded.config.kernel.id)
      const fenced = isSharedStore(database) ? pinWorkspaces(fenceLeader(hidden, leadership), pinHere(host)) : hidden
      opened = ringOnCommit(withErrorLog(fenced, host.get('log')), bell)
      database.onChange?.(() => bell.ring())
      host.provide('bell', bell)
      host.provide('leadership', leadership)
      host.provide('store', opened)
      host.provide('needs', createOwnerNeeds({ store: opened, clock: host.get('clock'), ids: host.get('ids') }))
    },
    stop: () => opened?.close(),
  })
}

/** The database that the configuration names. The driver of PostgreSQL is loaded only if it is used. */
async function openDatabase(host: PluginHost, { onAway, stop }: Opening): Promise<Store> {
  const [paths, storedPaths] = [host.get('home'), host.get('storedPaths')]
  const { database, auditKey: keyFile, auditHead: headFile } = paths
  const [clock, audit] = [host.get('clock'), { keyFile, headFile, newKey: newSecret }]
  const { store: address } = host.get('config').loaded.config
  if (address === 'sqlite') return openSqliteStore({ file: database, roots: placesOf(storedPaths), clock, audit })
  const { openPostgresStore } = await import('../../adapters/stores/postgres/store.ts')
  const completeMoveIn = () => setDatabaseAside(database, pathAside(paths, clock))
  const id = homeId(paths.root)
  const hasTwinAt = (root: string): boolean => readHomeId(root) === id
  const home = { id, completeMoveIn, paths: storedPaths, hasTwinAt }
  const waiting = onAway ? { onAway: reportAbsence(host, onAway), stop } : {}
  return openPostgresStore({ url: address, clock, audit, writerId: newSecret(), home, ...waiting })
}

const REPORT_EVERY_MS = 60_000

/** Contract: passes the first reason on, and later ones once a minute at most. */
function reportAbsence(host: PluginHost, tell: (error: TirelessError) => void): (error: TirelessError) => void {
  const [clock, log] = [host.get('clock'), host.get('log')]
  let next = 0
  return (error) => {
    if (clock.monotonic() < next) return
    next = clock.monotonic() + REPORT_EVERY_MS
    log.write('warn', 'database away; the start waits for it', { message: error.problem })
    tell(error)
  }
}
