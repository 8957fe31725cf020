/** Plugin `channels`: the built-in channels and those of plugins. */

import { consoleChannel } from '../../adapters/channels/console.ts'
import { desktopChannel } from '../../adapters/channels/desktop.ts'
import { type Webhook, webhookChannel } from '../../adapters/channels/webhook.ts'
import { findProgram } from '../../adapters/system/machine.ts'
import { environment, type LoadedConfig, resolveSecret } from '../../config.ts'
import type { Channel } from '../../ports/channel.ts'
import { definePlugin, type Plugin, type Services } from '../../ports/plugin.ts'
import { createRegistry } from '../registry.ts'

export function channels(more: readonly Channel[]): Plugin {
  return definePlugin({
    name: 'channels',
    needs: ['config', 'clock', 'log', 'secrets', 'events'],
    provides: ['channels'],
    setup(host) {
      const [config, log] = [host.get('config'), host.get('log')]
      const terminal = consoleChannel({
        show: host.get('events').note,
        log: ({ id, kind, text }) => log.write('info', 'message shown', { message_id: id, kind, text }),
      })
      const desktop = desktopChannel({
        platform: process.platform,
        env: environment(),
        programAt: (name) => findProgram(name, environment().PATH ?? ''),
      })
      const webhook = webhookChannel(() => webhookOf(config.loaded, host.get('secrets')), host.get('clock'))
      host.provide(
        'channels',
        createRegistry('channels', [terminal, desktop, webhook, ...more], { methods: ['trouble', 'deliver'] }),
      )
    },
  })
}

/** From the current configuration. Once read, the secret is redacted in all output. */
function webhookOf({ config }: LoadedConfig, { filled, know }: Services['secrets']): Webhook | undefined {
  const { webhook } = config.channels
  return (
    webhook && {
      ...webhook,
      secret() {
        const secret = filled(resolveSecret(webhook, 'channels.webhook'))
        know('channels.webhook.secret', secret)
        return secret
      },
    }
  )
}
