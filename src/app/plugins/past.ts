/** Plugin `past`: the records from which questions about the past are answered, and the tools that read them. */

import { pastTools } from '../../adapters/tools/past.ts'
import { type Agent, ASSISTANT } from '../../domain/agent.ts'
import { loadZone, localZone } from '../../kernel/schedule/time-zone.ts'
import { upcomingBeats } from '../../kernel/schedule/upcoming-beats.ts'
import type { KernelSettings } from '../../kernel/settings.ts'
import type { KnownAgent, PastSources } from '../../past/past-sources.ts'
import { definePlugin, type Plugin } from '../../ports/plugin.ts'

export function past(): Plugin {
  return definePlugin({
    name: 'past',
    needs: ['clock', 'config', 'store', 'engine', 'tools'],
    provides: ['past'],
    setup(host) {
      const [config, store, clock] = [host.get('config'), host.get('store'), host.get('clock')]
      const settings = () => config.loaded.config.kernel
      const zones = new Map<string, ReturnType<typeof loadZone>>()
      const sources: PastSources = {
        store,
        snapshots: host.get('engine').snapshots,
        kernelId: settings().id,
        now: () => clock.now(),
        clock() {
          const name = settings().timezone ?? localZone()
          const zone = zones.get(name) ?? loadZone(name)
          zones.set(name, zone)
          return zone
        },
        agents: () => settings().agents.map((agent) => describeStart(agent, settings())),
        upcoming: async () => upcomingBeats(settings(), await store.schedules(), await store.marks(), clock.now()),
      }
      host.provide('past', sources)
      host.get('tools').add(...pastTools(sources))
    },
  })
}

function describeStart(
  { agent_id, enabled, schedule, only_on_change }: Agent,
  { planner }: KernelSettings,
): KnownAgent {
  const onChanges = only_on_change === true || planner.mode !== 'static'
  const starts =
    agent_id === ASSISTANT && !enabled ? 'messages' : schedule === null ? (onChanges ? 'changes' : 'beats') : 'schedule'
  return { agent_id, enabled, starts }
}
