/** Plugin `residents`: agents that look at their input at a rate, and the bus that brings it. */

import { readMind } from '../../behaviours/resident/mind.ts'
import type { Config } from '../../config.ts'
import type { Json } from '../../domain/json.ts'
import type { Slot } from '../../domain/resident.ts'
import type { ResidentSettings } from '../../kernel/residents/resident-settings.ts'
import { Residents } from '../../kernel/residents/residents.ts'
import { definePlugin, type Plugin } from '../../ports/plugin.ts'
import { workspacePreparer } from '../prepare-workspace.ts'

/** It does nothing by itself; commands that run the kernel also run the residents. */
export function residents(): Plugin {
  return definePlugin({
    name: 'residents',
    needs: [
      'home',
      'storedPaths',
      'config',
      'clock',
      'ids',
      'store',
      'bell',
      'log',
      'sandbox',
      'notifier',
      'queue',
      'leadership',
    ],
    provides: ['bus', 'residents'],
    setup(host) {
      const [config, log, notifier] = [host.get('config'), host.get('log'), host.get('notifier')]
      const all = new Residents({
        ...{ store: host.get('store'), clock: host.get('clock'), ids: host.get('ids'), wakeSignal: host.get('bell') },
        kernelId: config.loaded.config.kernel.id,
        prepareWorkspace: workspacePreparer(host),
        isElsewhere: () => host.get('queue').isShared() && !host.get('leadership').isLeading,
        settings: () => settingsOf(config.loaded.config),
        drainLooks: (only, until) => host.get('queue').drain({ untilIdle: false, only, until }),
        readMind,
        async replyTo() {
          const target = await notifier.target()
          return target ? { channel: target.channel, chat: target.chat_id } : undefined
        },
        log: (level, event, details) => log.write(level, event, details),
      })
      host.provide('residents', all)
      host.provide('bus', all)
    },
  })
}

/** Kept per configuration, because it is asked for at every wake-up. */
const settingsByConfig = new WeakMap<Config, readonly ResidentSettings[]>()

function settingsOf(config: Config): readonly ResidentSettings[] {
  const known = settingsByConfig.get(config)
  if (known) return known
  const settings = config.residents.map(({ goals, slots, forget_after, ...resident }) => ({
    ...resident,
    expires_ms: forget_after,
    slots: slotsOf(slots),
    goals: goals.map(({ goal, every, until }) => ({
      ...{ text: goal, every_ms: every },
      until: until === null ? null : Date.parse(until),
    })),
  }))
  settingsByConfig.set(config, settings)
  return settings
}

/** A list of names, or names with the question to ask. */
function slotsOf(slots: Config['residents'][number]['slots']): readonly Slot[] {
  if (Array.isArray(slots)) return slots.map((name) => ({ name: String(name), question: null }))
  return Object.entries(slots).map(([name, value]) => ({ name, question: questionOf(value as Json) }))
}

function questionOf(value: Json): string | null {
  if (typeof value === 'string' && value.trim() !== '') return value
  const { question } = (value ?? {}) as { readonly question?: Json }
  return typeof question === 'string' && question.trim() !== '' ? question : null
}
