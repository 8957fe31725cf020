/** Plugin `channels`: the built-in channels and those of plugins. */

import { consoleChannel } from '../../adapters/channels/console.ts'
import { desktopChannel } from '../../adapters/channels/desktop.ts'
import { type LarkSettings, larkChannel } from '../../adapters/channels/lark/lark-channel.ts'
import { type Webhook, webhookChannel } from '../../adapters/channels/webhook.ts'
import { findProgram } from '../../adapters/system/machine.ts'
import { environment, type LoadedConfig, resolveLarkSecret, resolveSecret } from '../../config.ts'
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
      const lark = larkChannel(() => larkOf(config.loaded, host.get('secrets')), {
        clock: host.get('clock'),
        log: (text) => log.write('warn', 'lark sdk', { text }),
      })
      const built = [terminal, desktop, webhook, lark]
      host.provide('channels', createRegistry('channels', [...built, ...more], { methods: ['trouble', 'deliver'] }))
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

/** From the current configuration. Once read, the secrets are redacted in all output. */
function larkOf({ config }: LoadedConfig, { filled, know }: Services['secrets']): LarkSettings | undefined {
  const { lark } = config.channels
  if (!lark) return undefined
  const read = (name: Parameters<typeof resolveLarkSecret>[1]): string | undefined => {
    const reference = resolveLarkSecret(lark, name)
    if (reference === undefined) return undefined
    const secret = filled(reference)
    know(`channels.lark.${name}`, secret)
    return secret
  }
  const { app_id, domain, mode, chat_id } = lark
  return {
    ...{ app_id, domain, mode, chat_id },
    // The schema demands it.
    appSecret: () => read('app_secret') ?? '',
    encryptKey: () => read('encrypt_key'),
    verificationToken: () => read('verification_token'),
  }
}
