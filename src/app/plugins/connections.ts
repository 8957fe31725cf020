/** Plugin `connections`: the long connections of channels. A command that runs the kernel also runs them. */

import { ChannelConnections } from '../../kernel/channels/connections.ts'
import { createStateWriter } from '../../kernel/channels/shared-states.ts'
import { definePlugin, type Plugin } from '../../ports/plugin.ts'
import { isSharedStore } from '../../ports/store.ts'

export function connections(): Plugin {
  return definePlugin({
    name: 'connections',
    needs: ['channels', 'clock', 'config', 'ids', 'leadership', 'log', 'secrets', 'store'],
    provides: ['connections'],
    setup(host) {
      const [config, log] = [host.get('config'), host.get('log')]
      const configured = (): Readonly<Record<string, unknown>> => config.loaded.config.channels
      const [store, leadership] = [host.get('store'), host.get('leadership')]
      const saveStates = createStateWriter(store, () => all.states())
      const all = new ChannelConnections({
        ...{ channels: host.get('channels').all, clock: host.get('clock'), ids: host.get('ids') },
        fingerprint: (name) => (configured()[name] === undefined ? null : JSON.stringify(configured()[name])),
        redact: host.get('secrets').redact,
        log: (level, event, details) => log.write(level, event, details),
        onState() {
          if (isSharedStore(store) && leadership.isLeading) saveStates()
        },
      })
      host.provide('connections', all)
    },
  })
}
