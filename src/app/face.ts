/** The plugins that people meet: the commands, and the socket by which other processes reach them. */

import { keptCalls, removeKeptCall } from '../adapters/envs/host/leftovers.ts'
import { copyFolder, workspacePreparer } from '../adapters/envs/workspace.ts'
import { COMMANDS } from '../commands/all.ts'
import type { Context } from '../commands/command.ts'
import { type Config, environment } from '../config.ts'
import { replay } from '../engine/replay.ts'
import type { Choice } from '../ports/model.ts'
import { definePlugin, type Plugin } from '../ports/plugin.ts'
import { type SocketServer, serveSocket } from '../server/socket.ts'
import { outsideOf } from './outside.ts'
import { bashIsOn } from './work.ts'

const BASH_IS_OFF = 'bash is off: there is no sandbox yet; set `sandbox: off` to let the agent run commands as you'

export function commands(): Plugin {
  return definePlugin({
    name: 'commands',
    needs: ['home', 'config', 'clock', 'ids', 'store', 'bell', 'models', 'events', 'engine', 'queue', 'log'],
    provides: ['commands'],
    setup(host) {
      const { loaded, reload } = host.get('config')
      const { kernel } = loaded.config
      const paths = host.get('home')
      const queue = host.get('queue')
      const models = host.get('models')
      const engine = host.get('engine')
      const context: Context = {
        ...outsideOf(paths, reload, host.get('clock'), queue.signals),
        ...queue,
        store: host.get('store'),
        ids: host.get('ids'),
        bell: host.get('bell'),
        redact: host.get('log').redact,
        listen: host.get('events').listen,
        kernelId: kernel.id,
        agents: ['default', ...kernel.agents.map((agent) => agent.agent_id)],
        workspace: workspacePreparer(paths.root, paths.workspaces, environment()),
        notices: async () => noticesOf(loaded.config, await models.choice()),
        models,
        breaker: engine.breaker,
        defaultModel: () => models.get().id,
        replay: (dispatch, past, records) => replay(host.get('engine'), dispatch, past, records),
        copyFolder,
        calls: {
          kept: () => keptCalls(paths.calls),
          remove: (call) => removeKeptCall(paths.calls, call),
        },
        health: () => {
          const reasons = [
            ...queue.damage().map((found) => `the database is damaged: ${found}`),
            ...engine.breaker
              .refusing()
              .map((provider) => `the provider ${provider} refuses its key: set the right one, then: models test`),
          ]
          return { ok: reasons.length === 0, reasons, degraded: bashIsOn(loaded.config) ? [] : [BASH_IS_OFF] }
        },
      }
      host.provide('commands', context)
    },
  })
}

function noticesOf(config: Config, { id, why }: Choice): string[] {
  const notices = bashIsOn(config) ? [] : [BASH_IS_OFF]
  if (id.startsWith('offline/'))
    return [
      ...notices,
      'no model is configured: the built-in offline model follows simple rules and understands no language',
    ]
  return config.models.default === null ? [...notices, `the model is ${id} (${why})`] : notices
}

/** Started last and stopped first: whoever is reached through it finds everything else running. */
export function socket(): Plugin {
  let server: SocketServer | undefined
  return definePlugin({
    name: 'socket',
    needs: ['home', 'commands'],
    async start(host) {
      server = await serveSocket(host.get('home').socket, COMMANDS, host.get('commands'))
    },
    stop: () => server?.close(),
  })
}
