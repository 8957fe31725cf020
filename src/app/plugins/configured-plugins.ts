/** Plugin `plugins`: loads the plugins that the configuration names, after comparing them with what was approved. */

import { extname } from 'node:path'
import { asPlugin, guardPlugin, pluginFrom } from '../../adapters/plugins/guard-plugin.ts'
import { findOwnerModule, loadOwnerModule } from '../../adapters/plugins/owner-module.ts'
import { importPinned } from '../../adapters/plugins/pinned-modules.ts'
import { type InspectedPlugin, PluginLibrary } from '../../adapters/plugins/plugin-library.ts'
import { checkOffers, sandboxedPlugin } from '../../adapters/plugins/sandboxed/sandboxed-plugin.ts'
import { expandPath } from '../../adapters/system/machine.ts'
import { userFolder } from '../../config.ts'
import { TirelessError } from '../../domain/error.ts'
import type { Json } from '../../domain/json.ts'
import { type PluginEntry, type PluginManifest, pluginLabel } from '../../domain/plugin-manifest.ts'
import { definePlugin, type Plugin, type PluginHost } from '../../ports/plugin.ts'
import { OWNER_KEYS, ownerPlugins } from '../owner-config.ts'
import { createPluginClient } from '../start-plugin.ts'

interface Loading {
  /** Contract: adds plugins to the host of the app. */
  use(...plugins: readonly Plugin[]): void
  /** Why the plugins are left out: an earlier attempt to load them failed. */
  readonly without?: TirelessError | undefined
  /** Whether the module of the owner in the home is loaded, too. */
  readonly withOwnerModule: boolean
}

/** A module of the program itself: TypeScript in the checkout, compiled in the installed package. */
const own = (path: string): string => import.meta.resolve(`${path}${extname(import.meta.url)}`)

/** What plugins import as packages, whatever folder they are in. */
const sharedModules = () => ({
  tireless: own('../../index'),
  'tireless/testing': own('../../testing/index'),
  zod: import.meta.resolve('zod'),
})

export function configuredPlugins(loading: Loading): Plugin {
  return definePlugin({
    name: 'plugins',
    needs: ['home', 'config', 'store', 'clock', 'secrets', 'egress', 'sandbox', 'log'],
    provides: ['plugins'],
    async setup(host) {
      const config = host.get('config')
      const home = host.get('home').root
      const library = new PluginLibrary({
        ...{ home, store: host.get('store'), clock: host.get('clock'), modules: sharedModules() },
        expandPath: (path) => expandPath(path, home, userFolder()),
        configured: () => config.loaded.config.plugins,
        readOffers: (plugin) => readOffers(host, plugin),
      })
      host.provide('plugins', library)
      if (loading.without) return library.noteProblem(loading.without)
      for (const entry of config.loaded.config.plugins) loading.use(await loadPlugin(host, library, entry))
      const file = loading.withOwnerModule ? findOwnerModule(home) : undefined
      if (file !== undefined)
        loading.use(...ownerPlugins(file, await loadOwnerModule(file, home, sharedModules(), OWNER_KEYS)))
    },
  })
}

/** Contract: starts the plugin once in its sandbox; throws if it offers what its manifest does not list. */
async function readOffers(host: PluginHost, plugin: InspectedPlugin): Promise<Json> {
  const client = createPluginClient(host, plugin, () => secretsOf(host, plugin.manifest))
  try {
    const offers = await client.offers()
    checkOffers(plugin.manifest, offers)
    return offers as unknown as Json
  } finally {
    await client.close()
  }
}

async function loadPlugin(host: PluginHost, library: PluginLibrary, entry: PluginEntry): Promise<Plugin> {
  const admitted = await library.admit(entry)
  const { files, manifest, pin } = admitted
  const { name } = manifest
  const clock = host.get('clock')
  const plugin = await asPlugin(name, clock, async () => {
    if (manifest.trust === 'sandboxed') {
      const client = createPluginClient(host, admitted, () => secretsOf(host, manifest), pin.offers)
      return sandboxedPlugin(manifest, pin.offers, client)
    }
    const input = { options: entry.options, secrets: secretsOf(host, manifest) }
    const { default: exported } = await importPinned({ ...files, name }, manifest.entry, sharedModules())
    return pluginFrom(exported, input)
  })
  library.noteLoaded(name)
  return guardPlugin(plugin, { manifest, clock, onAdded: (kind, item) => library.noteAdded(name, kind, item) })
}

/** Contract: the values of the secrets that the manifest names; throws if one is not set. */
function secretsOf(host: PluginHost, { name, needs }: PluginManifest): Readonly<Record<string, string>> {
  const { filled } = host.get('secrets')
  return Object.fromEntries(
    needs.secrets.map((secret) => {
      try {
        return [secret, filled(`secret:${secret}`)]
      } catch (cause) {
        throw new TirelessError(
          'plugin_failed',
          {
            ...{ what: 'a secret of the plugin is not set', where: pluginLabel(name), got: secret },
            fix: `run tireless secrets set ${secret}`,
          },
          { cause },
        )
      }
    }),
  )
}
