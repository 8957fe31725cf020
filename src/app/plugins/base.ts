/** Plugin `base`: the clock, ids, and the handler of stray faults. */

import type { Clock } from '../../ports/clock.ts'
import type { Ids } from '../../ports/ids.ts'
import { definePlugin, type Plugin } from '../../ports/plugin.ts'
import type { UnhandledErrors } from '../unhandled-errors.ts'

export function base(clock: Clock, ids: Ids, unhandledErrors: UnhandledErrors): Plugin {
  return definePlugin({
    name: 'base',
    provides: ['clock', 'ids', 'embedders', 'unhandledErrors'],
    setup(host) {
      host.provide('clock', clock)
      host.provide('ids', ids)
      host.provide('embedders', [])
      host.provide('unhandledErrors', unhandledErrors)
    },
  })
}
