/** The plugins that tell people: the channels, and who carries messages to them. */

import { consoleChannel } from '../../adapters/channels/console.ts'
import { desktopChannel } from '../../adapters/channels/desktop.ts'
import { send } from '../../adapters/channels/http.ts'
import { type Webhook, webhookChannel } from '../../adapters/channels/webhook.ts'
import { programAt } from '../../adapters/machine.ts'
import { messageTools } from '../../adapters/tools/tools.ts'
import { environment, type LoadedConfig, webhookSecretOf } from '../../config.ts'
import { Notifier } from '../../kernel/notifier.ts'
import type { Channel } from '../../ports/channel.ts'
import { definePlugin, type Plugin, type Services } from '../../ports/plugin.ts'
import { registry } from '../registry.ts'

export function channels(more: readonly Channel[]): Plugin {
  return definePlugin({
    name: 'channels',
    needs: ['config', 'clock', 'log', 'secrets', 'events'],
    provides: ['channels'],
    setup(host) {
      const [config, log] = [host.get('config'), host.get('log')]
      const terminal = consoleChannel({
        show: host.get('events').note,
        log: ({ id, kind, text }) => log.write('info', 'told', { message_id: id, kind, text }),
      })
      const desktop = desktopChannel({
        platform: process.platform,
        env: environment(),
        programAt: (name) => programAt(name, environment().PATH ?? ''),
      })
      const webhook = webhookChannel(() => webhookOf(config.loaded, host.get('secrets')), host.get('clock'))
      host.provide('channels', registry('channels', [terminal, desktop, webhook, ...more]))
    },
  })
}

/** As the configuration says now; its secret is hidden as soon as it is known. */
function webhookOf({ config }: LoadedConfig, { filled, know }: Services['secrets']): Webhook | undefined {
  const { webhook } = config.channels
  return (
    webhook && {
      ...webhook,
      secret() {
        const secret = filled(webhookSecretOf(webhook))
        know('channels.webhook.secret', secret)
        return secret
      },
    }
  )
}

/** It tells nothing by itself: whoever runs the kernel runs it beside. */
export function notifier(): Plugin {
  return definePlugin({
    name: 'notifier',
    needs: ['config', 'clock', 'store', 'bell', 'log', 'secrets', 'channels', 'tools'],
    provides: ['notifier'],
    setup(host) {
      const [config, clock, log] = [host.get('config'), host.get('clock'), host.get('log')]
      const made = new Notifier({
        ...{ clock, store: host.get('store'), bell: host.get('bell'), channels: host.get('channels').all },
        settings: () => config.loaded.config.kernel,
        redact: host.get('secrets').redact,
        ping: (url, signal) => send(url, { method: 'GET' }, clock.now(), signal),
        log: (level, event, details) => log.write(level, event, details),
      })
      host.provide('notifier', made)
      host.get('tools').add(...messageTools(made))
    },
  })
}
