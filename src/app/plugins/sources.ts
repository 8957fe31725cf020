/** Plugin `sources`: the configured input sources and those of plugins. They run only while the kernel does. */

import type { LineInput } from '../../adapters/sources/lines.ts'
import type { SourceConfig } from '../../config.ts'
import { TirelessError } from '../../domain/error.ts'
import { type SourceEntry, SourceSupervisor } from '../../kernel/sources/source-supervisor.ts'
import { definePlugin, type Plugin, type PluginHost } from '../../ports/plugin.ts'
import type { Source } from '../../ports/source.ts'
import { buildSource, type SourceParts } from '../build-source.ts'
import { createRegistry } from '../registry.ts'

/**
 * `input`: returns the standard input; undefined if the program is used as a library. `isPartial`: sources of plugins
 * are missing, because the plugins were left out.
 */
export function sources(input: (() => LineInput) | undefined, isPartial: boolean): Plugin {
  return definePlugin({
    name: 'sources',
    needs: [
      ...(['bus', 'channels', 'clock', 'config', 'egress', 'home', 'ids', 'leadership', 'log'] as const),
      ...(['mcp', 'queue', 'residents', 'sandbox', 'secrets', 'store'] as const),
    ],
    provides: ['sources'],
    setup(host) {
      const log = host.get('log')
      const added = createRegistry<Source>('sources', [], {
        names: /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/,
        methods: ['run'],
      })
      const entries = entriesOf({ host, boot: host.get('ids').next(), input }, added.all)
      const supervisor = new SourceSupervisor({
        ...{ clock: host.get('clock'), ids: host.get('ids'), store: host.get('store'), bus: host.get('bus') },
        entries,
        isElsewhere: () => host.get('queue').isShared() && !host.get('leadership').isLeading,
        listeners: (name) => host.get('residents').listenersOf(name),
        redact: host.get('secrets').redact,
        log: (level, event, details) => log.write(level, event, details),
      })
      host.provide('sources', Object.assign(supervisor, { add: added.add }))
    },
    start(host) {
      refuseChannelNames(host)
      if (!isPartial) refuseUnknownNames(host)
    },
  })
}

/** Contract: a source is built again only if its configuration has changed, so that a running one is not lost. */
function entriesOf(parts: SourceParts, added: ReadonlyMap<string, Source>): () => ReadonlyMap<string, SourceEntry> {
  const built = new Map<string, SourceEntry>()
  return () => {
    const configured = Object.entries(parts.host.get('config').loaded.config.sources)
    const current = configured.map(([name, config]): [string, SourceEntry] => {
      const fingerprint = JSON.stringify(config)
      const known = built.get(name)
      const entry = known?.fingerprint === fingerprint ? known : entryOf(name, config, fingerprint, parts)
      built.set(name, entry)
      return [name, entry]
    })
    const others = [...added].map(([name, source]): [string, SourceEntry] => [name, { source, fingerprint: 'plugin' }])
    return new Map([...current, ...others])
  }
}

const entryOf = (name: string, config: SourceConfig, fingerprint: string, parts: SourceParts): SourceEntry => ({
  source: buildSource(name, config, parts),
  fingerprint,
})

/** A channel and a source of the same name would share one address. */
function refuseChannelNames(host: PluginHost): void {
  const [channels, all] = [host.get('channels').all, host.get('sources')]
  const { webhook } = host.get('config').loaded.config.channels
  const clash = all
    .list()
    .find(({ name }) => channels.get(name)?.receive !== undefined && (name !== 'webhook' || webhook !== undefined))
  if (clash)
    throw new TirelessError('config_invalid', {
      ...{ what: 'a source has the name of a channel', where: 'sources', got: clash.name, fix: 'rename the source' },
    })
}

/** Checked when all plugins are set up, because a source may be a plugin's. */
function refuseUnknownNames(host: PluginHost): void {
  const { config, sources: lines } = host.get('config').loaded
  const known = host
    .get('sources')
    .list()
    .map(({ name }) => name)
  for (const [index, { sources: heard }] of config.residents.entries())
    for (const [position, name] of heard.entries())
      if (!known.includes(name)) {
        const key = `residents[${index}].sources[${position}]`
        throw new TirelessError('config_invalid', {
          ...{ what: 'a resident names a source that does not exist', where: `${lines[key] ?? ''}: ${key}`, got: name },
          ...{ expected: known.length === 0 ? 'an entry of `sources`, which has none' : `one of ${known.join(', ')}` },
          fix: 'add it to `sources`, or correct the name',
        })
      }
}
