/** Plugin `agent services`: what plugins of others use of the agent domain: `ai`, `memory` and `runtime`. */

import type { Dispatch } from '../../domain/dispatch.ts'
import { readSafely, TirelessError } from '../../domain/error.ts'
import { describeValue, ignoreRejections } from '../../domain/json.ts'
import type { Runtime } from '../../ports/agent-services.ts'
import { definePlugin, type Plugin, type Services } from '../../ports/plugin.ts'
import { createAi } from '../ai-service.ts'
import { type CommandRunner, createCommandRunner } from '../command-runner.ts'
import { createFactMemory } from '../fact-memory.ts'

export function agentServices(): Plugin {
  return definePlugin({
    name: 'agent services',
    needs: ['config', 'engine', 'events', 'commands'],
    provides: ['ai', 'memory', 'runtime'],
    setup(host) {
      const [config, engine] = [host.get('config'), host.get('engine')]
      host.provide(
        'ai',
        createAi(engine, () => config.loaded.config.kernel.id),
      )
      host.provide('memory', createFactMemory(engine))
      host.provide('runtime', createRuntime(createCommandRunner(host.get('commands')), host.get('events').listen))
    },
  })
}

/** Each method is a command, which checks its input. */
function createRuntime(run: CommandRunner, listen: Services['events']['listen']): Runtime {
  return {
    async enqueue(task) {
      const input = readSafely('runtime.enqueue()', () => ({ by: 'model', ...task }))
      return (await run('enqueue', input)) as Awaited<ReturnType<Runtime['enqueue']>>
    },
    send: async (message) => (await run('send', message)) as { readonly duplicate: boolean },
    status: async (id) => (await run('queue show', { id })) as Dispatch,
    async cancel(id, how) {
      await run('queue cancel', { id, how })
    },
    on(listener) {
      if (typeof listener !== 'function')
        throw new TirelessError('usage', {
          ...{ what: 'invalid listener', where: 'runtime.on()', got: describeValue(listener), expected: 'a function' },
        })
      return listen((progress) => {
        if (progress.kind === 'event') ignoreRejections(listener(progress.event))
      })
    },
  }
}
