/** Plugin `base`: the clock, ids, and the handler of stray faults. */

import type { Ids } from '../../ports/ids.ts'
import { definePlugin, type Plugin } from '../../ports/plugin.ts'
import type { StoreClock } from '../store-clock.ts'
import type { UnhandledErrors } from '../unhandled-errors.ts'

export function base(clock: StoreClock, ids: Ids, unhandledErrors: UnhandledErrors): Plugin {
  return definePlugin({
    name: 'base',
    provides: ['clock', 'storeClock', 'ids', 'embedders', 'unhandledErrors'],
    setup(host) {
      host.provide('clock', clock)
      host.provide('storeClock', clock)
      host.provide('ids', ids)
      host.provide('embedders', [])
      host.provide('unhandledErrors', unhandledErrors)
    },
  })
}
